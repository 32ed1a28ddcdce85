"""Pools to measure on: generated vectors that look like [CLS] vectors, or real ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

N_CLASSES = 4
N_LABELLED = 100


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
    rng = np.random.default_rng(0)
    centred = embeddings[:1000] - embeddings[:1000].mean(axis=0)
    scores = (embeddings - embeddings[:1000].mean(axis=0)) @ (
        centred[rng.choice(len(centred), N_CLASSES, replace=False)].T
    )
    classes = scores.argmax(axis=1)
    labels = np.full(len(embeddings), np.nan)
    labels[:N_LABELLED] = classes[:N_LABELLED]
    model = LogisticRegression(max_iter=1000).fit(embeddings[:N_LABELLED], classes[:N_LABELLED])
    folder.mkdir(parents=True)
    np.save(folder / "embeddings.npy", embeddings)
    np.save(folder / "probabilities.npy", model.predict_proba(embeddings).astype(np.float32))
    np.save(folder / "labels.npy", labels)
    return Pool(name, folder)


def generated_vectors(n_rows: int, n_columns: int) -> NDArray[np.float32]:
    """Unequal blobs in a space whose spectrum decays fast, plus noise."""
    rng = np.random.default_rng(0)
    n_blobs, n_directions = 50, 64
    directions = rng.standard_normal((n_directions, n_columns), dtype=np.float32)
    scale = 0.93 ** np.arange(n_directions, dtype=np.float32)
    centres = 2 * rng.standard_normal((n_blobs, n_directions), dtype=np.float32)
    blob = rng.choice(n_blobs, size=n_rows, p=rng.dirichlet(np.full(n_blobs, 0.5)))
    latent = centres[blob] + rng.standard_normal((n_rows, n_directions), dtype=np.float32)
    noise = 0.3 * rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    return (latent * scale) @ directions + noise
