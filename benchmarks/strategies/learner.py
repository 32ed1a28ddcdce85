"""What a strategy may ask of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

FloatMatrix = NDArray[np.floating[Any]]


class Learner(Protocol):
    """A trained model, its labelled texts, and the unlabelled pool.

    Representations are the model's own: [CLS] vectors when it is fine-tuned, the hidden
    layer of its head on a frozen encoder. So whatever modAL's strategies ask of a learner
    is here, and functions written for modAL run unchanged.
    """

    @property
    def classes_(self) -> NDArray[np.int64]:
        """The numbers of the classes, 0 to Y - 1."""
        ...

    @property
    def texts(self) -> Sequence[str]:
        """The texts of the pool, in the order of its rows."""
        ...

    @property
    def X_training(self) -> NDArray[np.float32]:  # noqa: N802
        """Representations of the labelled texts, computed on first access."""
        ...

    @property
    def y_training(self) -> NDArray[np.int64]:
        """Classes of the labelled texts."""
        ...

    def predict_proba(self, X: Any) -> FloatMatrix:
        """Class probabilities (len(X), Y) of representations.

        Those of the pool are there already: pass the `X_pool` object itself to get them.
        """
        ...

    def predict_proba_mc(self, n_passes: int, random_state: int) -> FloatMatrix:
        """Probabilities (n_passes, n_pool, Y) of the pool under Monte-Carlo dropout."""
        ...

    def surprisal(self, random_state: int) -> NDArray[np.float32]:
        """Surprisal embeddings (n_pool, L) of the pool, of unit length, as in ALPS."""
        ...
