"""Labels as files give them, matched with the rows of a pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from real_plugin._errors import UsageError
from real_plugin._records import is_missing
from real_plugin.labeling.columns import Columns, label_columns
from real_plugin.labeling.console import count
from real_plugin.labeling.errors import conflicting
from real_plugin.labeling.pool import Pool, check_id, check_text, text_id
from real_plugin.labeling.tables import Table

#: More classes than this are no classes.
MOST_CLASSES = 1000
#: With at least so many labels, so large a share of different ones is no set of classes.
MANY_LABELS, MOST_DISTINCT = 50, 0.9


@dataclass(frozen=True)
class Label:
    """A label, the text it is for, and where both are from."""

    id: str
    label: str
    text: str
    place: str


@dataclass(frozen=True)
class Given:
    """A label as a file gives it: for an id, or for a text."""

    label: str
    place: str
    id: str | None = None
    text: str | None = None


def given_by_table(table: Table, given: Columns) -> list[Given]:
    """The labels of a file; rows whose label is empty are not labelled yet."""
    columns = label_columns(table, given)
    found = []
    for row, record in enumerate(table.records):
        place = table.place(row)
        label = check_label(record.get(str(columns.label)), str(columns.label), place)
        if label is None:
            continue
        key = None if columns.id is None else check_id(table, row, columns.id)
        text = None
        if columns.text is not None:
            text = check_text(record.get(columns.text), table, row, columns.text)
        if key is None and text is None:
            raise UsageError(f'{place}: the text (column "{columns.text}") is missing.')
        found.append(Given(label, place, key, text))
    check_classes([given.label for given in found], f'{table.file}, column "{columns.label}"')
    return found


def labels_of_pool(pool: Pool) -> list[Label]:
    """The labels that the pool's own file has."""
    column = pool.columns.label
    if column is None:
        return []
    found = []
    for key, text, row in zip(pool.ids, pool.texts, pool.rows, strict=True):
        place = pool.table.place(row)
        label = check_label(pool.table.records[row].get(column), column, place)
        if label is not None:
            found.append(Label(key, label, text, place))
    check_classes([label.label for label in found], f'{pool.table.file}, column "{column}"')
    return found


def check_label(value: Any, column: str, place: str) -> str | None:
    """A label as a string, or None if there is none yet."""
    if isinstance(value, list | tuple | dict | set):
        raise UsageError(
            f'{place}: the label (column "{column}") is {value!r}; a text has one label here, '
            "texts with several are not supported."
        )
    if is_missing(value):
        return None
    if isinstance(value, float):
        if not value.is_integer():
            raise UsageError(
                f'{place}: the label (column "{column}") is the number {value!r}, which is no '
                "class; name the column of labels with --label-column."
            )
        value = int(value)
    return str(value).strip() or None


def check_classes(labels: list[str], where: str) -> None:
    """Raise an error if these can't be classes."""
    n_classes = len(set(labels))
    is_unique = len(labels) >= MANY_LABELS and n_classes > MOST_DISTINCT * len(labels)
    if n_classes > MOST_CLASSES or is_unique:
        shown = ", ".join(repr(label) for label in list(dict.fromkeys(labels))[:3])
        raise UsageError(
            f"{where}: {count(len(labels), 'label')} of {n_classes:,} classes, such as {shown}; "
            "that is probably not the column of labels. Name it with --label-column."
        )


def match(given: Iterable[Given], pool: Pool) -> list[Label]:
    """Find the rows that labels are for, by id or else by text.

    A text that is not in the pool is a labelled text all the same. An id that is not there
    is an error: nothing is known of its text.
    """
    found, unknown = [], []
    for item in given:
        if item.id is not None:
            position = pool.position.get(item.id)
            if position is None:
                unknown.append(item)
                continue
            found.append(Label(item.id, item.label, pool.texts[position], item.place))
        else:
            text = str(item.text)
            keys = pool.ids_of_text.get(text) or [text_id(text)]
            found += [Label(key, item.label, text, item.place) for key in keys]
    if unknown:
        first = unknown[0]
        raise UsageError(
            f"{first.place}: the id {first.id!r} is not in {pool.table.file}"
            + (f", nor are the ids of {count(len(unknown) - 1, 'other row')}" * (len(unknown) > 1))
            + "; give the pool that the labels are for, or its id column with --id-column."
        )
    return found


def settle(labels: Iterable[Label], advice: str) -> dict[str, Label]:
    """One label for every id; contradictions are an error that lists them all."""
    settled: dict[str, Label] = {}
    conflicts = {}
    for label in labels:
        first = settled.setdefault(label.id, label)
        if first.label != label.label:
            conflicts[label.id] = (
                f"{label.id}: {first.label!r} ({first.place}), {label.label!r} ({label.place})"
            )
    if conflicts:
        raise conflicting(list(conflicts.values()), advice)
    return settled


def class_counts(labels: Iterable[Label]) -> list[tuple[str, int]]:
    return sorted(Counter(label.label for label in labels).items())
