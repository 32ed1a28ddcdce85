"""How accurate is the model? On the labels so far, and as far as these tell, on the pool."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from real_plugin.labeling.console import percent

FOLDS = 5
CONFIDENCE = 0.95
RESAMPLES = 200
#: Quantiles that stand for a pool's confidences.
QUANTILES = 1000
#: Of the line from confidence to accuracy: next to no regularisation.
LOOSE = 1e3


@dataclass(frozen=True)
class Estimate:
    """A share, and a 95 % interval for it."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{percent(self.value)} (95 % interval {100 * self.low:.0f} to {percent(self.high)})"
        )


def share(right: int, total: int) -> Estimate:
    """`right` of `total`, with Wilson's interval."""
    found = binomtest(right, total).proportion_ci(CONFIDENCE, method="wilson")
    return Estimate(right / total, float(found.low), float(found.high))


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Predictions for labelled rows by models that were not trained on them."""

    is_right: NDArray[np.bool_]
    confidence: NDArray[Any]

    def accuracy(self) -> Estimate:
        """On the labels themselves. Picked labels are harder than the pool."""
        return share(int(self.is_right.sum()), len(self.is_right))

    def accuracy_on(self, confidence: NDArray[Any]) -> Estimate:
        """On other rows, by how accurate predictions of the same confidence were.

        A logistic curve from confidence to accuracy is fitted on the labels and read at
        the `confidence` of the other rows; the interval is from resampled labels. That
        picks have a low confidence is accounted for, that they are harder than other
        rows of the same confidence is not.
        """
        rows = np.quantile(confidence, np.linspace(0, 1, min(QUANTILES, len(confidence))))
        rng = np.random.default_rng(0)
        n = len(self.is_right)
        draws = [self._read(rng.integers(n, size=n), rows) for _ in range(RESAMPLES)]
        tail = 100 * (1 - CONFIDENCE) / 2
        low, high = np.percentile(draws, [tail, 100 - tail])
        return Estimate(self._read(np.arange(n), rows), float(low), float(high))

    def _read(self, labels: NDArray[Any], rows: NDArray[Any]) -> float:
        is_right = self.is_right[labels]
        if is_right.all() or not is_right.any():
            return float(is_right[0])
        line = LogisticRegression(C=LOOSE, solver="newton-cholesky")
        line.fit(_log_odds(self.confidence[labels]), is_right)
        return float(line.predict_proba(_log_odds(rows))[:, 1].mean())


def _log_odds(confidence: NDArray[Any]) -> NDArray[np.float64]:
    clipped = np.clip(confidence.astype(np.float64), 1e-6, 1 - 1e-6)
    return np.asarray(logit(clipped))[:, None]


def cross_validate(head: Any, Z: NDArray[Any], labels: Sequence[str]) -> CrossValidation | None:
    """Predict every label by a model without it; None if there are too few labels."""
    y = np.array(labels, dtype=object)
    classes, counts = np.unique(y, return_counts=True)
    if len(counts) < 2 or np.sort(counts)[-2] < FOLDS:
        return None
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # A class with fewer labels than folds is missing from some of them.
        warnings.filterwarnings("ignore", "The least populated class")
        warnings.filterwarnings("ignore", "Number of classes in training fold")
        P = cross_val_predict(head, Z, y, cv=folds, method="predict_proba")
    return CrossValidation(classes[P.argmax(axis=1)] == y, P.max(axis=1))
