"""BADGE: diverse and uncertain by the gradients that the predicted labels would cause.

Ash et al., "Deep Batch Active Learning by Diverse, Uncertain Gradient Lower Bounds", ICLR
2020. The gradient embedding of a row is an outer product, so it is never built:
<g_i, g_j> = <q_i, q_j> <h_i, h_j>.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.strategies.learner import Learner
from benchmarks.strategies.scores import IntArray
from real_plugin.clustering import as_float32, check_finite

FloatArray = NDArray[np.float32]

#: Squared distances below this share of the squared norms are rounding errors: 0.
ROUNDING = 1e-6


def badge(learner: Learner, X_pool: FloatArray, n_instances: int, random_state: int) -> IntArray:
    """k-means++ seeds of the gradient embeddings; the first has the largest norm."""
    rng = np.random.default_rng(random_state)
    gradients = Gradients(learner.predict_proba(X_pool), X_pool)
    picks = np.empty(n_instances, dtype=np.int64)
    picks[0] = gradients.norms.argmax()  # as in the authors' code
    unpicked = np.ones(len(X_pool), dtype=bool)
    nearest = np.full(len(X_pool), np.inf, dtype=np.float32)
    for i in range(1, n_instances):
        unpicked[picks[i - 1]] = False
        np.minimum(nearest, gradients.squared_distances(picks[i - 1]), out=nearest)
        weights = nearest if nearest.any() else unpicked  # copies of the picks are left
        picks[i] = draw(weights, rng.random())
    return picks


class Gradients:
    """Gradient embeddings g_i = (p_i - onehot(argmax p_i)) outer h_i, as their factors."""

    def __init__(self, probabilities: Any, representations: Any) -> None:
        self.h = as_float32(representations)
        self.q = np.array(probabilities, dtype=np.float32)  # a copy
        self.q[np.arange(len(self.q)), self.q.argmax(axis=1)] -= 1
        h_norms = np.einsum("ij,ij->i", self.h, self.h)
        check_finite("embeddings", 0, self.h, h_norms)
        self.norms = np.einsum("ij,ij->i", self.q, self.q) * h_norms  #: squared

    def squared_distances(self, row: int) -> FloatArray:
        """From `row` to all rows; exactly 0 to itself and its copies."""
        norms = self.norms + self.norms[row]
        distances: FloatArray = (self.q @ self.q[row]) * (self.h @ self.h[row])
        distances *= -2
        distances += norms
        norms *= ROUNDING
        distances[distances <= norms] = 0
        distances[row] = 0
        return distances


def draw(weights: NDArray[Any], uniform: float) -> int:
    """The row that `uniform`, from 0 to below 1, falls on, by weight; never one of weight 0."""
    cumulative = np.cumsum(weights, dtype=np.float64)
    cumulative /= cumulative[-1]
    return int(np.searchsorted(cumulative, uniform, side="right"))
