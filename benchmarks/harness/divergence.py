"""How far a batch lies from the errors at the model's decision boundary (paper, §4.2)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy
from sklearn.manifold import TSNE

from benchmarks.tracks.encodings import cached
from real_plugin._keys import rows_by_key
from real_plugin.clustering import as_float32

GRID = 50
BOUNDARY_SHARE = 0.15
#: t-SNE maps this many rows; the others lie where their nearest mapped row does.
MAPPED_ROWS = 3_000
_MAP_SEED = 0


def tsne_map(embeddings: NDArray[np.float32], cache: Path) -> NDArray[np.float32]:
    """Positions of a pool on the plane, from the cache if the same pool was mapped before.

    All strategies share the model, and with it the map, of the first batch of a seed.
    """
    E = as_float32(embeddings)
    key = (E.shape, hashlib.sha256(E).hexdigest(), MAPPED_ROWS)
    return cached(cache / "tsne", key, lambda: _place(E))


def _place(E: NDArray[np.float32]) -> NDArray[np.float32]:
    rows = np.sort(rows_by_key(_MAP_SEED, len(E), min(len(E), MAPPED_ROWS)))
    perplexity = min(30.0, max(1.0, (len(rows) - 1) / 3))
    positions = TSNE(perplexity=perplexity, random_state=_MAP_SEED).fit_transform(E[rows])
    index = faiss.IndexFlatL2(E.shape[1])
    index.add(E[rows])
    placed: NDArray[np.float32] = positions[index.search(E, 1)[1][:, 0]]
    placed[rows] = positions
    return placed


def boundary_divergence(
    positions: NDArray[np.floating],
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    picks: NDArray[np.int64],
) -> float | None:
    """Jensen-Shannon divergence (in bits, 0 to 1) of a batch and the boundary errors.

    Both are counted in the cells of a 50 x 50 grid over the map, and only in the 15 % of
    the occupied cells whose true classes have the largest entropy. 1 if the batch has
    nothing there; None if there is no error to compare with.
    """
    cell = _cells(positions)
    counts = np.zeros((GRID * GRID, int(truth.max()) + 1))
    np.add.at(counts, (cell, truth), 1)
    occupied = np.flatnonzero(counts.sum(axis=1))
    n_boundary = max(1, round(BOUNDARY_SHARE * len(occupied)))
    order = np.argsort(-entropy(counts[occupied], axis=1), kind="stable")
    boundary = occupied[order[:n_boundary]]
    errors = np.bincount(cell[predicted != truth], minlength=GRID * GRID)[boundary]
    sample = np.bincount(cell[picks], minlength=GRID * GRID)[boundary]
    if not errors.any():
        return None
    if not sample.any():
        return 1.0
    return float(jensenshannon(errors, sample, base=2) ** 2)


def _cells(positions: NDArray[np.floating]) -> NDArray[np.int64]:
    """The grid cell of every row."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scaled = (positions - low) / np.where(high > low, high - low, 1)
    column, row = np.minimum((scaled * GRID).astype(np.int64), GRID - 1).T
    return row * GRID + column
