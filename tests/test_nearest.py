"""The nearest centre of a row: right, and the same in any company."""

from fractions import Fraction
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from threadpoolctl import threadpool_limits

from real_plugin import nearest
from real_plugin.nearest import Centres, squared_distances


def exact_nearest(vectors, centroids):
    """By fractions, the first among equals."""
    answers = []
    for x in vectors.tolist():
        distances = [
            sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, c, strict=True))
            for c in centroids.tolist()
        ]
        answers.append(distances.index(min(distances)))
    return answers


def nearly_tied(n_rows=300, dimensions=24, n_centres=6, offset=0.0, seed=0):
    """Rows on or a rounding error off the plane between two centres."""
    rng = np.random.default_rng(seed)
    centres = (rng.normal(size=(n_centres, dimensions)) + offset).astype(np.float32)
    one, other = rng.integers(n_centres, size=(2, n_rows))
    middle = (centres[one].astype(float) + centres[other]) / 2
    nudge = rng.integers(-2, 3, size=(n_rows, 1)) * 2.0**-24 * rng.normal(size=middle.shape)
    return (middle * (1 + nudge)).astype(np.float32), centres


small = st.integers(-40, 40).map(lambda n: n / 8)


@given(st.data())
def test_the_nearest_is_the_nearest_by_fractions(data):
    """Coarse numbers, so that distances are often exactly equal."""
    d = data.draw(st.integers(1, 5))
    K, n = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 12))
    centroids = data.draw(hnp.arrays(np.float32, (K, d), elements=small))
    vectors = data.draw(hnp.arrays(np.float32, (n, d), elements=small))
    number, distance = Centres(centroids).nearest(vectors)
    assert number.tolist() == exact_nearest(vectors, centroids)
    expected = ((vectors - centroids[number]) ** 2).sum(axis=1)
    np.testing.assert_allclose(distance, expected, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("offset", [0.0, 10.0, 10_000.0])
def test_near_ties_go_to_the_nearest_by_fractions(offset):
    vectors, centroids = nearly_tied(offset=offset)
    number, _ = Centres(centroids).nearest(vectors)
    assert number.tolist() == exact_nearest(vectors, centroids)


def test_the_product_alone_would_not_do():
    """Near ties are what the test above says: plain float32 gets some of them wrong."""
    vectors, centroids = nearly_tied(offset=10.0)
    scores = (centroids**2).sum(axis=1) - 2 * vectors @ centroids.T
    assert scores.argmin(axis=1).tolist() != exact_nearest(vectors, centroids)


@given(st.lists(st.integers(0, 3000), max_size=8), st.sampled_from([0.0, 10.0, 10_000.0]))
def test_company_does_not_matter(cuts, offset):
    vectors, centroids = nearly_tied(3000, dimensions=100, n_centres=40, offset=offset)
    centres = Centres(centroids)
    whole, _ = centres.nearest(vectors)
    edges = [0, *sorted(cuts), 3000]
    pieces = [centres.nearest(vectors[a:b])[0] for a, b in pairwise(edges)]
    np.testing.assert_array_equal(np.concatenate(pieces), whole)
    with threadpool_limits(1):
        np.testing.assert_array_equal(centres.nearest(vectors)[0], whole)


def test_block_sizes_do_not_matter(monkeypatch):
    vectors, centroids = nearly_tied(2000, dimensions=50, n_centres=30)
    whole, _ = Centres(centroids).nearest(vectors)
    for rows, numbers in ((1, 2**21), (7, 2**21), (19, 60), (2000, 1)):
        monkeypatch.setattr("real_plugin.nearest.BLOCK_ROWS", rows)
        monkeypatch.setattr("real_plugin.nearest.BLOCK_NUMBERS", numbers)
        np.testing.assert_array_equal(Centres(centroids).nearest(vectors)[0], whole)


def test_equal_centroids_are_all_the_first():
    centroids = np.float32([[1, 1], [0, 0], [1, 1], [0, 0], [-0.0, 0.0]])
    number, _ = Centres(centroids).nearest(np.float32([[0, 0.1], [1, 0.9], [0.5, 0.5]]))
    assert number.tolist() == [1, 0, 0]


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1.0, 1e15])
def test_any_scale(scale):
    vectors, centroids = nearly_tied(100)
    vectors, centroids = (vectors * np.float32(scale), centroids * np.float32(scale))
    number, _ = Centres(centroids).nearest(vectors)
    assert number.tolist() == exact_nearest(vectors, centroids)


@given(hnp.arrays(np.float32, st.tuples(st.integers(1, 9), st.integers(1, 9)), elements=small))
def test_squared_distances_are_row_by_row(vectors):
    number = np.arange(len(vectors))[::-1]
    together = squared_distances(vectors, vectors, number)
    alone = [
        squared_distances(vectors[i : i + 1], vectors, number[i : i + 1])[0]
        for i in range(len(vectors))
    ]
    with patch.object(nearest, "CACHED_NUMBERS", 2 * vectors.shape[1]):
        assert together.tolist() == squared_distances(vectors, vectors, number).tolist()
    assert together.tolist() == alone
    exact = ((vectors - vectors[number]).astype(float) ** 2).sum(axis=1)
    np.testing.assert_allclose(together, exact)
