"""First models: trained once for all strategies at a seed, removed with the last of its cells."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from benchmarks.harness.cells import Cell, State
from benchmarks.harness.files import read_json, storing, write_folder, write_json
from benchmarks.harness.workspace import Workspace

Record = dict[str, Any]


def share(folder: Path, model: Any, train: Callable[[], Record]) -> Record:
    """Round 0, which is the same for all strategies at a seed: the first of them trains.

    Leaves `model` trained, and returns the record of the training.
    """
    with storing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        if not folder.exists():
            record = train()
            write_folder(folder, lambda part: _save(part, model, record))
            return record
        model.load(folder / "weights")
        shared: Record = read_json(folder / "round.json")
        return shared


def _save(folder: Path, model: Any, record: Record) -> None:
    model.save(folder / "weights")
    write_json(folder / "round.json", record)


def removing(
    workspace: Workspace, cells: Sequence[Cell], on_round: Callable[[Cell, Record], None]
) -> Callable[[Cell, Record], None]:
    """`on_round` that also removes a seed's first model with the last cell that starts from it.

    A run of many seeds would fill the disk with them.
    """
    n_left = Counter(workspace.first_model(cell) for cell in cells)

    def round_done(cell: Cell, record: Record) -> None:
        on_round(cell, record)
        if record["round"] == cell.rounds:
            folder = workspace.first_model(cell)
            n_left[folder] -= 1
            if n_left[folder] == 0:
                _remove(folder)

    return round_done


def remove_unneeded(workspace: Workspace, states: dict[Cell, State]) -> None:
    """Remove the first models of the seeds that no cell is left to start from."""
    needed = {
        workspace.first_model(cell) for cell, state in states.items() if state.name != "done"
    }
    for folder in {workspace.first_model(cell) for cell in states} - needed:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a first model, but leave it to another run that is reading it."""
    if folder.exists():
        with suppress(Timeout), _lock(folder, timeout=0):
            shutil.rmtree(folder, ignore_errors=True)


def _lock(folder: Path, timeout: float = -1) -> FileLock:
    return FileLock(f"{folder}.lock", timeout=timeout)
