"""The results of a run as a report sees them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.harness import results
from benchmarks.harness.cells import FULL, Cell, State
from benchmarks.harness.workspace import Workspace
from benchmarks.strategies.options import without

SETTING = ["dataset", "track", "batch_size"]


@dataclass(frozen=True, eq=False)
class Results:
    """All rounds of a run, and how far its cells are."""

    workspace: Workspace
    frame: pd.DataFrame
    states: dict[Cell, State]

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """Rounds of the strategies, without the model that has all labels."""
        rows = self.frame[self.frame["strategy"] != FULL]
        sizes = {entry["name"]: entry["train"] for entry in self.statistics}
        train = rows["dataset"].map(sizes)
        return rows.assign(pool_size=train - rows["n_labelled"] + rows["batch_size"])

    @cached_property
    def compared(self) -> pd.DataFrame:
        """Rounds of the cells that are done, without those that only vary K.

        A strategy that was run by its own rule for K stands for all of its K.
        """
        names = set(self.whole["strategy"])
        varied = {n for n in names if (own := without(n, "n_clusters")) != n and own in names}
        return self.whole[~self.whole["strategy"].isin(varied)]

    @cached_property
    def whole(self) -> pd.DataFrame:
        """Rounds of the cells that are done."""
        done = [cell for cell, state in self.states.items() if state.name == "done"]
        keys = [(c.dataset, c.track, c.batch_size, c.strategy, c.seed) for c in done]
        index = pd.MultiIndex.from_frame(self.rounds[[*SETTING, "strategy", "seed"]])
        return self.rounds[index.isin(keys)]

    @cached_property
    def full(self) -> pd.Series:
        """Accuracy with all labels, by dataset and track, the mean over the seeds in %."""
        rows = self.frame[self.frame["strategy"] == FULL]
        return 100 * rows.groupby(["dataset", "track"])["accuracy"].mean()

    def full_of(self, dataset: str, track: str) -> float | None:
        return float(self.full[dataset, track]) if (dataset, track) in self.full.index else None

    @cached_property
    def config(self) -> dict[str, Any]:
        return self.workspace.config()

    @cached_property
    def statistics(self) -> list[dict[str, Any]]:
        return self.workspace.statistics()

    @property
    def encoder(self) -> str:
        return str(self.config["encoder"]["name"])

    @property
    def versions(self) -> list[str]:
        return list(dict.fromkeys(self.frame["versions"]))

    @property
    def source(self) -> str:
        """Where numbers are from: seeds, model and versions."""
        return f"{count_seeds(self.whole)}; {self.encoder}; {'; '.join(self.versions)}."

    def settings(self) -> list[tuple[tuple[str, str, int], pd.DataFrame]]:
        """(setting, rounds of the cells that are compared), in order."""
        return list(self.compared.groupby(SETTING))

    def unfinished(self) -> list[tuple[Cell, State]]:
        return [(cell, state) for cell, state in self.states.items() if state.name != "done"]

    def different_starts(self) -> list[str]:
        """Where strategies at one seed did not start from the same model, in words."""
        first = self.rounds[self.rounds["round"] == 0]
        scores = first.groupby(["dataset", "track", "seed"])[["accuracy", "macro_f1"]]
        n_models = scores.nunique().max(axis=1)
        return [
            f"{dataset} {track} seed={seed}: {n} first models"
            for (dataset, track, seed), n in n_models[n_models > 1].items()
        ]

    def never_begun(self) -> list[str]:
        """What some strategy or seed of a setting has, and another lacks, in words."""
        lacking = []
        cells = [cell for cell in self.states if cell.strategy != FULL]
        settings = {(c.dataset, c.track, c.batch_size) for c in cells}
        for setting in sorted(settings):
            here = {
                (c.strategy, c.seed)
                for c in cells
                if (c.dataset, c.track, c.batch_size) == setting
            }
            strategies, seeds = ({pair[i] for pair in here} for i in (0, 1))
            for strategy, seed in sorted(set(product(strategies, seeds)) - here):
                dataset, track, size = setting
                lacking.append(f"{dataset} {track} {strategy} b={size} seed={seed}")
        return lacking


def load(directory: Path) -> Results:
    """Collect what is on disk, and write the table anew."""
    workspace = Workspace(directory.resolve())
    results.unpack(workspace)
    frame = results.write(workspace)
    cells = results.cells_on_disk(workspace)
    return Results(workspace, frame, {cell: workspace.cell(cell).state() for cell in cells})


def count_seeds(rows: pd.DataFrame) -> str:
    """How many seeds the strategies have, in words."""
    if rows.empty:
        return "no seed"
    counts = rows.groupby([*SETTING, "strategy"])["seed"].nunique()
    low, high = counts.min(), counts.max()
    text = f"{high} seeds" if low == high else f"{low} to {high} seeds"
    return "one seed" if high == 1 else text


def title(setting: tuple[str, str, int]) -> str:
    dataset, track, batch_size = setting
    return f"{dataset}, {track}, batches of {batch_size}"
