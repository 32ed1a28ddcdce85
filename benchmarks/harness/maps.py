"""The pool as the first batch was picked from it: a map, and why REAL picked what it did.

All strategies at a seed share the model of the warm-up, so there is one map for all.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.cells import Cell, CellFolder
from benchmarks.harness.files import write_file
from benchmarks.harness.workspace import Workspace
from real_plugin import Selection
from real_plugin.result import Clusters

#: The round whose batch the map shows.
ROUND = 1


@dataclass(frozen=True, eq=False)
class PoolMap:
    """Every row of the pool: where it lies on the plane, and what the model says of it."""

    rows: NDArray[np.int64]  #: of the train part
    positions: NDArray[np.float32]  #: (n, 2)
    predicted: NDArray[np.int64]  #: class numbers
    confidence: NDArray[np.float32]  #: the probability of that class


def map_file(workspace: Workspace, dataset: str, track: str, seed: int) -> Path:
    return workspace.root / "maps" / dataset / track / f"seed-{seed}.npz"


def save_map(file: Path, pool_map: PoolMap) -> None:
    if not file.exists():
        _save(file, {field.name: getattr(pool_map, field.name) for field in fields(PoolMap)})


def load_map(file: Path) -> PoolMap:
    with np.load(file) as arrays:
        return PoolMap(**arrays)


def _selection_file(folder: CellFolder) -> Path:
    return folder.folder / f"selection-{ROUND:03}.npz"


def save_selection(folder: CellFolder, selection: Selection) -> None:
    """Keep all that explains a selection."""
    arrays = {
        f.name: getattr(selection, f.name) for f in fields(Selection) if f.name != "clusters"
    }
    clusters = {
        f"clusters_{f.name}": getattr(selection.clusters, f.name) for f in fields(Clusters)
    }
    _save(_selection_file(folder), arrays | clusters)


def load_selection(folder: CellFolder) -> Selection | None:
    """What `save_selection` kept; None if there is nothing."""
    file = _selection_file(folder)
    if not file.exists():
        return None
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    clusters = Clusters(**{f.name: arrays.pop(f"clusters_{f.name}") for f in fields(Clusters)})
    scalars = {name: array.item() for name, array in arrays.items() if array.ndim == 0}
    return Selection(clusters=clusters, **(arrays | scalars))


def _save(file: Path, arrays: dict[str, Any]) -> None:
    def write(temporary: Path) -> None:
        with temporary.open("wb") as stream:  # of a name, numpy would change the ending
            np.savez_compressed(stream, **arrays)

    write_file(file, write)


def maps_on_disk(workspace: Workspace, cells: list[Cell]) -> dict[tuple[str, str, int], Path]:
    """The maps that there are, by (dataset, track, seed)."""
    keys = dict.fromkeys((cell.dataset, cell.track, cell.seed) for cell in cells)
    files = {key: map_file(workspace, *key) for key in keys}
    return {key: file for key, file in files.items() if file.exists()}
