"""Algorithm 1 on arrays: against the oracle, by its properties, and on cases by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from real_plugin import STRATEGIES, Selection, select
from real_plugin._keys import instance_keys
from real_plugin.selection import auto_n_clusters, density_budgets, uniform_budgets
from tests import oracle
from tests.pools import grouped_pools, pools

VARIANTS = sorted(STRATEGIES)
OF_THE_PAPER = [variant for variant in VARIANTS if variant != "soft"]
variants = st.sampled_from(VARIANTS)
residuals = st.sampled_from(["paper", "density"])
shortfalls = st.sampled_from(["pool", "cluster"])
seeds = st.integers(0, 2**32 - 1)


def is_constant(P):
    return bool((np.abs(P - P[0]) <= 1e-6).all())


@given(pools(), st.sampled_from(OF_THE_PAPER), residuals, shortfalls, seeds)
def test_select_is_algorithm_1(pool, variant, residual, shortfall, seed):
    P, E, batch, K = pool
    assume(not is_constant(P))
    options = {"variant": variant, "residual": residual, "shortfall": shortfall}
    selection = select(P, E, batch, n_clusters=K, random_state=seed, **options)

    picks, source, budget, density = oracle.algorithm_1(
        P, selection.assignment, selection.n_clusters, batch, **options, seed=seed
    )
    assert selection.indices.tolist() == picks
    assert selection.source.tolist() == source
    assert selection.clusters.budget.tolist() == budget
    assert selection.clusters.density.tolist() == [float(d) for d in density]


@given(pools(), variants, residuals, shortfalls, seeds)
def test_every_selection_is_consistent(pool, variant, residual, shortfall, seed):
    P, E, batch, K = pool
    before = P.copy(), E.copy()
    selection = select(
        P,
        E,
        batch,
        variant=variant,
        n_clusters=K,
        residual=residual,
        shortfall=shortfall,
        random_state=seed,
    )
    indices, clusters = selection.indices, selection.clusters
    assert indices.dtype == np.int64
    assert len(indices) == len(set(indices.tolist())) == batch
    assert 0 <= indices.min()
    assert indices.max() < len(P)

    assert selection.n_clusters == len(clusters) <= len(P)
    assert clusters.size.sum() == len(P) == len(selection.assignment)
    assert selection.assignment.dtype == np.int32
    assert (np.bincount(selection.assignment, minlength=len(clusters)) == clusters.size).all()
    assert (clusters.pseudo_errors <= clusters.size).all()
    assert clusters.budget.sum() <= batch

    assert (selection.cluster == selection.assignment[indices]).all()
    assert (selection.predicted == P[indices].argmax(axis=1)).all()
    assert (selection.pseudo_label == clusters.pseudo_label[selection.cluster]).all()
    if variant == "soft":
        second, first = np.sort(P[indices], axis=1)[:, -2:].T
        expected = 1 - (first - second)
    else:
        expected = 1 - P[indices, selection.pseudo_label]
    np.testing.assert_allclose(selection.epsilon, expected, atol=1e-12)
    assert (P == before[0]).all()
    assert (E == before[1]).all()


@given(pools(), seeds)
def test_pseudo_errors_come_before_the_complement(pool, seed):
    P, E, batch, K = pool
    assume(not is_constant(P))
    selection = select(P, E, batch, n_clusters=K, random_state=seed)
    drawn = selection.source == "pseudo-error"
    assert (np.diff(drawn.astype(int)) <= 0).all()
    assert (selection.predicted[drawn] != selection.pseudo_label[drawn]).all()
    counts = np.bincount(selection.cluster[drawn], minlength=selection.n_clusters)
    assert (
        counts == np.minimum(selection.clusters.budget, selection.clusters.pseudo_errors)
    ).all()
    complement = selection.epsilon[~drawn]
    assert (np.diff(complement) <= 0).all()
    left = np.setdiff1d(np.arange(len(P)), selection.indices)
    if len(complement) and len(left):
        majority = selection.clusters.pseudo_label[selection.assignment[left]]
        assert complement.min() >= (1 - P[left, majority]).max()


densities = st.lists(st.integers(0, 1000), min_size=1, max_size=30).map(
    lambda units: np.array(units, dtype=np.int64) * 2**26
)


@given(densities, st.integers(1, 500), residuals)
def test_budgets_follow_the_densities(density, batch, residual):
    budget = density_budgets(density, batch, residual)
    assert (budget[density == 0] == 0).all()
    total = density.sum()
    if total == 0:
        assert budget.sum() == 0
        return
    floors = batch * density // total
    extra = budget - floors
    assert set(extra.tolist()) <= {0, 1}
    if residual == "density":
        assert budget.sum() == batch
        served, passed = density[extra == 1], density[extra == 0]
    else:
        assert budget.sum() == min(batch, (floors + (floors > 0)).sum())
        assert (floors[extra == 1] > 0).all()
        served, passed = floors[extra == 1], floors[(extra == 0) & (floors > 0)]
    if len(served) and len(passed):
        assert served.min() >= passed.max()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20), st.integers(1, 100))
def test_uniform_budgets_share_equally(pseudo_errors, batch):
    pseudo_errors = np.array(pseudo_errors)
    budget = uniform_budgets(pseudo_errors, batch)
    assert budget.sum() == batch
    assert budget.max() - budget.min() <= 1
    more = budget > budget.min()
    if more.any() and not more.all():
        assert pseudo_errors[more].min() >= pseudo_errors[~more].max()


def test_decimal_shares_are_not_lost_to_rounding():
    """0.1 : 0.2 : 0.3 is 1 : 2 : 3, though no binary fraction says so."""
    units = [round(x * 2**32) for x in (0.1, 0.2, 0.3)]
    assert density_budgets(np.array(units), 6, "paper").tolist() == [1, 2, 3]


def test_equal_budgets_are_served_by_density():
    """Shares 2.0, 2.4 and 0.6: the one that is left goes to the second, not the third."""
    assert density_budgets(np.array([20, 24, 6]), 5, "paper").tolist() == [2, 3, 0]


def test_residual_rules_differ_where_the_paper_and_its_code_do():
    """Twenty equal clusters and b = 10: every floor is 0."""
    density = np.full(20, 5)
    assert density_budgets(density, 10, "paper").sum() == 0
    assert density_budgets(density, 10, "density").tolist() == [1] * 10 + [0] * 10


@given(grouped_pools(), st.sampled_from(["pool", "cluster", "entropy"]), st.randoms())
def test_permuting_the_pool_permutes_the_deterministic_picks(pool, variant, random):
    P, E, group, batch = pool
    assume(not is_constant(P))
    permutation = np.array(random.sample(range(len(P)), len(P)))
    options = {"variant": variant, "n_clusters": len(np.unique(group)), "random_state": 0}
    one = select(P, E, batch, **options)
    other = select(P[permutation], E[permutation], batch, **options)
    densities = one.clusters.density
    assume(len(set(densities)) == len(densities))  # ties go by cluster and row number
    assert budget_of_groups(one, group) == budget_of_groups(other, group[permutation])
    np.testing.assert_array_equal(np.sort(one.epsilon), np.sort(other.epsilon))


@given(grouped_pools(), variants, st.randoms(), seeds)
def test_relabelling_the_classes_changes_nothing(pool, variant, random, seed):
    P, E, _, batch = pool
    columns = np.array(random.sample(range(P.shape[1]), P.shape[1]))
    assume(all(len(set(row)) == len(row) for row in P.tolist()))  # ties go by class number
    one = select(P, E, batch, variant=variant, n_clusters=3, random_state=seed)
    votes = np.zeros((one.n_clusters, P.shape[1]), dtype=int)
    np.add.at(votes, (one.assignment, P.argmax(axis=1)), 1)
    top_two = np.sort(votes, axis=1)[:, -2:]
    assume((top_two[:, 0] < top_two[:, 1]).all())
    other = select(P[:, columns], E, batch, variant=variant, n_clusters=3, random_state=seed)
    assert one.indices.tolist() == other.indices.tolist()
    assert columns[other.predicted].tolist() == one.predicted.tolist()


def budget_of_groups(selection, group):
    """Budget of every group that is exactly one cluster."""
    budgets = {}
    for k, budget in enumerate(selection.clusters.budget):
        members = set(group[selection.assignment == k].tolist())
        if members:
            budgets[frozenset(members)] = int(budget)
    return budgets


@given(pools(), variants, seeds)
def test_precision_and_layout_do_not_matter(pool, variant, seed):
    P, E, batch, K = pool
    options = {"variant": variant, "n_clusters": K, "random_state": seed}
    expected = select(P, E, batch, **options).indices.tolist()
    for dtype in (np.float16, np.float32):
        assert (
            select(P.astype(dtype), E.astype(dtype), batch, **options).indices.tolist() == expected
        )
    wide = np.repeat(E, 2, axis=1)[:, ::2]
    fortran = np.asfortranarray(P)
    assert select(fortran, wide, np.int64(batch), **options).indices.tolist() == expected
    P.flags.writeable = E.flags.writeable = False
    assert select(P, E, batch, **options).indices.tolist() == expected
    assert select(P.tolist(), E.tolist(), batch, **options).indices.tolist() == expected


@given(seeds, st.integers(0, 10**12), st.integers(1, 50), st.integers(0, 50))
def test_keys_depend_on_seed_and_row_alone(seed, start, length, cut):
    rows = np.arange(start, start + length)
    keys = instance_keys(seed, rows)
    assert keys.tolist() == [oracle.key(seed, start + i) for i in range(length)]
    parts = instance_keys(seed, rows[:cut]), instance_keys(seed, rows[cut:])
    assert np.concatenate(parts).tolist() == keys.tolist()


def test_keys_draw_uniformly():
    """Each of 40 rows is among the 10 smallest keys a quarter of the time."""
    hits = np.zeros(40)
    for seed in range(4000):
        hits[np.argsort(instance_keys(seed, np.arange(40)))[:10]] += 1
    # 5 standard deviations of a binomial with n = 4000, p = 1/4
    assert np.abs(hits - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


def test_figure_1_by_hand():
    """The paper's toy: three predicted classes, three clusters, pseudo errors in two.

    Classes: 0 rectangle, 1 circle, 2 triangle. By hand, with b = 4:
    C1 (rows 0-4) is circles with one rectangle (0.7, circle 0.2): eps_1 = 0.8.
    C2 (rows 5-9) is rectangles with two triangles (rectangle 0.4 and 0.3):
    eps_2 = 0.6 + 0.7 = 1.3. C3 (rows 10-12) is triangles only: eps_3 = 0.
    Shares 4 * 0.8 / 2.1 = 1.52 and 4 * 1.3 / 2.1 = 2.48, floors 1 and 2, and the residual
    1 goes to C2: budgets 1, 3, 0. C2 has only two pseudo errors, so the fourth pick is the
    blue one: of the rest, row 12 has the largest eps, 1 - 0.5.
    """
    P = np.array(
        [
            [0.1, 0.9, 0.0], [0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.7, 0.1], [0.0, 0.9, 0.1],
            [0.8, 0.1, 0.1], [0.4, 0.0, 0.6], [0.3, 0.0, 0.7], [0.9, 0.1, 0.0], [0.6, 0.2, 0.2],
            [0.1, 0.1, 0.8], [0.2, 0.1, 0.7], [0.3, 0.2, 0.5],
        ]
    )  # fmt: skip
    place = np.repeat([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]], [5, 5, 3], axis=0)
    selection = select(P, place, 4, n_clusters=3, random_state=0)
    assert sorted(selection.indices[:3].tolist()) == [1, 6, 7]
    assert selection.indices[3] == 12
    assert selection.source.tolist() == ["pseudo-error"] * 3 + ["complement"]
    budget = budget_of_groups(selection, np.repeat([1, 2, 3], [5, 5, 3]))
    assert budget == {frozenset({1}): 1, frozenset({2}): 3, frozenset({3}): 0}
    np.testing.assert_allclose(np.sort(selection.clusters.density), [0, 0.8, 1.3])


def test_no_pseudo_errors_is_nothing_special():
    """Every cluster agrees: all picks are the complement, by epsilon."""
    p = np.array([0.9, 0.6, 0.8, 0.7])
    P = np.column_stack([p, 1 - p])
    selection = select(P, np.zeros((4, 2)), 3, n_clusters=1, random_state=0)
    assert selection.indices.tolist() == [1, 3, 2]
    assert set(selection.source) == {"complement"}


def test_shortfall_from_the_cluster_stays_in_the_cluster():
    """C1 has one pseudo error and all the density; its fill is its own, or the pool's."""
    p = np.array([0.9, 0.4, 0.95, 0.9, 0.55, 0.52])
    P = np.column_stack([p, 1 - p])
    E = np.array([[0.0], [0], [0], [100], [100], [100]])
    pool = select(P, E, 3, n_clusters=2, random_state=0)
    cluster = select(P, E, 3, n_clusters=2, shortfall="cluster", random_state=0)
    assert pool.indices.tolist() == [1, 5, 4]
    assert cluster.indices.tolist() == [1, 0, 2]


def test_the_cluster_variant_takes_members_that_are_no_pseudo_errors():
    """Row 0 is predicted as its cluster is, but less surely than the pseudo error row 1."""
    P = np.array([[0.34, 0.33, 0.33], [0.45, 0.46, 0.09], [0.9, 0.05, 0.05], [0.8, 0.1, 0.1]])
    E = np.zeros((4, 1))
    picks = {v: select(P, E, 1, variant=v, n_clusters=1, random_state=0) for v in VARIANTS}
    assert {v: s.indices.tolist() for v, s in picks.items()} == {
        "real": [1],
        "uniform": [1],
        "entropy": [1],
        "cluster": [0],
        "pool": [0],
        "soft": [0],
    }
    assert picks["cluster"].source.tolist() == ["complement"]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("batch", [1, 7, 30])
def test_a_constant_model_gets_a_cold_start(variant, batch):
    rng = np.random.default_rng(0)
    centres = rng.normal(scale=50, size=(7, 4))
    E = centres[np.arange(70) % 7] + rng.normal(size=(70, 4))
    P = np.tile([0.2, 0.5, 0.3], (70, 1))
    selection = select(P, E, batch, variant=variant, random_state=1)
    assert set(selection.source) == {"cold-start"}
    assert len(set(selection.indices.tolist())) == batch
    assert selection.n_clusters == batch
    if batch == 7:  # one pick of every blob, and the one nearest to its mean
        assert sorted(selection.indices % 7) == list(range(7))
        for i in selection.indices:
            blob = E[i % 7 :: 7]
            distance = ((blob - blob.mean(axis=0)) ** 2).sum(axis=1)
            assert distance.argmin() == i // 7


@pytest.mark.parametrize(
    ("n_rows", "batch", "expected"),
    [(100_000, 100, 34), (100_000, 1, 20), (8_000, 87, 29), (150, 3, 15), (12, 2, 1), (1, 1, 1)],
)
def test_auto_rule(n_rows, batch, expected):
    assert auto_n_clusters(n_rows, batch) == expected
    rng = np.random.default_rng(0)
    if n_rows < 1000:
        P = rng.dirichlet([1, 1], size=n_rows)
        E = rng.normal(size=(n_rows, 3))
        assert select(P, E, batch, random_state=0).n_clusters == expected


def test_seeds():
    rng = np.random.default_rng(0)
    P, E = rng.dirichlet([1] * 4, size=500), rng.normal(size=(500, 8))

    def picks(random_state):
        return select(P, E, 50, random_state=random_state).indices.tolist()

    assert picks(3) == picks(3)
    assert picks(3) != picks(4)
    assert picks(np.random.RandomState(5)) == picks(np.random.RandomState(5))
    assert picks(np.random.default_rng(5)) == picks(np.random.default_rng(5))
    shared = np.random.default_rng(5)
    assert picks(shared) != picks(shared)
    unseeded = select(P, E, 50)
    assert picks(unseeded.random_state) == unseeded.indices.tolist()


def test_dataframes_are_arrays():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    P, E = rng.dirichlet([1] * 4, size=50), rng.normal(size=(50, 8))
    index = rng.permutation(50)
    frames = pd.DataFrame(P, index=index), pd.DataFrame(E, index=index)
    expected = select(P, E, 10, random_state=0).indices
    np.testing.assert_array_equal(select(*frames, 10, random_state=0).indices, expected)


def test_sparse_embeddings_work():
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    topics = [["goal", "match", "team"], ["vote", "law", "party"], ["cell", "gene", "virus"]]
    filler = [f"word{i}" for i in range(400)]
    texts = [" ".join([*rng.choice(topics[i % 3], 6), *rng.choice(filler, 3)]) for i in range(300)]
    E = TfidfVectorizer().fit_transform(texts)
    assert E.shape[1] > 300
    P = np.full((300, 3), 0.1)
    P[np.arange(300), np.arange(300) % 3] = 0.8
    wrong = [10, 50, 200]
    P[wrong] = np.roll(P[wrong], 1, axis=1)
    for matrix in (E, E.tocsc(), E.tocoo()):
        selection = select(P, matrix, 3, n_clusters=3, random_state=0)
        assert sorted(selection.indices.tolist()) == wrong


def hard_pools():
    """Pools on which other libraries return duplicates or fail."""
    rng = np.random.default_rng(0)
    P = rng.dirichlet([1] * 3, size=60)
    E = rng.normal(size=(60, 8))
    return {
        "all rows equal": (P, np.ones((60, 8))),
        "50 of 60 rows equal": (P, np.vstack([np.ones((50, 8)), E[:10]])),
        "zero vectors": (P, np.zeros((60, 8))),
        "probabilities in two kinds only": (np.repeat([[0.9, 0.1], [0.1, 0.9]], 30, axis=0), E),
        "one column of embeddings": (P, E[:, :1]),
        "more classes than rows": (rng.dirichlet([1] * 50, size=20), E[:20]),
        "one row": (P[:1], E[:1]),
        "two rows": (P[:2], E[:2]),
        "certain predictions": (np.eye(3)[rng.integers(3, size=60)], E),
        "all rows the same in both": (np.full((60, 4), 0.25), np.ones((60, 3))),
        "integer embeddings": (P, rng.integers(-3, 3, size=(60, 4))),
        "large scale": (P, 1e15 * E),
        "small scale": (P, 1e-15 * E),
        "far from the origin": (P, E + 1e4),
    }


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("n_clusters", ["auto", 1, 7, 500])
@pytest.mark.parametrize("pool", hard_pools())
def test_hard_pools_give_exactly_the_batch(pool, n_clusters, variant):
    P, E = hard_pools()[pool]
    for batch in {1, min(10, len(P)), len(P)}:
        selection = select(P, E, batch, variant=variant, n_clusters=n_clusters, random_state=0)
        assert isinstance(selection, Selection)
        assert len(set(selection.indices.tolist())) == batch
