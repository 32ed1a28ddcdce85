"""Peak memory of this process, or of others."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any


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


class PeakWithoutFiles:
    """Peak memory of some processes together while this is open, the file cache aside.

    Pages of memory-mapped files belong to the resident set but can be dropped at any time.
    The system has no peak without them, so they are looked at every few milliseconds
    (Linux; elsewhere there is no answer).
    """

    INTERVAL = 0.005

    def __init__(self, processes: Sequence[int] = ()) -> None:
        self.processes = list(processes) or [os.getpid()]
        self.before = self.peak = 0

    def __enter__(self) -> PeakWithoutFiles:
        self.before = self.peak = self._now()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()
        self.peak = max(self.peak, self._now())

    def _watch(self) -> None:
        while not self._stop.wait(self.INTERVAL):
            self.peak = max(self.peak, self._now())

    def _now(self) -> int:
        return sum(_anonymous_bytes(process) for process in self.processes)


def _anonymous_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return 0
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024
