"""The rows nearest to the centres of as many clusters as rows are wanted: PLM-KM, ALPS.

Yuan, Lin, Boyd-Graber, "Cold-start Active Learning through Self-supervised Language
Modeling", EMNLP 2020.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.strategies.learner import Learner
from benchmarks.strategies.scores import IntArray, unit_length
from real_plugin.clustering import cluster, nearest_to_centres


def plm_km(
    learner: Learner, X_pool: NDArray[np.float32], n_instances: int, random_state: int
) -> IntArray:
    """PLM-KM (BERT-KM of the paper): clusters of the representations at unit length."""
    return _centres(unit_length(X_pool), n_instances, random_state)


def alps(
    learner: Learner, X_pool: NDArray[np.float32], n_instances: int, random_state: int
) -> IntArray:
    """ALPS: clusters of how surprised a masked language model is at each token."""
    return _centres(learner.surprisal(random_state), n_instances, random_state)


def _centres(vectors: NDArray[np.float32], n_instances: int, random_state: int) -> IntArray:
    clustering = cluster(vectors, n_instances, random_state)
    return nearest_to_centres(clustering.distance, clustering.assignment, n_instances)
