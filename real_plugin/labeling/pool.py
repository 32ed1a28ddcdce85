"""The texts that can be labelled."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from real_plugin._errors import UsageError
from real_plugin._records import is_missing
from real_plugin.labeling.columns import Columns, pool_columns
from real_plugin.labeling.console import count
from real_plugin.labeling.tables import Table, read_table


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows with an id and a text each, and the labels some of them come with."""

    table: Table
    columns: Columns
    ids: list[str]
    texts: list[str]
    rows: list[int]  #: of the table
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def position(self) -> dict[str, int]:
        """Where an id is."""
        return {key: i for i, key in enumerate(self.ids)}

    @cached_property
    def ids_of_text(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key, text in zip(self.ids, self.texts, strict=True):
            found.setdefault(text, []).append(key)
        return found


def read_pool(file: Path, given: Columns, encoding: str | None = None) -> Pool:
    """Read a pool; rows without a text, and texts that come again, are left out with a note."""
    table = read_table(file, encoding)
    columns = pool_columns(table, given)
    pool = Pool(table, columns, [], [], [])
    seen: dict[str, int] = {}
    empty, again = [], []
    for row, record in enumerate(table.records):
        text = check_text(record.get(str(columns.text)), table, row, str(columns.text))
        if text is None:
            empty.append(row)
            continue
        key = text_id(text) if columns.id is None else check_id(table, row, columns.id)
        if key in seen:
            if columns.id is not None:
                raise _duplicated(table, columns.id, key, seen[key], row)
            again.append(row)
            continue
        seen[key] = row
        pool.ids.append(key)
        pool.texts.append(text)
        pool.rows.append(row)
    pool.notes.extend(_left_out(table, empty, "without a text"))
    pool.notes.extend(_left_out(table, again, "with a text that came before"))
    if not pool.ids:
        raise UsageError(f'{file} has no texts in its column "{columns.text}".')
    return pool


def text_id(text: str) -> str:
    """The id of a row that has no other: a hash of its text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def check_text(value: Any, table: Table, row: int, column: str) -> str | None:
    """A text, or None if there is none."""
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return None
    if not isinstance(value, str):
        if isinstance(value, int | float):
            return str(value)
        raise UsageError(
            f'{table.place(row)}: the text (column "{column}") is {value!r}, of type '
            f"{type(value).__name__}; name the column of texts with --text-column."
        )
    return value


def check_id(table: Table, row: int, column: str) -> str:
    """An id as a string; 7 and 7.0 are the same one."""
    value = table.records[row].get(column)
    if is_missing(value) or not str(value).strip():
        raise UsageError(
            f'{table.place(row)}: the id (column "{column}") is missing; fill it in, or name '
            "another column with --id-column (- for none: rows are known by their text)."
        )
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def _duplicated(table: Table, column: str, key: str, first: int, second: int) -> UsageError:
    return UsageError(
        f'{table.place(second)}: the id {key!r} (column "{column}") is that of '
        f"{table.unit} {table.numbers[first]}, too; give every row its own, or name another "
        "column with --id-column (- for none: rows are known by their text)."
    )


def _left_out(table: Table, rows: Sequence[int], what: str) -> list[str]:
    if not rows:
        return []
    return [f"{count(len(rows), 'row')} {what} left out, the first is {table.place(rows[0])}"]
