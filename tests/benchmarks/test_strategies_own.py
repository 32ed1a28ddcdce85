"""Our own strategies against other implementations, and against what their papers say."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.preprocessing import normalize

from benchmarks.strategies import actune, badge, bald, cal, find
from real_plugin import Selection, real_query, select
from tests.benchmarks.learners import SoftmaxLearner, make_learner
from tests.pools import pools, probabilities


def indices(name, learner, batch, seed=0):
    return find(name).query(learner, learner.X_pool, batch, random_state=seed).indices


def naive_entropy(p):
    return -sum(x * np.log(x) for x in map(float, p) if x > 0)


# REAL


@pytest.mark.parametrize("variant", ["real", "pool", "uniform", "cluster", "entropy"])
def test_real_is_select_with_its_explanation(variant):
    learner = make_learner(n_pool=400)
    name = "real" if variant == "real" else f"real-{variant}"
    options = "n_clusters=12,residual=density,shortfall=cluster"
    picks = find(f"{name}@{options}").query(learner, learner.X_pool, 30, random_state=3)
    P = learner.predict_proba(learner.X_pool)
    expected = select(
        P, learner.X_pool, 30, variant=variant, n_clusters=12, residual="density",
        shortfall="cluster", random_state=3,
    )  # fmt: skip
    assert isinstance(picks.selection, Selection)
    assert picks.selection.variant == variant
    assert picks.selection.n_clusters == 12
    assert_array_equal(picks.indices, expected.indices)
    assert_array_equal(picks.selection.source, expected.source)


@pytest.mark.parametrize(
    ("option", "batch"),
    [("residual=density", 5), ("shortfall=cluster", 60), ("n_clusters=7", 60)],
)
def test_options_of_real_matter(option, batch):
    learner = make_learner(n_pool=400)
    key, value = option.split("=")
    options = {key: int(value) if value.isdigit() else value}
    P = learner.predict_proba(learner.X_pool)
    changed = indices(f"real@{option}", learner, batch)
    expected = select(P, learner.X_pool, batch, random_state=0, **options)
    assert_array_equal(changed, expected.indices)
    assert set(changed) != set(indices("real", learner, batch))


def test_real_query_of_the_plugin_runs_unchanged():
    learner = make_learner(n_pool=400)
    expected = real_query(learner, learner.X_pool, n_instances=30, random_state=3)
    assert_array_equal(indices("real", learner, 30, seed=3), expected)
    assert_array_equal(indices("real_plugin:real_query", learner, 30, seed=3), expected)
    # It takes **options only, so it draws its seed from numpy's generator, which is seeded.
    one, again = (indices("real_plugin:real_pool_query", learner, 30, seed=3) for _ in range(2))
    assert_array_equal(one, again)


# Random and uncertainty


def test_random_is_uniform():
    learner = make_learner(n_pool=8)
    batches = [indices("random", learner, 3, seed) for seed in range(4000)]
    counts = np.bincount(np.concatenate(batches), minlength=8)
    assert stats.chisquare(counts).pvalue > 1e-3
    pairs = {pair for batch in batches for pair in itertools.permutations(batch, 2)}
    assert len(pairs) == 8 * 7


@pytest.mark.parametrize(
    ("name", "in_skactiveml", "in_modal", "score"),
    [
        ("entropy", "entropy", "entropy_sampling", naive_entropy),
        ("margin", "margin_sampling", "margin_sampling", lambda p: sorted(p)[-2] - max(p)),
        ("least-confidence", "least_confident", "uncertainty_sampling", lambda p: -max(p)),
    ],
)
def test_uncertainty_as_in_both_toolkits_and_by_hand(name, in_skactiveml, in_modal, score):
    pytest.importorskip("skactiveml")
    pytest.importorskip("modAL")
    learner = make_learner(n_pool=300, n_classes=4)
    ours = indices(name, learner, 40)
    scores = [score(p.tolist()) for p in learner.predict_proba(learner.X_pool)]
    assert_array_equal(ours, sorted(range(300), key=lambda i: -scores[i])[:40])
    theirs = indices(f"skactiveml:UncertaintySampling@method={in_skactiveml}", learner, 40)
    assert_array_equal(ours, theirs)
    assert set(ours) == set(indices(f"modal:{in_modal}", learner, 40))


@pytest.mark.parametrize("name", ["entropy", "margin", "least-confidence", "bald", "cal"])
def test_ties_go_to_the_lower_row(name):
    learner = make_learner(n_pool=2000, steps=0)
    assert_array_equal(indices(name, learner, 700), np.arange(700))


# BADGE


def gradient_embeddings(P, E):
    """(p - onehot) outer h, written out."""
    q = P - np.eye(P.shape[1])[P.argmax(axis=1)]
    return np.stack([np.outer(a, b).ravel() for a, b in zip(q, E, strict=True)])


def naive_badge(P, E, batch, seed):
    G = gradient_embeddings(P, E)
    rng = np.random.default_rng(seed)
    picks = [int(np.argmax((G**2).sum(axis=1)))]
    while len(picks) < batch:
        weights = ((G[:, None] - G[picks]) ** 2).sum(axis=2).min(axis=1)
        if weights.sum() == 0:
            weights = np.array([i not in picks for i in range(len(G))], dtype=float)
        target = rng.random() * weights.sum()
        picks.append(next(i for i in range(len(G)) if weights[: i + 1].sum() > target))
    return picks


@given(pools(max_rows=15))
def test_badge_distances_are_those_of_the_gradient_embeddings(pool):
    P, E, _, _ = pool
    G = gradient_embeddings(P, E)
    gradients = badge.Gradients(P, E)
    for row in range(len(P)):
        ours = gradients.squared_distances(row)
        assert_allclose(ours, ((G - G[row]) ** 2).sum(axis=1), rtol=1e-6, atol=1e-6)
        assert ours[row] == 0


class Fixed:
    """A learner of given probabilities."""

    def __init__(self, P):
        self.P = P

    def predict_proba(self, X):
        return self.P


@given(pools(max_rows=20), st.integers(0, 2**32 - 1))
def test_badge_draws_as_a_naive_implementation(pool, seed):
    P, E, batch, _ = pool  # all arithmetic is exact, so the same numbers give the same picks
    ours = badge.badge(Fixed(P), E.astype(np.float32), batch, random_state=seed)
    assert ours.tolist() == naive_badge(P, E, batch, seed)
    assert len(set(ours)) == batch


def test_badge_draws_by_squared_distance():
    learner = make_learner(n_pool=12)
    G = gradient_embeddings(learner.predict_proba(learner.X_pool), learner.X_pool)
    first = int((G**2).sum(axis=1).argmax())
    D2 = ((G - G[first]) ** 2).sum(axis=1)
    batches = np.array([indices("badge", learner, 2, seed) for seed in range(4000)])
    assert (batches[:, 0] == first).all()
    counts = np.bincount(batches[:, 1], minlength=12)
    likely = 4000 * D2 / D2.sum() > 1
    expected = D2[likely] / D2[likely].sum() * counts[likely].sum()
    assert stats.chisquare(counts[likely], expected).pvalue > 1e-3


def test_badge_sees_no_distance_between_copies_of_large_vectors():
    rng = np.random.default_rng(0)
    E = np.repeat(rng.normal(5, 1, size=(4, 768)), 50, axis=0).astype(np.float32)
    P = np.repeat(rng.dirichlet([1, 1, 1], size=4), 50, axis=0)
    picks = badge.badge(Fixed(P), E, 4, random_state=0)
    assert set(picks // 50) == {0, 1, 2, 3}  # one of every group of copies
    gradients = badge.Gradients(P, E)
    for row in picks:
        assert (gradients.squared_distances(row)[row // 50 * 50 :][:50] == 0).all()


def test_badge_draws_evenly_when_only_copies_are_left():
    E = np.ones((6, 4), dtype=np.float32)
    P = np.full((6, 2), 0.5)
    second = [badge.badge(Fixed(P), E, 3, random_state=seed)[1] for seed in range(2000)]
    counts = np.bincount(second, minlength=6)
    assert counts[0] == 0
    assert stats.chisquare(counts[1:]).pvalue > 1e-3


def test_a_draw_never_falls_on_weight_zero():
    weights = np.array([0, 3, 0, 1, 0], dtype=np.float32)
    almost_one = np.nextafter(1.0, 0.0)
    assert [badge.draw(weights, u) for u in (0.0, 0.74, 0.76, almost_one)] == [1, 1, 3, 3]


def test_badge_refuses_vectors_that_are_no_numbers():
    E = np.ones((3, 2), dtype=np.float32)
    E[1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN in row 1"):
        badge.badge(Fixed(np.full((3, 2), 0.5)), E, 1, random_state=0)


# BALD


def test_mutual_information_by_hand():
    passes = np.array([[[1, 0], [0.5, 0.5], [0.9, 0.1]], [[0, 1], [0.5, 0.5], [0.9, 0.1]]])
    assert_allclose(bald.mutual_information(passes), [np.log(2), 0, 0], atol=1e-12)


@given(st.lists(probabilities(6, 3), min_size=1, max_size=4))
def test_mutual_information_as_a_mean_divergence(passes):
    """The same by another formula: the mean of KL(p_t || mean p)."""
    passes = np.array(passes)
    mean = passes.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(passes > 0, passes * np.log(passes / mean), 0)
    expected = terms.sum(axis=2).mean(axis=0)
    assert_allclose(bald.mutual_information(passes), expected, atol=1e-9)


def test_bald_as_in_skactiveml():
    pytest.importorskip("skactiveml")
    from skactiveml.pool import batch_bald

    learner = make_learner(n_pool=200)
    passes = learner.predict_proba_mc(10, random_state=0)
    theirs = batch_bald(passes.astype(np.float64), batch_size=1)[0]
    assert_allclose(bald.mutual_information(passes), theirs, atol=1e-6)
    ours = indices("bald", learner, 20)
    assert_array_equal(ours, indices("skactiveml:GreedyBALD", learner, 20))
    assert set(ours) != set(indices("bald@n_passes=2", learner, 20))


# CAL


def test_cal_as_in_skactiveml():
    pytest.importorskip("skactiveml")
    from skactiveml.pool import ContrastiveAL

    from benchmarks.strategies.skactiveml import LearnerClassifier

    learner = make_learner(n_pool=300, n_labelled=40)
    P, P_labelled = map(learner.predict_proba, (learner.X_pool, learner.X_training))
    scores = cal.divergences(P, learner.X_pool, P_labelled, learner.X_training, 10)

    class OnUnitVectors(LearnerClassifier):  # the model sees the vectors at their own length
        def predict_proba(self, X):
            rows = P if len(X) == 300 else P_labelled
            return rows.astype(np.float64)

    X = normalize(np.concatenate([learner.X_pool, learner.X_training]))
    y = np.concatenate([np.full(300, np.nan), learner.y_training])
    theirs, utilities = ContrastiveAL({"n_neighbors": 10}, random_state=0).query(
        X, y, OnUnitVectors(learner, learner.X_pool), fit_clf=False, batch_size=30,
        return_utilities=True,
    )  # fmt: skip
    assert_allclose(scores, utilities[0, :300], rtol=1e-4, atol=1e-7)
    assert_array_equal(indices("cal", learner, 30), theirs)


@pytest.mark.parametrize(("n_labelled", "k"), [(4, 10), (30, 10), (30, 1), (30, 3)])
def test_cal_by_hand(n_labelled, k, monkeypatch):
    monkeypatch.setattr(cal, "CHUNK_ROWS", 7)
    learner = make_learner(n_pool=50, n_labelled=n_labelled)
    P, P_labelled = map(learner.predict_proba, (learner.X_pool, learner.X_training))
    U, U_labelled = normalize(learner.X_pool), normalize(learner.X_training)
    expected = []
    for p, u in zip(P.astype(float), U, strict=True):
        nearest = np.argsort(((U_labelled - u) ** 2).sum(axis=1))[:k]
        expected.append(np.mean([stats.entropy(P_labelled[i], p) for i in nearest]))
    ours = cal.divergences(P, learner.X_pool, P_labelled, learner.X_training, k)
    assert_allclose(ours, expected, rtol=1e-4, atol=1e-7)
    best = np.argsort(-np.array(expected), kind="stable")[:9]
    assert_array_equal(indices(f"cal@k={k}", learner, 9), best)


def test_cal_puts_impossible_predictions_first_and_in_order():
    """Where the candidate calls impossible what its neighbours don't: large, not infinite."""
    E = np.ones((4, 2), dtype=np.float32)
    P = np.array([[0.5, 0.5], [1, 0], [0.9, 0.1], [0, 1]])
    scores = cal.divergences(P, E, np.array([[0.8, 0.2]]), E[:1], 10)
    assert np.isfinite(scores).all()
    assert_array_equal(np.argsort(-scores), [3, 1, 0, 2])


def test_cal_without_labels_says_so():
    learner = make_learner()
    learner.X_training = learner.X_training[:0]
    with pytest.raises(ValueError, match="there are none yet"):
        indices("cal", learner, 3)


# PLM-KM and ALPS


def rays(n_rays, n_rows, dimensions=10):
    """Tight bundles of directions, of very different lengths; the bundle of every row."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(dimensions, n_rays)))[0].T
    bundle = np.arange(n_rows) % n_rays
    noisy = directions[bundle] + 0.02 * rng.normal(size=(n_rows, dimensions))
    return (rng.uniform(0.01, 100, size=(n_rows, 1)) * noisy).astype(np.float32), bundle


def nearest_rows_of_kmeans(vectors, n_clusters):
    kmeans = KMeans(n_clusters, n_init=10, random_state=0).fit(vectors)
    return set(kmeans.transform(vectors).argmin(axis=0))


def test_plm_km_is_nearest_to_the_centres_at_unit_length():
    X, bundle = rays(6, 300)
    learner = SoftmaxLearner(X, X[:10], bundle[:10] % 2, 2, steps=0)
    ours = indices("plm-km", learner, 6)
    assert set(bundle[ours]) == set(range(6))
    assert set(ours) == nearest_rows_of_kmeans(normalize(X), 6)


def test_alps_clusters_the_surprisal_and_nothing_else():
    X, bundle = rays(5, 200)
    learner = make_learner(n_pool=200)
    learner.surprisal = lambda random_state: normalize(X)
    ours = indices("alps", learner, 5)
    assert set(bundle[ours]) == set(range(5))
    assert set(ours) == nearest_rows_of_kmeans(normalize(X), 5)


# AcTune


def naive_actune(P, region, batch, n_clusters, beta):
    """Section "region-aware sampling" in loops; regions may be visited again."""
    uncertainty = [naive_entropy(p) for p in P]
    scores = {}
    for k in sorted(set(region)):
        members = [i for i in range(len(P)) if region[i] == k]
        predicted = [int(np.argmax(P[i])) for i in members]
        shares = [predicted.count(c) / len(members) for c in set(predicted)]
        mean = sum(uncertainty[i] for i in members) / len(members)
        scores[k] = mean + beta * naive_entropy(shares)
    most = max(10, int(np.ceil(batch / n_clusters)))
    left = {
        k: sorted((i for i in range(len(P)) if region[i] == k), key=lambda i: (-uncertainty[i], i))
        for k in scores
    }
    picks = []
    while len(picks) < batch:
        for k in sorted(scores, key=lambda k: (-round(scores[k], 9), k)):
            picks += left[k][:most]
            left[k] = left[k][most:]
    return picks[:batch]


@pytest.mark.parametrize(("batch", "n_clusters", "beta"), [
    (7, 25, 0.5), (60, 25, 0.5), (200, 4, 0.5), (100, 4, 3.0), (30, 4, 0.0), (239, 1, 0.5),
])  # fmt: skip
def test_actune_as_a_naive_transcription(batch, n_clusters, beta):
    learner = make_learner(n_pool=240, n_classes=4)
    P = learner.predict_proba(learner.X_pool)
    weights = np.array([naive_entropy(p) for p in P])
    kmeans = MiniBatchKMeans(n_clusters, n_init=3, random_state=2)
    region = kmeans.fit(learner.X_pool, sample_weight=weights).labels_
    ours = indices(f"actune@n_clusters={n_clusters},beta={beta}", learner, batch, seed=2)
    assert ours.tolist() == naive_actune(P.astype(float), region, batch, n_clusters, beta)


def test_actune_scores_are_true_entropies():
    region = np.array([0, 0, 0, 0, 2, 2])
    uncertainty = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.7])
    predicted = np.array([0, 1, 0, 1, 1, 1])
    scores = actune.region_scores(region, uncertainty, predicted, 3, beta=2.0)
    assert_allclose(scores, [0.25 + 2 * np.log(2), 0, 0.6])


def test_actune_visits_by_score_and_goes_round_again():
    region = np.array([0, 0, 0, 1, 1, 1, 1])
    uncertainty = np.array([0.1, 0.3, 0.2, 0.5, 0.5, 0.9, 0.0])
    order = actune.visit(region, np.array([2.0, 1.0]), uncertainty, most=2)
    assert order.tolist() == [1, 2, 5, 3, 0, 4, 6]
