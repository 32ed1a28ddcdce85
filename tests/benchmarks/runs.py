"""Looks at the directory of a run from outside."""

import time

import pandas as pd

from benchmarks.harness.results import MEASURED


def comparable(out):
    return pd.read_parquet(out / "results.parquet").drop(columns=list(MEASURED))


def rounds(out, strategy="*", number="*"):
    return list(out.glob(f"cells/*/*/{strategy}/*/*/round-{number}.json"))


def wait_for(out, process, **which):
    """Until such a round is on disk, or the process has ended."""
    deadline = time.monotonic() + 300
    while not rounds(out, **which) and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
