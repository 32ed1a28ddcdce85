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
    delimited,
    format_of,
    json_lines,
    read_bytes,
    read_table,
    write_bytes,
)

ADVICE = "Remove the wrong ones, and merge again."
#: Columns of a new file of labels.
NEW = Columns(text="text", label="label", id="id")


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
        known = read_given(file, columns) if there.strip() else []
        new = _new_labels(known, given)
        if not new:
            return 0, len(_by_key(given))
        names = _names(file, columns) if there.strip() else NEW
        rows = [_row(item, names) for item in new]
        if kind == "jsonl":
            addition = json_lines(rows)
        else:
            header = read_table(file).columns if there.strip() else ["id", "label", "text"]
            addition = delimited(rows, header, kind, header=not there.strip())
        gap = b"" if not there.strip() or there.endswith(b"\n") else b"\n"
        write_bytes(file, there + gap + addition.encode())
    return len(new), len(_by_key(given)) - len(new)


def _names(file: Path, given: Columns) -> Columns:
    return label_columns(read_table(file), given)


def _row(item: Given, names: Columns) -> Record:
    row: Record = {str(names.label): item.label}
    if names.id is not None:
        if item.id is None:
            raise UsageError(
                f"{item.place}: the label has no id, but the file to merge into knows rows by "
                f'"{names.id}"; give an export with ids.'
            )
        row[names.id] = item.id
    if names.text is not None:
        if item.text is None and names.id is None:
            raise UsageError(
                f"{item.place}: the label has no text, but the file to merge into knows rows by "
                f'"{names.text}"; give an export with texts.'
            )
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
