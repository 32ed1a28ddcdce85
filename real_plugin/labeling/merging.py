"""Labels that come back: from a labelling tool's export, or a table that was filled in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from real_plugin._errors import UsageError
from real_plugin._files import default_cache
from real_plugin._records import Record
from real_plugin.labeling.columns import Columns, label_columns
from real_plugin.labeling.console import count
from real_plugin.labeling.errors import conflicting
from real_plugin.labeling.label_studio import read_export
from real_plugin.labeling.labels import Given, check_classes, given_by_table
from real_plugin.labeling.tables import (
    DELIMITERS,
    UTF16,
    Table,
    delimited,
    format_of,
    json_lines,
    read_bytes,
    read_table,
    write_bytes,
)

ADVICE = "Remove the wrong ones, and merge again."


def read_given(file: Path, columns: Columns, encoding: str | None = None) -> list[Given]:
    """The labels of an export or a table."""
    if file.suffix.lower() == ".json":
        found = read_export(file, read_bytes(file))
        check_classes([given.label for given in found], str(file))
    else:
        found = given_by_table(read_table(file, encoding), columns)
    return found


def merge_into_file(given: Sequence[Given], file: Path, columns: Columns) -> tuple[int, int]:
    """Append labels to a CSV, TSV or JSON lines file; how many are new, and how many known.

    What is in the file stays as it is, byte by byte. If a label contradicts another one, in
    the file or among the new ones, nothing is written.
    """
    kind = format_of(file)
    if kind not in (*DELIMITERS, "jsonl"):
        raise UsageError(f"{file}: labels are collected in a .csv, .tsv or .jsonl file; name one.")
    with _lock(file):
        there = read_bytes(file) if file.exists() else b""
        if there.startswith(UTF16):
            raise UsageError(f"{file} is in UTF-16; save it as UTF-8 to collect labels in it.")
        table = read_table(file) if there.strip() else None
        known = [] if table is None else given_by_table(table, columns)
        new = _new_labels(known, given)
        if new:
            names = _new_columns(new) if table is None else label_columns(table, columns)
            rows = [_row(item, names) for item in new]
            addition = json_lines(rows) if kind == "jsonl" else _lines(rows, table, kind)
            gap = b"\n" if table is not None and not there.endswith(b"\n") else b""
            write_bytes(file, there + gap + addition.encode())
    return len(new), len(_by_key(given)) - len(new)


def _new_columns(labels: Sequence[Given]) -> Columns:
    """Columns of a new file: ids only if there are any."""
    has_ids = any(item.id is not None for item in labels)
    return Columns(text="text", label="label", id="id" if has_ids else None)


def _lines(rows: Sequence[Record], table: Table | None, kind: str) -> str:
    """Rows under the columns of a table, or with a header of their own."""
    columns = list(rows[0]) if table is None else table.columns
    return delimited(rows, columns, kind, header=table is None)


def _row(item: Given, names: Columns) -> Record:
    """A row of the file; it must have what the file knows rows by."""
    needed, value = (names.text, item.text) if names.id is None else (names.id, item.id)
    if value is None:
        raise UsageError(
            f'{item.place}: the file to merge into knows rows by "{needed}", which is not there; '
            "give labels that have it."
        )
    row: Record = {}
    if names.id is not None:
        row[names.id] = item.id
    row[str(names.label)] = item.label
    if names.text is not None:
        row[names.text] = item.text or ""
    return row


def _new_labels(known: Sequence[Given], given: Sequence[Given]) -> list[Given]:
    """Labels of rows that have none yet, one each; contradictions are an error."""
    settled = _by_key(known)
    new: dict[str, Given] = {}
    conflicts = {}
    for item in given:
        key = _key(item)
        first = settled.get(key) or new.setdefault(key, item)
        if first.label != item.label:
            conflicts[key] = (
                f"{key}: {first.label!r} ({first.place}), {item.label!r} ({item.place})"
            )
    if conflicts:
        raise conflicting(list(conflicts.values()), ADVICE)
    return list(new.values())


def _by_key(given: Sequence[Given]) -> dict[str, Given]:
    return {_key(item): item for item in given}


def _key(item: Given) -> str:
    return str(item.text if item.id is None else item.id)


@contextmanager
def _lock(file: Path) -> Iterator[None]:
    """One merge into a file at a time; the lock itself lies in the user's cache."""
    name = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]
    folder = default_cache() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / f"{name}.lock"):
        yield


def described(n_new: int, n_known: int) -> str:
    known = f", {n_known:,} were known" if n_known else ""
    return f"{count(n_new, 'new label')}{known}"
