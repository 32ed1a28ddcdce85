"""Peak memory of this process."""

from __future__ import annotations

import contextlib
import resource
import sys
from pathlib import Path


def reset_peak() -> int:
    """Forget the peak so far where the system can (Linux); the peak from now on."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def peak_bytes() -> int:
    """Largest resident set since the last reset, or else since the start."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
