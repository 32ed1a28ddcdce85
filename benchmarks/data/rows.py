"""Labelled texts as files hold them: JSON lines or CSV, and where each row is from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.errors import UsageError

Record = dict[str, Any]
LONGEST_FIELD = 2**31 - 1  #: of CSV; the standard library's own limit is short for texts


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
    if _is_missing(value):
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
    if _is_missing(value) or (isinstance(value, str) and not value.strip()):
        raise UsageError(
            f'{place}: the label ("{column}") is missing; fill it in or remove the row.'
        )
    if not isinstance(value, str | int):
        raise UsageError(
            f'{place}: the label ("{column}") is {value!r}, of type {type(value).__name__}; it '
            "must be a string, an integer or a boolean."
        )
    return str(value)


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _value(record: Record, column: str, place: str) -> Any:
    if column not in record:
        raise UsageError(
            f'{place} has no column "{column}", only {quoted(record)}; name the columns to read '
            "with --text-column and --label-column."
        )
    return record[column]


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, as a list to read."""
    return ", ".join(f'"{name}"' for name in names) or "none"


# Formats


def _json_records(file: Path) -> Iterator[tuple[int, Record]]:
    for number, line in enumerate(_read(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            raise UsageError(
                f"{file}, line {number} is not JSON ({error}); write one object a line."
            ) from error
        if not isinstance(record, dict):
            raise UsageError(
                f"{file}, line {number} is not an object but {line.strip()[:40]!r}; write lines "
                'like {"text": "...", "label": "..."}.'
            )
        yield number, record


def _csv_records(file: Path) -> list[tuple[int, Record]]:
    """Records and the line each starts on: a quoted field may take several lines."""
    reader = csv.reader(io.StringIO(_read(file), newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    last = 0  #: line that ends the row before
    limit = csv.field_size_limit(LONGEST_FIELD)
    try:
        for fields in reader:
            if fields:
                rows.append((last + 1, fields))
            last = reader.line_num
    except csv.Error as error:
        raise UsageError(
            f"{file}, line {last + 1} is not valid CSV ({error}); put texts with commas, quotes "
            'or newlines into "quotes", and double the quotes in them.'
        ) from error
    finally:
        csv.field_size_limit(limit)
    return _with_header(rows, file)


def _with_header(rows: list[tuple[int, list[str]]], file: Path) -> list[tuple[int, Record]]:
    header = rows[0][1] if rows else []
    for line, fields in rows:
        if len(fields) != len(header):
            raise UsageError(
                f"{file}, line {line} has {len(fields)} field(s), but the header has "
                f'{len(header)}; put texts with commas or newlines into "quotes".'
            )
    return [(line, dict(zip(header, fields, strict=True))) for line, fields in rows[1:]]


def _read(file: Path) -> str:
    """The file's text, without a byte order mark."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror}.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(
            f"{file}, line {line} is not UTF-8 (byte 0x{data[error.start]:02x}); save the file "
            "as UTF-8."
        ) from error


READERS = {".jsonl": _json_records, ".csv": _csv_records}
