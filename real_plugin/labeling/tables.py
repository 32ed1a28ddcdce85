"""Tables in files: CSV, TSV, JSON lines, Parquet and Excel, in and out.

Every row knows where it is from, so that errors can name the file and the line.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from real_plugin._errors import UsageError
from real_plugin._files import replace_file
from real_plugin._records import Record, decode, delimited_records, json_records, quoted

ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
FORMATS = ("csv", "tsv", "jsonl", "parquet", "xlsx")
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ADVICE = ", or name its encoding, such as --encoding latin-1"
#: A file that was changed this many seconds ago may be in the middle of being written.
RECENT, PAUSE = 1.0, 0.2


@dataclass(frozen=True, eq=False)
class Table:
    """Records of a file, and the number of each in it."""

    file: str
    columns: list[str]
    records: list[Record]
    numbers: list[int]
    unit: str  #: what the numbers count, "line" or "row"

    def __len__(self) -> int:
        return len(self.records)

    def place(self, row: int) -> str:
        return f"{self.file}, {self.unit} {self.numbers[row]}"


def format_of(file: Path) -> str:
    """The format that a file's name says it has."""
    try:
        return ENDINGS[file.suffix.lower()]
    except KeyError:
        raise UsageError(
            f"{file}: the name doesn't end in one of {', '.join(ENDINGS)}; rename or convert it."
        ) from None


def read_table(file: Path, encoding: str | None = None) -> Table:
    """Read a table; `encoding` is that of a text file, UTF-8 or a byte order mark by default."""
    kind = format_of(file)
    data = read_bytes(file)
    if not data.strip():
        raise UsageError(f"{file} is empty; give a file with a header and rows.")
    if kind in DELIMITERS:
        text = decode_text(file, data, encoding)
        numbered = _complete(file, data, lambda: delimited_records(file, text, DELIMITERS[kind]))
        unit = "line"
    elif kind == "jsonl":
        text = decode_text(file, data, encoding)
        numbered = _complete(file, data, lambda: list(json_records(file, text)))
        unit = "line"
    else:
        numbered = _binary_records(file, data, kind)
        unit = "row"
    if not numbered:
        raise UsageError(f"{file} has no rows under its header; give a file with rows.")
    records = [record for _, record in numbered]
    columns = list(dict.fromkeys(name for record in records for name in record))
    return Table(str(file), columns, records, [number for number, _ in numbered], unit)


def read_bytes(file: Path) -> bytes:
    """The bytes of a file that nobody is writing to meanwhile."""
    try:
        before = file.stat()
        if time.time() - before.st_mtime < RECENT:
            time.sleep(PAUSE)
        data = file.read_bytes()
        after = file.stat()
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror}.") from error
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise UsageError(f"{file} is being written to; wait until that is done and try again.")
    return data


def decode_text(file: Path, data: bytes, encoding: str | None) -> str:
    if encoding is None:
        encoding = "utf-16" if data.startswith(UTF16) else "utf-8-sig"
    try:
        return decode(file, data, encoding, ADVICE)
    except LookupError:
        raise UsageError(
            f"--encoding {encoding} is not known; give one that Python has, such as utf-8, "
            "utf-16, latin-1 or cp1252."
        ) from None


def _complete(file: Path, data: bytes, parse: Any) -> list[tuple[int, Record]]:
    """What `parse` gives; its error says more if the file ends in the middle of a line."""
    try:
        numbered: list[tuple[int, Record]] = parse()
    except UsageError as error:
        if data.endswith((b"\n", b"\r", b"\n\0")):
            raise
        raise UsageError(
            f"{error} The file's last line has no end: perhaps it is still being written."
        ) from error
    return numbered


def _binary_records(file: Path, data: bytes, kind: str) -> list[tuple[int, Record]]:
    try:
        return _parquet_records(data) if kind == "parquet" else _excel_records(file, data)
    except UsageError:
        raise
    except Exception as error:  # whatever the libraries say of a file that is none of theirs
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(
            f"{file} is not a whole .{kind} file ({reason}); write it again, or wait until "
            "that is done."
        ) from error


def _parquet_records(data: bytes) -> list[tuple[int, Record]]:
    from pyarrow import parquet

    return list(enumerate(parquet.read_table(io.BytesIO(data)).to_pylist(), start=1))


def _excel_records(file: Path, data: bytes) -> list[tuple[int, Record]]:
    """The first sheet, its first row being the header; empty rows are left out."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    rows = enumerate(book.worksheets[0].iter_rows(values_only=True), start=1)
    _, header = next(rows, (1, ()))
    names = ["" if name is None else str(name) for name in header]
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        raise UsageError(f"{file}, row 1: two columns have the same name; rename one.")
    return [
        (number, {name: value for name, value in zip(names, row, strict=False) if name})
        for number, row in rows
        if any(value is not None for value in row)
    ]


# Writing


def write_table(out: Path | None, rows: Sequence[Record], kind: str) -> None:
    """Write rows as a whole file, or to stdout if `out` is None."""
    data = _as_bytes(rows, kind)
    write_bytes(out, data)


def write_bytes(out: Path | None, data: bytes) -> None:
    if out is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    elif out.exists() and not out.is_file():
        with out.open("wb") as stream:  # a pipe or a device
            stream.write(data)
    else:
        replace_file(out, lambda temporary: _write(temporary, data))


def _write(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def _as_bytes(rows: Sequence[Record], kind: str) -> bytes:
    if kind in DELIMITERS:
        return delimited(rows, list(rows[0]), kind, header=True).encode()
    if kind == "jsonl":
        return json_lines(rows).encode()
    return _parquet(rows) if kind == "parquet" else _excel(rows)


def delimited(rows: Iterable[Record], columns: Sequence[str], kind: str, header: bool) -> str:
    """Rows as CSV or TSV; what a row lacks is empty."""
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(
        stream,
        columns,
        restval="",
        extrasaction="ignore",
        delimiter=DELIMITERS[kind],
        lineterminator="\n",
    )
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def json_lines(rows: Iterable[Record]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _parquet(rows: Sequence[Record]) -> bytes:
    import pyarrow
    from pyarrow import parquet

    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), stream)
    return stream.getvalue()


def _excel(rows: Sequence[Record]) -> bytes:
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    sheet = book.create_sheet("batch")

    def cell(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("\ufffd", value))
        made.data_type = "s"  # a text that starts with "=" is no formula
        return made

    columns = list(rows[0])
    sheet.append([cell(name) for name in columns])
    for row in rows:
        sheet.append([cell(row[name]) for name in columns])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def output_file(name: str) -> Path | None:
    """The file behind ``-o``; None stands for stdout, "-"."""
    if name == "-":
        return None
    file = Path(name)
    if file.is_dir():
        raise UsageError(f"{file} is a folder; give the name of a file to write.")
    if not os.access(file.parent, os.W_OK):
        raise UsageError(f"{file} can't be written: {file.parent} is no folder to write to.")
    return file


def check_columns(table: Table, wanted: str, option: str) -> str:
    """`wanted`, if the table has a column of that name."""
    if wanted not in table.columns:
        raise UsageError(
            f'{table.file} has no column "{wanted}", only {quoted(table.columns)}; name one of '
            f"them with {option}."
        )
    return wanted
