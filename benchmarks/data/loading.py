"""One function for all datasets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchmarks.data import own, paper, parts, pydocs
from benchmarks.data.dataset import Dataset
from benchmarks.data.rows import READERS, Columns
from benchmarks.errors import UsageError

NAMES = (*paper.RECIPES, "pydocs")


def load(
    name: str,
    *,
    data_dir: Path | None = None,
    text_column: str | None = None,
    label_column: str | None = None,
    train_limit: int | None = None,
    validation_limit: int | None = None,
    split_seed: int = 0,
) -> Dataset:
    """Load a dataset.

    Parameters
    ----------
    name : str
        One of `NAMES`, or the path of a folder, .jsonl or .csv file.
    data_dir : Path, optional
        Folder of one of the paper's datasets, or with a folder for it; without, it comes
        from the Hugging Face hub.
    text_column, label_column : str, default="text" and "label"
        Columns to read from files on this machine.
    train_limit : int, optional
        Most rows of train, drawn at random.
    validation_limit : int, optional
        Most rows of validation, likewise.
    split_seed : int, default=0
        Of everything that is drawn at random here.
    """
    columns = Columns(text_column or "text", label_column or "label")
    dataset = _load_whole_validation(name, data_dir, columns, train_limit, split_seed)
    limited = parts.limit(dataset.validation, validation_limit, split_seed, "validation limit")
    return replace(dataset, validation=limited)


def _load_whole_validation(
    name: str,
    data_dir: Path | None,
    columns: Columns,
    train_limit: int | None,
    split_seed: int,
) -> Dataset:
    if name == "pydocs":
        return pydocs.load(train_limit, split_seed)
    if name in paper.RECIPES:
        return paper.load(name, data_dir, columns, train_limit, split_seed)
    path = Path(name)
    if not path.exists():
        raise UsageError(
            f"there is no dataset {name!r}: give one of {', '.join(NAMES)}, or the path of a "
            f"folder or of a {' or '.join(READERS)} file."
        )
    return own.load(path, columns, train_limit, split_seed)
