"""BALD: where the networks that dropout samples disagree.

Houlsby et al., "Bayesian Active Learning for Classification and Preference Learning",
arXiv:1112.5745, Eq. 2; with Monte-Carlo dropout: Gal, Islam, Ghahramani, ICML 2017.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.strategies.learner import Learner
from benchmarks.strategies.options import check_whole_number
from benchmarks.strategies.scores import IntArray, entropy, largest


def bald(
    learner: Learner,
    X_pool: NDArray[np.float32],
    n_instances: int,
    random_state: int,
    n_passes: int = 10,
) -> IntArray:
    """The largest mutual information of the prediction and the network."""
    passes = learner.predict_proba_mc(n_passes, random_state)
    return largest(mutual_information(passes), n_instances)


def mutual_information(passes: NDArray[Any]) -> NDArray[np.float64]:
    """H(mean_t p_t) - mean_t H(p_t) of every row of probabilities (passes, n, Y)."""
    of_mean = entropy(passes.mean(axis=0, dtype=np.float64))
    return np.asarray(of_mean - np.mean([entropy(P) for P in passes], axis=0))


def check(n_passes: int = 10) -> None:
    check_whole_number("n_passes", n_passes)
