"""What is measured in a round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score

#: Probabilities below this count as this in a loss, as they are known no better.
SMALLEST = float(np.finfo(np.float32).tiny)


def test_metrics(truth: NDArray[np.int64], predicted: NDArray[np.int64]) -> dict[str, float]:
    """Accuracy and macro-F1; a class that is neither there nor predicted doesn't count."""
    return {
        "accuracy": float(accuracy_score(truth, predicted)),
        "macro_f1": float(f1_score(truth, predicted, average="macro")),
    }


def batch_metrics(
    probabilities: NDArray[np.floating], truth: NDArray[np.int64], picks: NDArray[np.int64]
) -> dict[str, Any]:
    """The paper's Table 3 for one batch, by the model that it was picked with.

    The error rates of the batch and of the pool, their ratio (lift; None if the pool has
    no error), and the mean cross entropy of the batch before the model is trained on it
    (the loss of the first training step, without dropout).
    """
    is_wrong = probabilities.argmax(axis=1) != truth
    batch_rate, pool_rate = float(is_wrong[picks].mean()), float(is_wrong.mean())
    p_truth = probabilities[picks, truth[picks]].astype(np.float64)
    return {
        "batch_error_rate": batch_rate,
        "pool_error_rate": pool_rate,
        "lift": batch_rate / pool_rate if pool_rate else None,
        "first_step_loss": float(-np.log(np.maximum(p_truth, SMALLEST)).mean()),
    }
