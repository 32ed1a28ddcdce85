"""What a strategy gets to see of the model in one round."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


@dataclass(frozen=True)
class Network:
    """A trained network in the parts that strategies use.

    Rows are those of the dataset's train part.
    """

    score: Callable[[NDArray[np.intp]], tuple[FloatArray, FloatArray]]
    """Probabilities and representation of rows, in one pass."""
    classify: Callable[[FloatArray], FloatArray]
    """Probabilities from representation vectors: the last layers alone."""
    monte_carlo: Callable[[NDArray[np.intp], int, int], FloatArray]
    """Probabilities of rows under dropout, a pass an entry, from (rows, passes, seed)."""
    surprisal: Callable[[NDArray[np.intp], int], FloatArray]
    """ALPS' embeddings of rows, from (rows, seed)."""


class RoundLearner:
    """The model of a round, and the pool and the labels it has.

    The pool is scored once, here; whatever asks for the probabilities of `X_pool` itself
    gets these. Neither array can be written to.
    """

    def __init__(
        self,
        network: Network,
        pool: NDArray[np.intp],
        labelled: NDArray[np.intp],
        labels: NDArray[np.int64],
        texts: list[str],
        n_classes: int,
    ) -> None:
        self.network = network
        self.pool = pool
        self.labelled = labelled
        self.labels = labels
        self._texts = texts
        self.classes_ = np.arange(n_classes)
        #: Seconds in passes that all strategies share, or that depend on no training.
        self.inference_seconds = 0.0
        self.probabilities, self.X_pool = self._timed(network.score, pool)
        self.probabilities.flags.writeable = False
        self.X_pool.flags.writeable = False

    def _timed(self, function: Callable[..., Any], *arguments: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments)
        self.inference_seconds += time.perf_counter() - start
        return result

    @property
    def texts(self) -> list[str]:
        """Texts of the pool."""
        return [self._texts[row] for row in self.pool]

    @property
    def y_training(self) -> NDArray[np.int64]:
        """Class numbers of the labelled rows."""
        return self.labels[self.labelled]

    @cached_property
    def X_training(self) -> FloatArray:  # noqa: N802
        """Representation of the labelled rows."""
        return self.network.score(self.labelled)[1]

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities from representation vectors; those of `X_pool` cost nothing."""
        if X is self.X_pool:
            return self.probabilities
        return self.network.classify(np.asarray(X, dtype=np.float32))

    def predict_proba_mc(self, n_passes: int, random_state: int) -> FloatArray:
        """Probabilities of the pool under Monte-Carlo dropout, shape (n_passes, n, Y)."""
        return self.network.monte_carlo(self.pool, n_passes, random_state)

    def surprisal(self, random_state: int) -> FloatArray:
        """ALPS' surprisal embeddings of the pool."""
        vectors: FloatArray = self._timed(self.network.surprisal, self.pool, random_state)
        return vectors


def as_tensor(array: FloatArray) -> torch.Tensor:
    """A tensor on the array's memory, or on a copy of it if it can't be written to."""
    return torch.from_numpy(np.require(array, requirements="W"))
