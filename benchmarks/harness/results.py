"""The results of a run as one table: a row a round."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from filelock import FileLock

from benchmarks.errors import UsageError
from benchmarks.harness.cells import Cell, CellFolder
from benchmarks.harness.files import read_json, write_file, write_folder
from benchmarks.harness.seeds import role_seed
from benchmarks.harness.workspace import Workspace

#: Every column and what it means, in the order of the table.
COLUMNS = {
    "dataset": "name of the dataset",
    "track": "`frozen` or `finetune`",
    "strategy": "name of the strategy, with its options; `full` is the model with all labels",
    "batch_size": "labels a round (0 for `full`)",
    "seed": "the seed of the cell, which those of the roles come from",
    "round": "0 is the warm-up",
    "n_labelled": "labels that the model of this round was trained on",
    "accuracy": "on the test part, after training on this round's labels",
    "macro_f1": "mean over the classes of F1, on the test part",
    "batch_error_rate": "share of this round's batch that the model before it got wrong, ε(Q)",
    "pool_error_rate": "share of the whole unlabelled pool that it got wrong, ε(D_u)",
    "lift": "batch_error_rate / pool_error_rate",
    "first_step_loss": "mean cross entropy of the batch before the model learns of it, ℓ₀",
    "divergence": "Jensen-Shannon divergence of the batch and the boundary errors on the t-SNE "
    "grid, in bits; with `--divergence` only",
    "n_clusters": "K of REAL and its variants",
    "inertia": "of their clusters",
    "query_seconds": "wall time of the strategy alone",
    "inference_seconds": "wall time of scoring the pool, once for all that needs it",
    "training_seconds": "wall time of training",
    "peak_memory_mb": "by how much the query raised the peak memory of the process",
    "split_seed": "seed of the samples and cuts of the data",
    "warm_up_seed": "seed of the warm-up set",
    "model_seed": "seed of the model's first weights, dropout and batches",
    "strategy_seed": "seed of this round's query",
    "picks": "rows of the train part that were picked, in order of pick",
    "budgets": "picks that every cluster of REAL was given",
    "encoder": "name of the encoder; `config.json` has the hash of its weights",
    "versions": "of the libraries that this round ran with",
}
#: The columns that tell a cell.
CELL = ["dataset", "track", "strategy", "batch_size", "seed"]
#: Columns of words and of lists.
NOT_NUMBERS = ["dataset", "track", "strategy", "picks", "budgets", "encoder", "versions"]
#: What follows from the cell and the configuration.
DERIVED = (*CELL, "split_seed", "warm_up_seed", "model_seed", "strategy_seed", "encoder")
#: What the record of a round has.
RECORDED = [column for column in COLUMNS if column not in DERIVED]
#: Columns that differ when the same run is repeated; all others are the same to the bit.
MEASURED = ("query_seconds", "inference_seconds", "training_seconds", "peak_memory_mb")


def collect(workspace: Workspace) -> pd.DataFrame:
    """All finished rounds that are on disk, in a fixed order."""
    config = workspace.config()
    if not config:
        raise UsageError(
            f"{workspace.root} holds no results of a run; give the --out directory of "
            "`python -m benchmarks run`."
        )
    rows = [row for cell in cells_on_disk(workspace) for row in _rows(workspace, cell, config)]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    for column in frame.columns.difference(NOT_NUMBERS):  # also where nothing was measured
        frame[column] = pd.to_numeric(frame[column])
    frame["budgets"] = frame["budgets"].astype(object).where(frame["budgets"].notna(), None)
    return frame.sort_values([*CELL, "round"], ignore_index=True)


def write(workspace: Workspace) -> pd.DataFrame:
    """Collect, and write the table beside the cells."""
    frame = collect(workspace)
    write_file(workspace.results_file, lambda file: frame.to_parquet(file, index=False))
    return frame


def unpack(workspace: Workspace) -> None:
    """Put the finished cells of the table back where a directory has no cells.

    So it can be copied, or kept in a repository, without them: what is finished counts as
    such.
    """
    if not workspace.results_file.exists() or workspace.cells.exists():
        return
    with FileLock(workspace.root / ".unpack.lock"):
        if not workspace.cells.exists():
            write_folder(workspace.cells, lambda folder: _write_cells(workspace, folder))


def _write_cells(workspace: Workspace, folder: Path) -> None:
    budgets = {name: entry["budget"] for name, entry in workspace.config()["datasets"].items()}
    frame = pd.read_parquet(workspace.results_file)
    for (dataset, track, strategy, size, seed), rows in frame.groupby(CELL):
        n_rounds = budgets[dataset] // size if size else 0
        cell = Cell(dataset, track, strategy, size, n_rounds, seed)
        if len(rows) == n_rounds + 1:
            cell_folder = CellFolder(folder / cell.path, cell)
            cell_folder.describe()
            for record in rows[RECORDED].to_dict("records"):
                cell_folder.keep({key: _plain(value) for key, value in record.items()})


def _plain(value: Any) -> Any:
    """A value of the table as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, str) or not pd.isna(value):
        return value
    return None


def cells_on_disk(workspace: Workspace) -> list[Cell]:
    """All cells that were ever begun in a directory."""
    files = workspace.cells.glob("*/*/*/*/*/cell.json")
    return [Cell(**read_json(file)) for file in sorted(files)]


def _rows(workspace: Workspace, cell: Cell, config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for record in workspace.cell(cell).rounds():
        number = record["round"]
        yield {
            "dataset": cell.dataset,
            "track": cell.track,
            "strategy": cell.strategy,
            "batch_size": cell.batch_size,
            "seed": cell.seed,
            "split_seed": config["datasets"][cell.dataset]["split_seed"],
            "warm_up_seed": role_seed(cell.seed, "warm-up"),
            "model_seed": role_seed(cell.seed, "model"),
            "strategy_seed": role_seed(cell.seed, "strategy", number) if number else None,
            "encoder": config["encoder"]["name"],
            **record,
        }
