"""The fast model: logistic regression on the standardised vectors of a frozen encoder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from real_plugin._errors import UsageError
from real_plugin._files import default_cache
from real_plugin.labeling.vectors import Vectors, VectorStore

FILE = "model.npz"
FORMAT = 1
#: Strong regularisation, since there are more columns than labels.
C, MAX_ITER = 0.01, 1000
#: Rows that tell the mean and deviation of a pool.
ENOUGH_ROWS = 10_000


@dataclass(frozen=True, eq=False)
class FrozenModel:
    """Class probabilities of texts from an encoder that is not trained and a linear head.

    Parameters
    ----------
    classes : list of str
        In the order of the probabilities' columns.
    mean, scale : ndarray of shape (d,)
        What the vectors are standardised by: those of the pool.
    weights, bias : ndarray of shape (Y, d) and (Y,)
        The head.
    encoder, max_length
        As in `VectorStore`.
    """

    classes: list[str]
    mean: NDArray[Any]
    scale: NDArray[Any]
    weights: NDArray[Any]
    bias: NDArray[Any]
    encoder: str
    max_length: int

    def predict_proba(self, texts: Sequence[str], cache: Path | None = None) -> NDArray[Any]:
        """Probabilities of texts, a column for every class.

        `cache` is the folder that keeps the encoder's vectors, by default the user's cache.
        """
        store = VectorStore(cache or default_cache(), self.encoder, self.max_length)
        return self.score((store.vectors(list(texts)) - self.mean) / self.scale)

    def predict(self, texts: Sequence[str], cache: Path | None = None) -> list[str]:
        """The most probable class of every text."""
        return [self.classes[i] for i in self.predict_proba(texts, cache).argmax(axis=1)]

    def score(self, Z: Vectors) -> NDArray[Any]:
        """Probabilities from standardised vectors."""
        P: NDArray[Any] = softmax(Z @ self.weights.T + self.bias, axis=1)
        return P

    def save(self, folder: Path) -> None:
        """Write the model into a folder, as one file of arrays that holds no code."""
        arrays = {name: getattr(self, name) for name in ("mean", "scale", "weights", "bias")}
        about = {
            "format": FORMAT,
            "classes": self.classes,
            "encoder": self.encoder,
            "max_length": self.max_length,
        }
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / FILE, about=np.array(json.dumps(about)), **arrays)


def load_model(folder: Path | str) -> FrozenModel:
    """Read what `FrozenModel.save` wrote, such as the folder ``model`` of a project.

    A model that was trained with ``--finetune`` is read by
    `real_plugin.text.TransformerClassifier.load` instead.
    """
    file = Path(folder) / FILE
    if not file.is_file():
        raise UsageError(
            f"{folder} has no {FILE}; give the folder `model` of a project after a `suggest` "
            "without --finetune (TransformerClassifier.load reads the others)."
        )
    with np.load(file) as stored:
        arrays = dict(stored)
    about = json.loads(str(arrays.pop("about")))
    if about.pop("format") != FORMAT:
        raise UsageError(f"{file} was written by another version of real_plugin; train it again.")
    return FrozenModel(**about, **arrays)


def standardise(vectors: Vectors, n_pool: int) -> tuple[Vectors, StandardScaler]:
    """All vectors, scaled in place by the mean and deviation of the first `n_pool`.

    Of many, some in even steps are enough to find these.
    """
    step = max(1, n_pool // ENOUGH_ROWS)
    scaler = StandardScaler(copy=False).fit(vectors[:n_pool:step])
    Z: Vectors = scaler.transform(vectors)
    return Z, scaler


def train(
    Z: Vectors, labels: Sequence[str], scaler: StandardScaler, encoder: str, max_length: int
) -> FrozenModel:
    """Fit the head on standardised vectors; there must be two classes or more."""
    head = new_head().fit(Z, np.array(labels, dtype=object))
    weights, bias = head.coef_, head.intercept_
    if len(weights) == 1:  # of two classes, scikit-learn keeps the second one's only
        weights, bias = np.vstack([-weights, weights]) / 2, np.append(-bias, bias) / 2
    return FrozenModel(
        classes=[str(name) for name in head.classes_],
        mean=scaler.mean_.astype(np.float32),
        scale=scaler.scale_.astype(np.float32),
        weights=weights.astype(np.float32),
        bias=bias.astype(np.float32),
        encoder=encoder,
        max_length=max_length,
    )


def new_head() -> LogisticRegression:
    """The untrained head."""
    return LogisticRegression(C=C, max_iter=MAX_ITER)
