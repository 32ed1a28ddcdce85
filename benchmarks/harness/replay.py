"""Rounds of a finished cell once more: what their strategy saw, and why it picked what it did.

The table of results has the picks of a round, not the model that they were picked with. On the
track `frozen` a model follows from its labels and its seed, so it can be had again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks import strategies
from benchmarks.data import Dataset
from benchmarks.errors import UsageError
from benchmarks.harness.metrics import test_metrics
from benchmarks.harness.seeds import role_seed, warm_up_rows
from benchmarks.harness.threads import limit_threads
from benchmarks.tracks import TrackSettings, make_model
from benchmarks.tracks.encodings import encoder_sha256
from benchmarks.tracks.frozen import FrozenModel
from benchmarks.tracks.learner import RoundLearner
from real_plugin import Selection


class ReplayError(RuntimeError):
    """A round came out in another way than recorded."""


@dataclass(frozen=True, eq=False)
class ReplayedRound:
    """A query, the same as the recorded one.

    `model` is the one that was asked. Whoever trains it on other rows has used up `learner`,
    but not what was read from it; the next round trains it anew.
    """

    number: int
    model: FrozenModel
    learner: RoundLearner  #: with the rows that are labelled and those of the pool
    indices: NDArray[np.int64]  #: positions of the batch in the pool
    selection: Selection | None  #: why, if the strategy is REAL or a variant

    @property
    def rows(self) -> NDArray[np.intp]:
        """The batch as rows of train."""
        return self.learner.pool[self.indices]


def settings_of(
    config: dict[str, Any], dataset: Dataset, encoder: str, cache: Path
) -> TrackSettings:
    """How a run used its encoder; refused if its data or its encoder were others."""
    entry = config["datasets"][dataset.name]
    for what, there, now in (
        ("dataset", entry["sha256"], dataset.fingerprint),
        ("encoder", config["encoder"]["sha256"], encoder_sha256(encoder)),
    ):
        if there != now:
            raise UsageError(
                f"the run on {dataset.name} had another {what} (its SHA-256 was {there}, "
                f"this one's is {now}); give the one that it ran with."
            )
    max_length = entry["protocol"]["max_length"]
    return TrackSettings(encoder, config["encoder"]["sha256"], max_length, cache)


def replay(
    rounds: pd.DataFrame, dataset: Dataset, settings: TrackSettings, warm_up: int
) -> Iterator[ReplayedRound]:
    """Query again in every round of a cell.

    Parameters
    ----------
    rounds : DataFrame
        The rows of a finished cell of the track `frozen`, as in results.parquet.
    dataset, settings
        Those of the run, see `settings_of`.
    warm_up : int
        Its labels in round 0.

    Raises
    ------
    ReplayError
        If the accuracy of a model, or a pick, is not the recorded one.
    """
    records = rounds.sort_values("round").to_dict("records")
    first = records[0]
    strategy = strategies.find(first["strategy"])
    model = make_model("frozen", dataset, settings, role_seed(first["seed"], "model"))
    train = dataset.train
    labelled = warm_up_rows(len(train), warm_up, first["seed"])
    for before, record in pairwise(records):
        with limit_threads(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the toolkits, each round
            model.fit(labelled)
            accuracy = test_metrics(dataset.test.labels, model.predict_test())["accuracy"]
            _check(before, "accuracy", accuracy == before["accuracy"])
            pool = np.delete(np.arange(len(train)), labelled)
            learner = RoundLearner(
                model.network(), pool, labelled, train.labels, train.texts, len(dataset.classes)
            )
            seed = role_seed(record["seed"], "strategy", record["round"])
            picks = strategy.query(learner, learner.X_pool, len(record["picks"]), seed)
        _check(record, "picks", np.array_equal(pool[picks.indices], record["picks"]))
        yield ReplayedRound(record["round"], model, learner, picks.indices, picks.selection)
        labelled = np.concatenate([labelled, record["picks"]]).astype(np.intp)


def _check(record: dict[str, Any], what: str, is_same: bool) -> None:
    if not is_same:
        where = "{dataset}, {strategy}, seed {seed}, round {round}".format_map(record)
        raise ReplayError(
            f"{where}: {what} not as recorded. It ran with {record['versions']}; other versions "
            "or another machine may round differently."
        )
