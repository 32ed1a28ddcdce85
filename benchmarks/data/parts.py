"""From rows to the parts of a dataset: cut, numbered, and no larger than asked for."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from benchmarks.data.dataset import Part
from benchmarks.data.rows import Rows
from benchmarks.errors import UsageError
from real_plugin._records import quoted


def cut(rows: Rows, shares: Mapping[str, float], seed: int) -> tuple[Rows, dict[str, Rows]]:
    """What is left of `rows`, and random parts of the given shares, each in its old order.

    Every class is cut by itself, by as near to the shares as whole rows allow. If these sum
    up to no more than a half, every class keeps a row: the last one of a class is never cut.
    """
    order = _random(seed, "cut").sample(range(len(rows)), len(rows))
    size, rank = Counter(rows.labels), Counter[str]()
    left: list[int] = []
    taken: dict[str, list[int]] = {name: [] for name in shares}
    for row in order:
        label = rows.labels[row]
        position = (rank[label] + 0.5) / size[label]
        rank[label] += 1
        for name, share in shares.items():
            if position < share:
                taken[name].append(row)
                break
            position -= share
        else:
            left.append(row)
    return rows.take(sorted(left)), {name: rows.take(sorted(i)) for name, i in taken.items()}


def limit(part: Part, most: int | None, seed: int, what: str) -> Part:
    """At most `most` random rows, in their old order; `what` is to be drawn by itself."""
    if most is None or len(part) <= most:
        return part
    kept = sorted(_random(seed, what).sample(range(len(part)), most))
    return Part([part.texts[i] for i in kept], part.labels[kept])


def limit_asked(part: Part, most: int | None, seed: int, name: str) -> Part:
    """At most so many rows as the user asked for."""
    if most is not None and most < 1:
        raise UsageError(f"{name} is limited to {most} rows; give a limit of at least 1, or none.")
    return limit(part, most, seed, f"{name} limit")


def number(rows: Mapping[str, Rows]) -> tuple[tuple[str, ...], dict[str, Part]]:
    """The classes, which are those of "train", and all parts with numbers as labels."""
    classes = find_classes(rows["train"].labels)
    if len(classes) < 2:
        raise UsageError(
            f"{rows['train'].source} has one class only, {quoted(classes)}; give texts of at "
            "least two."
        )
    numbers = {label: i for i, label in enumerate(classes)}
    return classes, {name: _numbered(part, numbers) for name, part in rows.items()}


def _numbered(rows: Rows, numbers: Mapping[str, int]) -> Part:
    for row, label in enumerate(rows.labels):
        if label not in numbers:
            raise UsageError(
                f'{rows.place(row)}: train has no row with the label "{label}", only '
                f"{_shortened(numbers)}; correct the label, add such rows to train, or remove "
                "this one."
            )
    labels = np.array([numbers[label] for label in rows.labels], dtype=np.int64)
    return Part(rows.texts, labels)


def _shortened(names: Iterable[str], most: int = 10) -> str:
    names = list(names)
    return quoted(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def find_classes(labels: Iterable[str]) -> tuple[str, ...]:
    """The distinct labels, sorted; by value if all of them are numbers."""
    distinct = sorted(set(labels))
    values = [_as_number(label) for label in distinct]
    if all(map(math.isfinite, values)):
        distinct = [label for _, label in sorted(zip(values, distinct, strict=True))]
    return tuple(distinct)


def _as_number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return math.nan


def _random(seed: int, what: str) -> random.Random:
    """Draws that differ from those for anything else, and are the same everywhere."""
    return random.Random(f"{what} {seed}")
