"""Records of text files, JSON lines or delimited values, and the line each starts on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from real_plugin._errors import UsageError

Record = dict[str, Any]
LONGEST_FIELD = 2**31 - 1  #: of CSV; the standard library's own limit is short for texts


def quoted(names: Iterable[str]) -> str:
    """Names in quotes, as a list to read."""
    return ", ".join(f'"{name}"' for name in names) or "none"


def is_missing(value: Any) -> bool:
    """Whether `value` is None or NaN."""
    return value is None or value != value


def json_records(file: Path, text: str) -> Iterator[tuple[int, Record]]:
    """The objects of JSON lines."""
    for number, line in enumerate(text.split("\n"), start=1):
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


def delimited_records(file: Path, text: str, delimiter: str = ",") -> list[tuple[int, Record]]:
    """The rows under a header; a quoted field may take several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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


def read_text(file: Path, encoding: str = "utf-8-sig") -> str:
    """The file's text; of UTF-8 without a byte order mark."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror}.") from error
    return decode(file, data, encoding)


def decode(file: Path, data: bytes, encoding: str = "utf-8-sig", advice: str = "") -> str:
    """The bytes of a file as text; an error says on which line they are none."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        name = "UTF-8" if encoding == "utf-8-sig" else encoding
        raise UsageError(
            f"{file}, line {line} is not {name} (byte 0x{data[error.start]:02x}); save the file "
            f"as UTF-8{advice}."
        ) from error
