"""The directory of a run: its configuration, its datasets, its cells and its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock

from benchmarks.data import Dataset, Part, Protocol
from benchmarks.errors import UsageError
from benchmarks.harness.cells import Cell, CellFolder
from benchmarks.harness.files import read_json, storing, write_file, write_json

FORMAT = 1
RESULTS_FILE = "results.parquet"
#: What may differ from run to run: names of what has a hash, how the budget is cut into
#: rounds, and which seed has its pool mapped.
NOT_COMPARED = ("encoder.name", ".source", ".batch_size", ".rounds", ".split_seed", "map_seed")


class Workspace:
    """A directory that holds everything a cell needs, so that any process can run it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def config_file(self) -> Path:
        return self.root / "config.json"

    @property
    def results_file(self) -> Path:
        return self.root / RESULTS_FILE

    def config(self) -> dict[str, Any]:
        """The configuration of the directory; empty if it has none yet."""
        if not self.config_file.exists():
            return {}
        config: dict[str, Any] = read_json(self.config_file)
        if config.get("format") != FORMAT:
            raise UsageError(
                f"{self.config_file} has format {config.get('format')!r}, this version reads "
                f"{FORMAT}; give another --out directory."
            )
        return config

    @property
    def cells(self) -> Path:
        return self.root / "cells"

    @property
    def locations_file(self) -> Path:
        return self.root / "locations.json"

    def locations(self) -> dict[str, str]:
        """Where the encoder and the strategies of files are on the machine of the last run."""
        return dict(read_json(self.locations_file)) if self.locations_file.exists() else {}

    def configure(self, config: dict[str, Any], locations: dict[str, str]) -> None:
        """Add `config` to that of the directory, or refuse where they differ."""
        config = {"format": FORMAT, **config}
        with storing(self.root):
            self.root.mkdir(parents=True, exist_ok=True)
        with FileLock(self.root / ".config.lock"):
            existing = self.config()
            check_same(existing, config, self.root)
            write_json(self.config_file, merged(existing, config))
            write_json(self.locations_file, self.locations() | locations)

    def add_dataset(self, dataset: Dataset, statistics: dict[str, Any]) -> None:
        """Keep a dataset and its statistics beside the cells that run on it."""
        if not self.has_texts(dataset.name):
            write_file(self._texts_file(dataset.name), dataset.save)
            write_json(self.root / "datasets" / f"{dataset.name}.json", statistics)

    def _texts_file(self, name: str) -> Path:
        return self.root / "datasets" / f"{name}.parquet"

    def has_texts(self, name: str) -> bool:
        """Whether the texts of a dataset are here; a directory may have its results alone."""
        return self._texts_file(name).exists()

    def dataset(self, name: str) -> Dataset:
        """Read a dataset back."""
        entry = self.config()["datasets"][name]
        frame = pd.read_parquet(self._texts_file(name))
        parts = {}
        for part in ("train", "validation", "test"):
            rows = frame[frame["part"] == part]
            parts[part] = Part(rows["text"].tolist(), rows["label"].to_numpy())
        return Dataset(
            name=name,
            classes=tuple(entry["classes"]),
            protocol=Protocol(**entry["protocol"]),
            source=entry["source"],
            **parts,
        )

    def statistics(self) -> list[dict[str, Any]]:
        """Statistics of the datasets, in the order of their names."""
        return [read_json(file) for file in sorted((self.root / "datasets").glob("*.json"))]

    def cell(self, cell: Cell) -> CellFolder:
        return CellFolder(self.cells / cell.path, cell)

    def first_model(self, cell: Cell) -> Path:
        """The folder of the first model, which all strategies at a seed share."""
        return self.root / "warm-ups" / cell.dataset / cell.track / f"seed-{cell.seed}"


def check_same(existing: dict[str, Any], config: dict[str, Any], root: Path) -> None:
    """Raise if the two disagree on anything that changes results."""
    before, now = flattened(existing), flattened(config)
    differences = [
        f"  {key}: {before[key]!r} there, {now[key]!r} now"
        for key in now
        if key in before and before[key] != now[key] and not key.endswith(NOT_COMPARED)
    ]
    if differences:
        raise UsageError(
            f"{root} holds results of another configuration:\n" + "\n".join(differences) + "\n"
            "Give another --out directory, or the options of the first run."
        )


def flattened(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested keys joined by dots."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict) and value:
            flat |= flattened(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both, key by key; where both have a value, the first's."""
    result = dict(other)
    for key, value in one.items():
        both = isinstance(value, dict) and isinstance(other.get(key), dict)
        result[key] = merged(value, other[key]) if both else value
    return dict(sorted(result.items()))
