"""The pool and its labels, from all files that were given, with a line on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from real_plugin.labeling.columns import Columns, described
from real_plugin.labeling.console import count, say
from real_plugin.labeling.labels import Label, labels_of_pool, match, settle
from real_plugin.labeling.merging import read_given
from real_plugin.labeling.pool import Pool, read_pool


@dataclass(frozen=True)
class Sources:
    """A pool and the labels that are known."""

    pool: Pool
    labels: dict[str, Label]


def read_sources(
    pool_file: Path, label_files: Sequence[Path], given: Columns, encoding: str | None, advice: str
) -> Sources:
    """Read a pool and files of labels, and say what was found."""
    pool = read_pool(pool_file, given, encoding)
    say_pool(pool, given)
    labels = labels_of_pool(pool)
    for file in label_files:
        found = match(read_given(file, given, encoding), pool)
        say(f"{file}: {count(len(found), 'label')}")
        labels += found
    return Sources(pool, settle(labels, advice))


def say_pool(pool: Pool, given: Columns) -> None:
    say(f"{pool.table.file}: {count(len(pool.table), 'row')}; {described(pool.columns, given)}")
    for note in pool.notes:
        say(f"  {note}")
