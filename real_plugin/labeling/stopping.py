"""Should labelling go on? Stability of the predictions, and the error that is left.

Predictions that no longer change from round to round are the criterion of Bloodgood and
Vijay-Shanker [1]_: stop when Cohen's kappa between the predictions of consecutive models, as
a mean over three rounds, reaches 0.99.

References
----------
.. [1] M. Bloodgood, K. Vijay-Shanker. A method for stopping active learning based on
   stabilizing predictions and the need for user-adjustable stopping. CoNLL 2009.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import confusion_matrix

from real_plugin.labeling.accuracy import Estimate
from real_plugin.labeling.labels import Label
from real_plugin.labeling.rounds import Round

THRESHOLD = 0.99
#: Comparisons whose mean has to reach the threshold.
WINDOW = 3


@dataclass(frozen=True)
class Agreement:
    """How much two models agree on texts that have no label."""

    kappa: float
    low: float
    high: float
    changed: int
    rows: int

    def __str__(self) -> str:
        return (
            f"kappa {self.kappa:.3f} (95 % interval {self.low:.3f} to {self.high:.3f}), "
            f"{self.changed:,} of {self.rows:,} predictions changed"
        )


@dataclass(frozen=True)
class Point:
    """A round on the learning curve."""

    round: str
    labels: int
    on_labels: Estimate | None  #: accuracy by cross-validation
    on_pool: Estimate | None  #: accuracy on texts without a label, estimated from that
    batch: tuple[int, int] | None  #: of the labels that came back, how many were predicted
    agreement: Agreement | None  #: with the round before


def agreement(before: Mapping[str, str], after: Mapping[str, str]) -> Agreement | None:
    """Agreement on the rows that both models predicted; None if there are none."""
    from statsmodels.stats.inter_rater import cohens_kappa  # takes a second

    shared = [key for key in after if key in before]
    if not shared:
        return None
    one = np.array([before[key] for key in shared])
    other = np.array([after[key] for key in shared])
    changed = int((one != other).sum())
    if not changed:
        return Agreement(1.0, 1.0, 1.0, 0, len(shared))
    with np.errstate(divide="ignore", invalid="ignore"):  # one model knows one class only
        found = cohens_kappa(confusion_matrix(one, other))
    low, high = np.clip([found.kappa_low, found.kappa_upp], -1, 1)
    if np.isnan([low, high]).any():
        low, high = -1.0, 1.0
    return Agreement(float(found.kappa), float(low), float(high), changed, len(shared))


def curve(rounds: Sequence[Round], labels: Mapping[str, Label]) -> list[Point]:
    """The learning curve, a point for every round."""
    points = []
    before: Mapping[str, str] | None = None
    for number, kept in enumerate(rounds, start=1):
        after = kept.predictions() if kept.has_model else None
        points.append(
            Point(
                round=str(number),
                labels=kept.about["labels"],
                on_labels=kept.accuracy_on("labels"),
                on_pool=kept.accuracy_on("pool"),
                batch=right_in_batch(kept, labels),
                agreement=agreement(before, after) if before and after else None,
            )
        )
        before = after
    return points


def right_in_batch(kept: Round, labels: Mapping[str, Label]) -> tuple[int, int] | None:
    """How many labels of its batch a model predicted, and how many came back."""
    if not kept.has_model:
        return None
    right = [
        kept.classes[kept.predicted[row]] == labels[key].label
        for row in kept.picks.tolist()
        if (key := str(kept.ids[row])) in labels
    ]
    return (sum(right), len(right)) if right else None


def has_settled(points: Sequence[Point]) -> bool | None:
    """Whether the last three comparisons say stop; None if there are not as many."""
    last = [point.agreement for point in points][-WINDOW:]
    kappas = [found.kappa for found in last if found is not None]
    if len(kappas) < WINDOW:
        return None
    mean = float(np.mean(kappas))
    return not math.isnan(mean) and mean >= THRESHOLD
