"""Hypothesis strategies for pools whose arithmetic is exact."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

UNIT = 64  # probabilities are multiples of 1/64, so sums of them are exact


@st.composite
def probabilities(draw, n_rows, n_classes):
    """Rows of multiples of 1/64 that sum to 1."""
    cuts = draw(hnp.arrays(np.int64, (n_rows, n_classes - 1), elements=st.integers(0, UNIT)))
    cuts = np.sort(cuts, axis=1)
    edges = np.column_stack([np.zeros(n_rows), cuts, np.full(n_rows, UNIT)])
    return np.diff(edges, axis=1) / UNIT


@st.composite
def pools(draw, max_rows=40):
    """(probabilities, embeddings, batch, number of clusters)."""
    n_rows = draw(st.integers(1, max_rows))
    n_classes = draw(st.integers(2, 5))
    P = draw(probabilities(n_rows, n_classes))
    dimensions = draw(st.integers(1, 3))
    E = draw(hnp.arrays(np.float64, (n_rows, dimensions), elements=st.integers(-4, 4)))
    batch = draw(st.integers(1, n_rows))
    n_clusters = draw(st.one_of(st.just("auto"), st.integers(1, n_rows + 3)))
    return P, E, batch, n_clusters


@st.composite
def grouped_pools(draw):
    """A pool of tight, far apart groups, so that the clusters are the groups.

    Returns (probabilities, embeddings, group of every row, batch).
    """
    n_groups = draw(st.integers(1, 5))
    group = np.repeat(np.arange(n_groups), draw(st.integers(3, 9)))
    P = draw(probabilities(len(group), draw(st.integers(2, 4))))
    batch = draw(st.integers(1, len(group)))
    return P, 1000.0 * np.eye(n_groups)[group], group, batch
