"""What can go wrong, each with the exit code that scripts can rely on."""

from __future__ import annotations

from collections.abc import Sequence

from real_plugin._errors import UsageError

#: Conflicts that are listed one by one.
MOST_LISTED = 10


class BusyError(UsageError):
    """Another process is working on the same files."""

    exit_code = 4


class ConflictError(UsageError):
    """Labels that contradict each other, or would be lost; nothing was written."""

    exit_code = 3


def conflicting(lines: Sequence[str], advice: str) -> ConflictError:
    """An error that lists rows with more than one label."""
    listed = "".join(f"\n  {line}" for line in lines[:MOST_LISTED])
    if len(lines) > MOST_LISTED:
        listed += f"\n  and {len(lines) - MOST_LISTED} more"
    count = f"{len(lines)} row{'s' * (len(lines) != 1)}"
    return ConflictError(
        f"{count} with conflicting labels; nothing was written.{listed}\n{advice}"
    )
