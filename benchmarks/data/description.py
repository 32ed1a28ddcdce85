"""What is in a dataset, as numbers and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median_low
from typing import Any

import numpy as np

from benchmarks.data.dataset import Dataset
from benchmarks.data.loading import load
from benchmarks.errors import UsageError

#: Keys of `statistics` that are columns of the table, with their headings.
HEADINGS = {
    "name": "dataset",
    "classes": "classes",
    "train": "train",
    "validation": "validation",
    "test": "test",
    "largest_class": "largest class",
    "median_words": "words",
    "repeated_in_train": "repeated",
    "test_in_train": "test in train",
    "warm_up": "warm-up",
    "batch_size": "batch",
    "rounds": "rounds",
    "max_length": "tokens",
    "source": "source",
}
LEFT = ("name", "source", "reason")  #: columns of words
SHARES = ("largest_class",)
Row = Mapping[str, object]


def statistics(dataset: Dataset) -> dict[str, object]:
    """Sizes, balance, length and repetition of a dataset, and how it is used.

    `largest_class` is its share of train, `median_words` of a text of train;
    `repeated_in_train` are the rows of train whose text an earlier one has, and
    `test_in_train` the rows of test whose text is in train.
    """
    train, known = dataset.train, set(dataset.train.texts)
    protocol = dataset.protocol
    return {
        "name": dataset.name,
        "classes": len(dataset.classes),
        **{name: len(part) for name, part in dataset.parts().items()},
        "largest_class": float(np.bincount(train.labels).max() / len(train)),
        "median_words": median_low(len(text.split()) for text in train.texts),
        "repeated_in_train": len(train) - len(known),
        "test_in_train": sum(text in known for text in dataset.test.texts),
        "warm_up": protocol.warm_up,
        "batch_size": protocol.batch_size,
        "rounds": protocol.rounds,
        "max_length": protocol.max_length,
        "source": dataset.source,
    }


def describe(names: Iterable[str], **options: Any) -> str:
    """A table of datasets; what can't be loaded has the reason in its row.

    `options` are those of `load`.
    """
    return table([_row(name, options) for name in names])


def _row(name: str, options: Mapping[str, Any]) -> dict[str, object]:
    try:
        return statistics(load(name, **options))
    except UsageError as error:
        return {"name": name, "reason": str(error).splitlines()[0]}


def table(rows: Sequence[Row]) -> str:
    """Rows of `statistics` as aligned text; one with a "reason" says that instead."""
    lines = [_cells(row) for row in rows]
    full = [HEADINGS, *(line for line in lines if "reason" not in line)]
    widths = {key: max(len(line[key]) for line in full) for key in HEADINGS}
    widths["name"] = max(len(line["name"]) for line in (HEADINGS, *lines))
    return "\n".join(_line(line, widths) for line in (HEADINGS, *lines))


def _cells(row: Row) -> dict[str, str]:
    keys = ("name", "reason") if "reason" in row else HEADINGS
    return {key: _as_text(key, row[key]) for key in keys}


def _line(cells: Mapping[str, str], widths: Mapping[str, int]) -> str:
    aligned = (
        f"{text:{'<' if key in LEFT else '>'}{widths.get(key, 0)}}" for key, text in cells.items()
    )
    return "  ".join(aligned).rstrip()


def _as_text(key: str, value: object) -> str:
    if key in SHARES:
        return f"{value:.1%}"
    return f"{value:,}" if isinstance(value, int) else f"{value}"
