"""The variant "soft": what it draws from, what it picks, and what it counts."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from real_plugin import select, selection, soft
from real_plugin.clustering import seed_centroids, train
from real_plugin.parts import Kept, doubt
from tests.pools import pools
from tests.test_selection import is_constant, seeds


def doubt_by_hand(P):
    second, first = np.sort(P, axis=1)[:, -2:].T
    return 1 - (first - second)


@given(pools(), seeds)
def test_every_cluster_gives_its_cheapest_rows(pool, seed):
    P, E, batch, K = pool
    assume(not is_constant(P))
    found = []

    def remembered(*args):
        found.append(train(*args))
        return found[-1]

    with patch.object(selection, "train", remembered):
        chosen = select(P, E, batch, variant="soft", n_clusters=K, random_state=seed)
    d = doubt_by_hand(P)
    clusters = chosen.clusters
    expected = np.bincount(chosen.assignment, weights=d, minlength=len(clusters))
    np.testing.assert_allclose(clusters.density, expected, atol=1e-9)
    assert clusters.budget.sum() == batch
    assert clusters.budget.max() - clusters.budget.min() <= 1
    more, fewer = clusters.budget > clusters.budget.min(), clusters.budget == clusters.budget.min()
    if more.any():
        assert clusters.density[more].min() >= clusters.density[fewer].max()
    distance = np.linalg.norm(E - found[0][chosen.assignment].astype(float), axis=1)
    cost = distance / np.maximum(d, 1e-6)
    drawn = chosen.source == "representative"
    for k in range(len(clusters)):
        picks = chosen.indices[drawn & (chosen.cluster == k)]
        members = np.flatnonzero(chosen.assignment == k)
        assert len(picks) == min(clusters.budget[k], len(members))
        others = np.setdiff1d(members, picks)
        if len(picks) and len(others):
            assert cost[picks].max() <= cost[others].min() * (1 + 1e-9) + 1e-12
    completing = chosen.indices[~drawn]
    assert set(chosen.source[~drawn]) <= {"complement"}
    assert (np.diff(d[completing]) <= 1e-9).all()
    left = np.setdiff1d(np.arange(len(P)), chosen.indices)
    if len(completing) and len(left):
        assert d[completing].min() >= d[left].max() - 1e-9


def test_it_looks_where_the_doubt_is():
    rng = np.random.default_rng(0)
    blob = np.repeat(np.arange(4), 500)
    E = 100.0 * np.eye(4)[blob] + rng.normal(size=(2000, 4))
    sure = np.where(np.isin(blob, [1, 3]), 0.55, 0.999)
    P = np.column_stack([sure, 1 - sure])
    P += np.array([1, -1]) * rng.uniform(0, 1e-3, size=(2000, 1))
    chosen = select(P, E, 20, variant="soft", random_state=0)
    assert chosen.n_clusters == 20
    counts = np.bincount(blob[chosen.indices], minlength=4)
    assert counts[1] >= 8
    assert counts[3] >= 8
    assert chosen.clusters.density.sum() == pytest.approx(doubt_by_hand(P).sum(), rel=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1.0])
def test_repeated_vectors_and_little_doubt_are_no_trouble(scale):
    """faiss looks forever for a cluster to split if all of them weigh less than one row."""
    rng = np.random.default_rng(0)
    E = np.repeat(rng.normal(size=(3, 4)), 20, axis=0)
    p = 1 - scale * rng.uniform(0.01, 0.5, size=60)
    chosen = select(np.column_stack([p, 1 - p]), E, 10, variant="soft", random_state=0)
    assert len(set(chosen.indices.tolist())) == 10
    assert {tuple(row) for row in E[chosen.indices]} == {tuple(row) for row in E}


def test_the_scale_of_weights_does_not_matter():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3)).astype(np.float32)
    w = rng.uniform(0.01, 1, size=500).astype(np.float32)
    one, other = (train(x, 9, 0, lambda n, c=c: c * w[:n]) for c in (1, np.float32(2**-20)))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("n_rows", "batch", "K"), [(900, 1, 20), (900, 40, 40), (90, 4, 9)])
def test_small_batches_have_more_clusters_than_picks(n_rows, batch, K):
    """One cluster has its centre in the middle of all doubt, where there may be none."""
    rng = np.random.default_rng(0)
    P, E = rng.dirichlet([1, 1, 1], size=n_rows), rng.normal(size=(n_rows, 3))
    chosen = select(P, E, batch, variant="soft", random_state=0)
    assert chosen.n_clusters == K
    assert chosen.clusters.budget.sum() == batch
    most = np.argsort(-chosen.clusters.density)[:batch]
    assert sorted(chosen.cluster) == sorted(most)


@pytest.mark.parametrize("n_clusters", ["auto", 3, 500])
def test_a_model_that_is_always_sure_is_no_trouble(n_clusters):
    rng = np.random.default_rng(0)
    P = np.eye(3)[rng.integers(3, size=200)]
    E = rng.normal(size=(200, 5))
    chosen = select(P, E, 9, variant="soft", n_clusters=n_clusters, random_state=0)
    assert len(set(chosen.indices.tolist())) == 9
    assert (chosen.epsilon == 0).all()
    assert "0.0 % of the model's doubt" in chosen.explain(chosen.indices[0])


def sample_of(d, count, seed):
    kept = Kept(np.zeros(len(d), dtype=np.uint8), doubt=d)
    return soft.PrioritySample.join([soft.draw(None, kept, 0, count, seed)[1]], count)


def test_doubt_is_one_minus_the_margin():
    P = np.array([[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3], [0.0, 1.0, 0.0], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(doubt(P), [0.8, 1, 0, 0.3], rtol=1e-6)


def test_samples_estimate_the_doubt_of_any_rows():
    """Over many seeds the weights of a subset sum up to its doubt, whatever the doubts."""
    rng = np.random.default_rng(0)
    d = rng.beta(0.3, 2, size=2000).astype(np.float32)
    subset = np.arange(2000) % 3 == 0
    for count in (1999, 300, 60):
        estimates = []
        for seed in range(400):
            sample = sample_of(d, 300 if count == 60 else count, seed)
            rows = sample.row[:count]
            estimates.append(sample.weights(count)[subset[rows]].sum())
        error = np.std(estimates) / 400**0.5
        assert abs(np.mean(estimates) - d[subset].sum()) < 4 * error + 1e-3


def test_a_sample_of_the_whole_pool_has_its_doubts():
    d = np.array([0.5, 0.25, 1.0, 0.0], dtype=np.float32)
    sample = sample_of(d, 4, seed=1)
    assert sorted(sample.row.tolist()) == [0, 1, 2, 3]
    np.testing.assert_allclose(sample.weights(4), d[sample.row], atol=1e-9)


@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.lists(st.integers(0, 60), max_size=4),
    seeds,
)
def test_samples_do_not_depend_on_the_parts(n_rows, count, where, seed):
    d = np.random.default_rng(seed).integers(0, 5, n_rows).astype(np.float32) / 4
    whole = sample_of(d, count, seed)
    edges = [0, *sorted(min(cut, n_rows) for cut in where), n_rows]
    pieces = []
    for start, stop in itertools.pairwise(edges):
        kept = Kept(np.zeros(stop - start, dtype=np.uint8), doubt=d[start:stop])
        pieces.append(soft.draw(None, kept, start, count, seed)[1])
    joined = soft.PrioritySample.join(pieces, count)
    assert joined.row.tolist() == whole.row.tolist()
    assert joined.weights(count).tolist() == whole.weights(count).tolist()
    assert len(whole.row) == min(count + 1, n_rows)


def test_weights_are_repetitions():
    """Rows that count twice move the centres as rows that are there twice."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)).astype(np.float32)
    w = np.where(np.arange(60) < 30, 3.0, 1.0).astype(np.float32)
    one = train(x, 1, 0, lambda count: w[:count])
    np.testing.assert_allclose(one[0], np.average(x, axis=0, weights=w), rtol=1e-4, atol=1e-6)
    far = np.concatenate([x, x + 1000])
    nothing = np.concatenate([np.ones(60), np.zeros(60)]).astype(np.float32)
    seeded = seed_centroids(far, 5, 0, nothing)
    assert np.abs(seeded).max() < 100
