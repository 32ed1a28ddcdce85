"""Progress bars, with one rule for when they show."""

from __future__ import annotations

from typing import Any

from tqdm import tqdm


def progress_bar(total: int, what: str, unit: str, progress: bool | str, long: int) -> Any:
    """A bar: always (True), never (False), or "auto" for `long` work on a terminal."""
    disable: bool | None = not progress
    if progress == "auto":
        disable = True if total < long else None  # None asks whether there is a terminal
    return tqdm(total=total, desc=what, unit=f" {unit}", disable=disable)
