"""Random sampling, and the uncertainty of the prediction: entropy, margin, confidence.

Settles, "Active Learning Literature Survey", 2009, section 3.1. Ties go to the lower row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.strategies.learner import Learner
from benchmarks.strategies.scores import IntArray, entropy, largest


def random(
    learner: Learner, X_pool: NDArray[np.float32], n_instances: int, random_state: int
) -> IntArray:
    """Uniform, without replacement."""
    return np.random.default_rng(random_state).permutation(len(X_pool))[:n_instances]


def max_entropy(learner: Learner, X_pool: NDArray[np.float32], n_instances: int) -> IntArray:
    """The largest entropy of the prediction."""
    return largest(entropy(learner.predict_proba(X_pool)), n_instances)


def margin(learner: Learner, X_pool: NDArray[np.float32], n_instances: int) -> IntArray:
    """The smallest distance between the two most probable classes."""
    P = np.asarray(learner.predict_proba(X_pool), dtype=np.float64)
    second, first = np.partition(P, -2, axis=1)[:, -2:].T
    return largest(second - first, n_instances)


def least_confidence(learner: Learner, X_pool: NDArray[np.float32], n_instances: int) -> IntArray:
    """The smallest probability of the most probable class."""
    return largest(-np.asarray(learner.predict_proba(X_pool)).max(axis=1), n_instances)
