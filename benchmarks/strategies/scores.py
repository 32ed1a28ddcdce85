"""Arithmetic that several strategies share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

IntArray = NDArray[np.int64]


def entropy(P: Any) -> NDArray[np.float64]:
    """Shannon entropy of every row, in nats."""
    P = np.asarray(P, dtype=np.float64)
    return np.asarray(-xlogy(P, P).sum(axis=-1))


def largest(scores: NDArray[Any], count: int) -> IntArray:
    """Positions of the `count` largest scores in falling order; ties to the lower."""
    return np.argsort(-scores, kind="stable")[:count]


def unit_length(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """The rows of a matrix divided by their L2 norms; zeros stay zeros."""
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    scaled = np.zeros(vectors.shape, dtype=np.float32)
    np.divide(vectors, norms, out=scaled, where=norms > 0)
    return scaled
