"""Cells, the units of a run, and what is on disk of each."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from filelock import FileLock, Timeout

from benchmarks.harness.files import read_json, write_folder, write_json

#: A pseudo strategy: the model with all labels, the line that the others run up to.
FULL = "full"


@dataclass(frozen=True)
class Cell:
    """One strategy on one dataset and track, with one seed."""

    dataset: str
    track: str
    strategy: str
    batch_size: int  #: labels a round
    rounds: int  #: after the warm-up, which is round 0
    seed: int

    @property
    def path(self) -> str:
        """Its folder below the folder of cells."""
        names = (self.dataset, self.track, self.strategy)
        folders = [quote(name, safe="@=,+ ") for name in names]
        return "/".join([*folders, f"batch-{self.batch_size}", f"seed-{self.seed}"])

    def __str__(self) -> str:
        return f"{self.dataset} {self.track} {self.strategy} b={self.batch_size} seed={self.seed}"


@dataclass(frozen=True)
class State:
    """How far a cell is: "done", "failed", "running", "begun" or "waiting"."""

    name: str
    finished: int  #: rounds on disk, the warm-up included
    message: str = ""


class CellFolder:
    """The folder of a cell: a file for every finished round, and the weights of the last.

    The weights of a round are written before its file and those of the round before are
    removed after it, so that whenever the process dies, the files on disk and the weights
    of the last of them are whole.
    """

    def __init__(self, folder: Path, cell: Cell) -> None:
        self.folder = folder
        self.cell = cell

    def describe(self) -> None:
        """Say in the folder which cell it is of."""
        file = self.folder / "cell.json"
        if not file.exists():
            write_json(file, asdict(self.cell))

    def rounds(self) -> list[dict[str, Any]]:
        """Records of the finished rounds, in order."""
        files = (self._round_file(number) for number in range(self.cell.rounds + 1))
        records = []
        for file in files:
            if not file.exists():
                break
            records.append(read_json(file))
        return records

    def _round_file(self, number: int) -> Path:
        return self.folder / f"round-{number:03}.json"

    def keep(self, record: dict[str, Any]) -> None:
        """Write the record of a finished round."""
        write_json(self._round_file(record["round"]), record)

    def weights(self, number: int) -> Path:
        return self.folder / f"weights-{number:03}"

    def write(self, record: dict[str, Any], save: Callable[[Path], None]) -> None:
        """Keep a finished round; `save` writes the weights to the folder it is given."""
        number = record["round"]
        is_last = number == self.cell.rounds
        if not is_last:
            write_folder(self.weights(number), save)
        self.keep(record)
        shutil.rmtree(self.weights(number - 1), ignore_errors=True)
        if is_last:
            for rest in self.folder.glob(".*.part"):
                shutil.rmtree(rest, ignore_errors=True)

    @property
    def error(self) -> Path:
        return self.folder / "error.json"

    def record_error(self, message: str, traceback: str) -> None:
        write_json(self.error, {"error": message, "traceback": traceback})

    @contextmanager
    def claim(self) -> Iterator[bool]:
        """Whether this process may work on the cell; the system frees it if it dies."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()

    def state(self) -> State:
        """How far the cell is, by what is on disk."""
        finished = len(self.rounds())
        if finished > self.cell.rounds:
            return State("done", finished)
        if self.folder.exists():
            with self.claim() as is_free:
                if not is_free:
                    return State("running", finished)
        if self.error.exists():
            return State("failed", finished, read_json(self.error)["error"])
        return State("begun" if finished else "waiting", finished)
