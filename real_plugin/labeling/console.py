"""What a command says goes to stderr, so that stdout is for data."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def say(line: str = "") -> None:
    print(line, file=sys.stderr, flush=True)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """A number and its noun: "1 row", "12,345 rows"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def shortened(text: str, most: int = 60) -> str:
    """A text on one line, cut off where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def spread(counts: Sequence[tuple[str, int]], most: int = 8) -> str:
    """Counts of classes, the largest first: "World 12, Sports 9 and 3 more"."""
    ordered = sorted(counts, key=lambda pair: (-pair[1], pair[0]))
    listed = ", ".join(f"{name} {number:,}" for name, number in ordered[:most])
    more = len(ordered) - most
    return f"{listed} and {more} more" if more > 0 else listed
