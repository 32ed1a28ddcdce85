"""Labelled texts as files hold them: JSON lines or CSV, and where each row is from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.errors import UsageError
from real_plugin._records import (
    Record,
    delimited_records,
    is_missing,
    json_records,
    quoted,
    read_text,
)


@dataclass(frozen=True)
class Columns:
    """Names of the two columns that are read."""

    text: str = "text"
    label: str = "label"


@dataclass(frozen=True, eq=False)
class Rows:
    """Texts and labels as they were read, and the number of each in its source."""

    source: str
    texts: list[str]
    labels: list[str]
    numbers: list[int]
    unit: str = "line"  #: what the numbers count

    def __len__(self) -> int:
        return len(self.texts)

    def place(self, row: int) -> str:
        return f"{self.source}, {self.unit} {self.numbers[row]}"

    def take(self, positions: Sequence[int]) -> Rows:
        """The rows at `positions`, in that order."""
        return Rows(
            self.source,
            [self.texts[i] for i in positions],
            [self.labels[i] for i in positions],
            [self.numbers[i] for i in positions],
            self.unit,
        )


def read_rows(file: Path, columns: Columns | None = None) -> Rows:
    """Rows of a UTF-8 file of JSON lines or of comma-separated values.

    Texts are strings and may be empty. Labels are strings, integers or booleans, and are
    strings in the answer. In CSV all is read as it is written: "NA" and "123" are texts.
    """
    columns = columns or Columns()
    reader = READERS.get(file.suffix.lower())
    if reader is None:
        raise UsageError(f"{file} is neither {' nor '.join(READERS)}; convert it to one of them.")
    rows = Rows(str(file), [], [], [])
    for number, record in reader(file):
        place = f"{file}, line {number}"
        rows.texts.append(check_text(_value(record, columns.text, place), columns.text, place))
        label = _value(record, columns.label, place)
        rows.labels.append(check_label(label, columns.label, place))
        rows.numbers.append(number)
    if not rows.texts:
        raise UsageError(f"{file} has no rows; give a file with a labelled text a row.")
    return rows


def check_text(value: Any, column: str, place: str) -> str:
    """`value`, if it is a text that can be stored; the empty string is one."""
    if is_missing(value):
        raise UsageError(
            f'{place}: the text ("{column}") is missing; fill it in or remove the row. An empty '
            "string is a text."
        )
    if not isinstance(value, str):
        raise UsageError(
            f'{place}: the text ("{column}") is {value!r}, of type {type(value).__name__}; it '
            "must be a string."
        )
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f'{place}: the text ("{column}") has half of a surrogate pair at character '
            f"{error.start + 1}; write the whole character."
        ) from error
    return value


def check_label(value: Any, column: str, place: str) -> str:
    """`value` as a string, if it is a str, int or bool and not blank."""
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        raise UsageError(
            f'{place}: the label ("{column}") is missing; fill it in or remove the row.'
        )
    if not isinstance(value, str | int):
        raise UsageError(
            f'{place}: the label ("{column}") is {value!r}, of type {type(value).__name__}; it '
            "must be a string, an integer or a boolean."
        )
    return str(value)


def _value(record: Record, column: str, place: str) -> Any:
    if column not in record:
        raise UsageError(
            f'{place} has no column "{column}", only {quoted(record)}; name the columns to read '
            "with --text-column and --label-column."
        )
    return record[column]


# Formats


def _json_records(file: Path) -> Iterator[tuple[int, Record]]:
    return json_records(file, read_text(file))


def _csv_records(file: Path) -> list[tuple[int, Record]]:
    return delimited_records(file, read_text(file))


READERS = {".jsonl": _json_records, ".csv": _csv_records}
