"""Pools to measure on: generated vectors that look like [CLS] vectors, or real ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

N_CLASSES = 4
N_LABELLED = 100
#: Rows of a large pool that are generated at a time.
BLOCK_ROWS = 100_000


@dataclass(frozen=True)
class Pool:
    """A pool on disk, so that every measured process loads it alike."""

    name: str
    folder: Path

    def embeddings(self) -> NDArray[np.float32]:
        return np.load(self.folder / "embeddings.npy")

    def probabilities(self) -> NDArray[np.float32]:
        return np.load(self.folder / "probabilities.npy")

    def labels(self) -> NDArray[np.float64]:
        """Class of the first `N_LABELLED` rows, NaN for the rest."""
        return np.load(self.folder / "labels.npy")


def write_pool(name: str, embeddings: NDArray[np.float32], folder: Path) -> Pool:
    """Give `embeddings` classes and a model trained on few of them, and store it all."""
    classes = _classes(embeddings)
    labels = np.full(len(embeddings), np.nan)
    labels[:N_LABELLED] = classes[:N_LABELLED]
    model = _model(embeddings[:N_LABELLED], classes[:N_LABELLED])
    folder.mkdir(parents=True)
    np.save(folder / "embeddings.npy", embeddings)
    np.save(folder / "probabilities.npy", model.predict_proba(embeddings).astype(np.float32))
    np.save(folder / "labels.npy", labels)
    return Pool(name, folder)


class VectorGenerator:
    """Unequal blobs in a space whose spectrum decays fast, plus noise."""

    def __init__(self, n_columns: int) -> None:
        n_blobs, n_directions = 50, 64
        self._rng = np.random.default_rng(0)
        self._directions = self._rng.standard_normal((n_directions, n_columns), dtype=np.float32)
        self._scale = 0.93 ** np.arange(n_directions, dtype=np.float32)
        self._centres = 2 * self._rng.standard_normal((n_blobs, n_directions), dtype=np.float32)
        self._share = self._rng.dirichlet(np.full(n_blobs, 0.5))

    def draw(self, n_rows: int) -> NDArray[np.float32]:
        """The next `n_rows` vectors."""
        n_directions, n_columns = self._directions.shape
        blob = self._rng.choice(len(self._centres), size=n_rows, p=self._share)
        latent = self._centres[blob]
        latent += self._rng.standard_normal((n_rows, n_directions), dtype=np.float32)
        noise = 0.3 * self._rng.standard_normal((n_rows, n_columns), dtype=np.float32)
        return (latent * self._scale) @ self._directions + noise


def generated_vectors(n_rows: int, n_columns: int) -> NDArray[np.float32]:
    """The first vectors of a `VectorGenerator`."""
    return VectorGenerator(n_columns).draw(n_rows)


def write_large_pool(folder: Path, n_rows: int, n_columns: int) -> None:
    """Generated vectors in float16, and a model's probabilities of four classes, in float32.

    Written block by block, so that no more of them is in memory.
    """
    generator = VectorGenerator(n_columns)
    folder.mkdir(parents=True)
    E = _new_file(folder / "embeddings.npy", np.float16, (n_rows, n_columns))
    P = _new_file(folder / "probabilities.npy", np.float32, (n_rows, N_CLASSES))
    model = None
    for start in range(0, n_rows, BLOCK_ROWS):
        block = generator.draw(min(BLOCK_ROWS, n_rows - start))
        if model is None:
            model = _model(block[:N_LABELLED], _classes(block)[:N_LABELLED])
        E[start : start + len(block)] = block
        P[start : start + len(block)] = model.predict_proba(block)
    E.flush()
    P.flush()


def _new_file(file: Path, dtype: Any, shape: tuple[int, int]) -> Any:
    return np.lib.format.open_memmap(file, mode="w+", dtype=dtype, shape=shape)


def _classes(embeddings: NDArray[np.float32]) -> NDArray[np.intp]:
    """A class for every row: the most similar of a few of the first rows."""
    rng = np.random.default_rng(0)
    mean = embeddings[:1000].mean(axis=0)
    centred = embeddings[:1000] - mean
    scores = (embeddings - mean) @ centred[rng.choice(len(centred), N_CLASSES, replace=False)].T
    return np.asarray(scores.argmax(axis=1))


def _model(X: NDArray[np.float32], y: NDArray[np.intp]) -> LogisticRegression:
    return LogisticRegression(max_iter=1000).fit(X, y)
