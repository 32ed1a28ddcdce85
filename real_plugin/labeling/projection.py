"""The pool on a plane, for the page of `explain`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from real_plugin.labeling.rounds import Round
from real_plugin.labeling.strategies import IntArray
from real_plugin.labeling.vectors import Vectors

#: Rows of a map: t-SNE takes seconds for these, minutes for many more.
MOST_ROWS = 2500
#: Columns that t-SNE gets; more hardly change the neighbours.
COLUMNS = 50
PERPLEXITY = 30
METHODS = ("tsne", "pca")


def sample(kept: Round) -> IntArray:
    """Rows to show: all picks; of the others up to half are pseudo errors."""
    is_pick = np.zeros(len(kept.ids), dtype=bool)
    is_pick[kept.picks] = True
    rng = np.random.default_rng(kept.about["seed"])
    errors = rng.permutation(np.flatnonzero(kept.pseudo_errors & ~is_pick))
    others = rng.permutation(np.flatnonzero(~kept.pseudo_errors & ~is_pick))
    room = max(0, MOST_ROWS - int(is_pick.sum()))
    n_errors = min(len(errors), max(room // 2, room - len(others)))
    rows = [np.flatnonzero(is_pick), errors[:n_errors], others[: room - n_errors]]
    return np.sort(np.concatenate(rows)).astype(np.int64)


def project(vectors: Vectors, method: str, seed: int) -> NDArray[np.float64]:
    """Positions on a plane, of shape (n, 2)."""
    n_rows, n_columns = vectors.shape
    most = min(n_rows, n_columns)
    if most < 2:
        return np.zeros((n_rows, 2))
    reduced = PCA(2 if method == "pca" else min(COLUMNS, most), random_state=seed)
    positions: NDArray[np.float64] = reduced.fit_transform(vectors)
    if method == "tsne" and n_rows > 3 * 4:
        perplexity = min(PERPLEXITY, (n_rows - 1) / 3)
        tsne = TSNE(perplexity=perplexity, init="pca", random_state=seed, n_jobs=1)
        positions = tsne.fit_transform(positions)
    return positions[:, :2]
