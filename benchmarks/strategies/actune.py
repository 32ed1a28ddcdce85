"""AcTune's sampling: the uncertain members of uncertain and mixed regions.

Yu et al., "AcTune: Uncertainty-Based Active Self-Training for Active Fine-Tuning of
Pretrained Language Models", NAACL 2022: its region-aware sampling, with entropy as the
uncertainty. The self-training is no part of it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans

from benchmarks.errors import UsageError
from benchmarks.strategies.learner import Learner
from benchmarks.strategies.options import check_whole_number
from benchmarks.strategies.scores import IntArray, entropy, largest
from real_plugin.clustering import rank_in_cluster

#: A row of no uncertainty weighs this much, so that the weights are never all 0.
LEAST_WEIGHT = 1e-6
#: A region gives up to this many rows, or more if the batch needs more, before the next.
ROWS_A_REGION = 10


def actune(
    learner: Learner,
    X_pool: NDArray[np.float32],
    n_instances: int,
    random_state: int,
    n_clusters: int = 25,
    beta: float = 0.5,
) -> IntArray:
    """Region by region, the rows of largest entropy."""
    P = learner.predict_proba(X_pool)
    uncertainty = entropy(P)
    n_clusters = min(n_clusters, len(X_pool))
    kmeans = MiniBatchKMeans(n_clusters, n_init=3, random_state=random_state)
    weights = np.maximum(uncertainty, LEAST_WEIGHT)
    region = kmeans.fit(X_pool, sample_weight=weights).labels_
    scores = region_scores(region, uncertainty, P.argmax(axis=1), n_clusters, beta)
    most = max(ROWS_A_REGION, -(-n_instances // n_clusters))
    return visit(region, scores, uncertainty, most)[:n_instances]


def region_scores(
    region: NDArray[np.int32],
    uncertainty: NDArray[np.float64],
    predicted: IntArray,
    n_regions: int,
    beta: float,
) -> NDArray[np.float64]:
    """Mean uncertainty of the members + beta * entropy of their predicted classes.

    A region without members has the score 0; nobody visits it.
    """
    n_classes = int(predicted.max()) + 1
    counts = np.zeros((n_regions, n_classes))
    np.add.at(counts, (region, predicted), 1)
    size = np.maximum(counts.sum(axis=1), 1)
    mean = np.bincount(region, weights=uncertainty, minlength=n_regions) / size
    return np.asarray(mean + beta * entropy(counts / size[:, None]))


def visit(
    region: NDArray[np.int32],
    scores: NDArray[np.float64],
    uncertainty: NDArray[np.float64],
    most: int,
) -> IntArray:
    """All rows in the order of visits: regions by falling score, round after round.

    Each visit takes the `most` rows of largest uncertainty that are left in the region.
    """
    place = np.empty(len(scores), dtype=np.int64)
    place[largest(scores, len(scores))] = np.arange(len(scores))
    order, rank = rank_in_cluster(-uncertainty, region)
    return order[np.lexsort((rank, place[region[order]], rank // most))]


def check(n_clusters: int = 25, beta: float = 0.5) -> None:
    check_whole_number("n_clusters", n_clusters)
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not beta >= 0:
        raise UsageError(f"beta is {beta!r}; it must be a number, 0 or more.")
