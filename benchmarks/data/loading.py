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
    if name == "pydocs":
        dataset = pydocs.load(train_limit, split_seed)
    elif name in paper.RECIPES:
        dataset = paper.load(name, data_dir, columns, train_limit, split_seed)
    elif Path(name).exists():
        dataset = own.load(Path(name), columns, train_limit, split_seed)
    else:
        raise UsageError(
            f"there is no dataset {name!r}: give one of {', '.join(NAMES)}, or the path of a "
            f"folder or of a {' or '.join(READERS)} file."
        )
    limited = parts.limit_asked(dataset.validation, validation_limit, split_seed, "validation")
    return replace(dataset, validation=limited)
