"""Which column holds the texts, the ids and the labels: what was said, or a guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from real_plugin._errors import UsageError
from real_plugin._records import quoted
from real_plugin.labeling.tables import Table, check_columns

#: The name that means "there is no such column".
NONE = "-"
#: Names to look for, the likeliest first.
TEXTS = (
    *("text", "texts", "sentence", "utterance", "message", "content", "body", "comment"),
    *("review", "question", "tweet", "title", "description", "document", "query"),
)
#: Label Studio has an "id" of its own, so tasks carry ours under the first name.
IDS = ("real_plugin_id", "id", "_id", "uid", "uuid", "key", "text_id", "doc_id", "row_id")
LABELS = ("label", "labels")
#: In a file of labels a column of one of these names is one, in a pool it may be anything.
LABELS_OF_A_LABEL_FILE = (
    *LABELS,
    *("class", "category", "target", "intent", "sentiment", "topic", "choice", "y"),
)
#: Rows that are looked at to find the column of the longest texts.
SAMPLE = 200


@dataclass(frozen=True)
class Columns:
    """Names of columns; None where there is none, or where it is to be guessed."""

    text: str | None = None
    label: str | None = None
    id: str | None = None


def pool_columns(table: Table, given: Columns) -> Columns:
    """Columns of a pool: texts are needed, ids and labels may be missing."""
    named = _find(table, given.id, IDS, "--id-column")
    label = _find(table, given.label, LABELS, "--label-column", needed=False)
    text = _find(table, given.text, TEXTS, "--text-column")
    return Columns(text or _longest(table, {named, label}), label, named)


def label_columns(table: Table, given: Columns) -> Columns:
    """Columns of a file of labels: a label, and an id or a text to find its row by."""
    named = _find(table, given.id, IDS, "--id-column", needed=False)
    text = _find(table, given.text, TEXTS, "--text-column", needed=False)
    label = _find(table, given.label, LABELS_OF_A_LABEL_FILE, "--label-column")
    rest = [name for name in table.columns if name not in (named, text)]
    if label is None and len(rest) == 1 and (named or text):
        label = rest[0]
    if label is None:
        raise UsageError(
            f"{table.file} has no column of labels, only {quoted(table.columns)}; name it with "
            "--label-column."
        )
    if named is None and text is None:
        raise UsageError(
            f"{table.file} has neither a column of ids nor one of texts, only "
            f"{quoted(table.columns)}; name one with --id-column or --text-column, so that the "
            "labels can be matched with the pool."
        )
    return Columns(text, label, named)


def described(columns: Columns, given: Columns) -> str:
    """The columns in words, and which of them are guesses."""
    parts = []
    for what in ("text", "id", "label"):
        name, option = getattr(columns, what), getattr(given, what)
        if name is not None:
            guess = "" if option == name else " (guessed)"
            parts.append(f'{what}s in "{name}"{guess}')
    if columns.id is None:
        parts.append("no ids: rows are known by their text")
    return ", ".join(parts)


def _find(
    table: Table, given: str | None, names: Sequence[str], option: str, needed: bool = True
) -> str | None:
    """The given column, else the first of `names` that the table has, whatever its case.

    A given column that isn't there is an error, unless it isn't `needed` here: the same
    options are for the pool and for files of labels.
    """
    if given == NONE:
        return None
    if given is not None and (needed or given in table.columns):
        return check_columns(table, given, option)
    by_name = {name.strip().lower(): name for name in reversed(table.columns)}
    return next((by_name[name] for name in names if name in by_name), None)


def _longest(table: Table, others: set[str | None]) -> str:
    """The column with the longest strings."""
    sample = table.records[:SAMPLE]
    lengths = {
        name: sum(len(value) for record in sample if isinstance(value := record.get(name), str))
        for name in table.columns
        if name not in others
    }
    if not any(lengths.values()):
        raise UsageError(
            f"{table.file} has no column of texts, only {quoted(table.columns)}; name it with "
            "--text-column."
        )
    return max(lengths, key=lambda name: lengths[name])
