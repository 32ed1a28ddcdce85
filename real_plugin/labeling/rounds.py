"""A round as it is kept: what the model said of every row, and what was picked and why."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from real_plugin._errors import UsageError
from real_plugin.labeling.accuracy import Estimate
from real_plugin.labeling.labels import class_counts
from real_plugin.labeling.strategies import IntArray
from real_plugin.labeling.suggestion import Suggestion
from real_plugin.labeling.tables import json_lines

ABOUT, ROWS, BATCH = "round.json", "pool.npz", "batch.jsonl"
FORMAT = 1


@dataclass(frozen=True, eq=False)
class Round:
    """The pool at one suggestion.

    Attributes
    ----------
    ids : ndarray of str
        Of every row of the pool.
    predicted, confidence : ndarray
        The class number and its probability of every row; -1 and 0 without a model.
    labelled : ndarray of bool
        Whether a row had a label.
    cluster : ndarray of int
        The cluster of every row that could be picked, -1 for others and without REAL.
    picks : ndarray of int
        Positions of the batch in the pool, in order of pick.
    about : dict
        What JSON can hold: classes, reasons, clusters, accuracy, settings.
    """

    ids: NDArray[np.str_]
    predicted: IntArray
    confidence: NDArray[np.float32]
    labelled: NDArray[np.bool_]
    cluster: IntArray
    picks: IntArray
    about: dict[str, Any]

    @property
    def classes(self) -> list[str]:
        found: list[str] = self.about["classes"]
        return found

    @property
    def reasons(self) -> list[str]:
        found: list[str] = self.about["reasons"]
        return found

    @property
    def has_model(self) -> bool:
        return bool(self.predicted[0] >= 0)

    @property
    def pseudo_errors(self) -> NDArray[np.bool_]:
        """Rows whose prediction is not their cluster's."""
        majority = np.array([*self.about["clusters"].get("pseudo_label", []), -1])
        # A row without a cluster is no pseudo error; -1 is the last entry.
        found: NDArray[np.bool_] = (self.cluster >= 0) & (self.predicted != majority[self.cluster])
        return found & self.has_model

    def accuracy_on(self, what: str) -> Estimate | None:
        """The estimated accuracy on "labels" or on the "pool"."""
        stored = self.about[f"accuracy_on_{what}"]
        return None if stored is None else Estimate(*stored)

    def predictions(self) -> dict[str, str]:
        """The class of every row that has no label, by id."""
        rows = np.flatnonzero(~self.labelled)
        return {str(self.ids[row]): self.classes[self.predicted[row]] for row in rows}


def as_round(suggestion: Suggestion, encoder: str, max_length: int) -> Round:
    """What is kept of a suggestion."""
    pool, scores, selection = suggestion.pool, suggestion.scores, suggestion.picks.selection
    cluster = np.full(len(pool), -1)
    clusters: dict[str, Any] = {}
    if selection is not None:
        cluster[suggestion.candidates] = selection.assignment
        names = ("size", "pseudo_errors", "budget", "pseudo_label", "density")
        clusters = {name: getattr(selection.clusters, name).tolist() for name in names}
    about = {
        "format": FORMAT,
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "pool": pool.table.file,
        "strategy": suggestion.strategy,
        "seed": suggestion.seed,
        "encoder": encoder,
        "max_length": max_length,
        "finetuned": scores.P is not None and not hasattr(scores.model, "weights"),
        "labels": len(suggestion.labels),
        "label_counts": dict(class_counts(suggestion.labels.values())),
        "classes": scores.classes,
        "accuracy_on_labels": _numbers(scores.on_labels),
        "accuracy_on_pool": _numbers(scores.on_pool),
        "reasons": suggestion.picks.reasons,
        "clusters": clusters,
    }
    return Round(
        ids=np.array(pool.ids),
        predicted=suggestion.predicted,
        confidence=suggestion.confidence,
        labelled=np.array([key in suggestion.labels for key in pool.ids]),
        cluster=cluster,
        picks=suggestion.rows,
        about=about,
    )


def _numbers(found: Estimate | None) -> list[float] | None:
    return None if found is None else list(astuple(found))


def save_round(folder: Path, kept: Round, batch: Sequence[dict[str, Any]]) -> None:
    """Write a round into an empty folder."""
    names = ("ids", "predicted", "confidence", "labelled", "cluster", "picks")
    np.savez_compressed(folder / ROWS, **{name: getattr(kept, name) for name in names})
    (folder / BATCH).write_text(json_lines(batch), encoding="utf-8")
    text = json.dumps(kept.about, indent=1, ensure_ascii=False)
    (folder / ABOUT).write_text(text + "\n", encoding="utf-8")


def load_round(folder: Path) -> Round:
    """Read what `save_round` wrote."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        with np.load(folder / ROWS) as stored:
            return Round(**dict(stored), about=about)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"{folder} can't be read ({error}); restore it from a copy, or move it away: labels "
            "are not in it."
        ) from error
