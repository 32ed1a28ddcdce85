"""CAL: predictions that differ from those of the nearest labelled texts.

Margatina et al., "Active Learning by Acquiring Contrastive Examples", EMNLP 2021,
Algorithm 1.
"""

from __future__ import annotations

import faiss
import numpy as np
from numpy.typing import NDArray

from benchmarks.strategies.learner import FloatMatrix, Learner
from benchmarks.strategies.options import check_whole_number
from benchmarks.strategies.scores import IntArray, entropy, largest, unit_length
from real_plugin._rows import CHUNK_ROWS
from real_plugin.clustering import as_float32

#: What stands for the logarithm of 0, so that a divergence is large and not infinite.
TINY = np.finfo(np.float64).tiny


def cal(
    learner: Learner,
    X_pool: NDArray[np.float32],
    n_instances: int,
    k: int = 10,
) -> IntArray:
    """The largest mean divergence from the `k` nearest labelled texts."""
    labelled = learner.X_training
    if len(labelled) == 0:
        raise ValueError("cal compares with labelled texts, and there are none yet.")
    scores = divergences(
        learner.predict_proba(X_pool), X_pool, learner.predict_proba(labelled), labelled, k
    )
    return largest(scores, n_instances)


def divergences(
    pool_P: FloatMatrix,
    pool: NDArray[np.float32],
    labelled_P: FloatMatrix,
    labelled: NDArray[np.float32],
    k: int,
) -> NDArray[np.float64]:
    """Mean over the neighbours of KL(p_neighbour || p_candidate), for every row of the pool.

    Neighbours are the nearest at unit length. These have the largest inner product, and
    the length of the candidate itself doesn't matter.
    """
    index = faiss.IndexFlatIP(labelled.shape[1])
    index.add(unit_length(labelled))
    labelled_P = labelled_P.astype(np.float64)
    minus_entropy = -entropy(labelled_P)
    k = min(k, len(labelled))
    scores = np.empty(len(pool))
    for start in range(0, len(pool), CHUNK_ROWS):
        chunk = slice(start, start + CHUNK_ROWS)
        _, neighbours = index.search(as_float32(pool[chunk]), k)
        log_P = np.log(np.maximum(pool_P[chunk].astype(np.float64), TINY))
        # The mean of sum_c p_c (log p_c - log q_c): only the second term has the candidate.
        cross = np.einsum("ij,ij->i", labelled_P[neighbours].mean(axis=1), log_P)
        scores[chunk] = minus_entropy[neighbours].mean(axis=1) - cross
    return scores


def check(k: int = 10) -> None:
    check_whole_number("k", k)
