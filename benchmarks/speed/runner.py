"""Runs every case in a process of its own, and prints what came out, as ratios."""

from __future__ import annotations

import multiprocessing
import os
import platform
import statistics
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.memory import peak_bytes, reset_peak
from benchmarks.speed.pools import Pool, generated_vectors, write_pool

#: A case that has taken this many CPU seconds is not run again.
LONG = 10.0
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Measurement:
    """One case on one pool."""

    cpu_seconds: float  #: median over the runs
    extra_bytes: int  #: by how much the first run raised the peak memory of the process
    inertia: float  #: NaN where a query doesn't tell


def run(rows: list[int], columns: int, embeddings: list[Path], repeat: int, threads: int) -> None:
    """Measure every case on every pool and print a table for each."""
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(threads)  # the measured processes start with it
    print(
        f"Python {platform.python_version()} on {platform.machine()}, {threads} thread(s), "
        f"median of {repeat} run(s), or fewer of slow cases, each case in its own process."
    )
    for name, vectors, is_real in _pools(rows, columns, embeddings):
        with tempfile.TemporaryDirectory() as folder:
            pool = write_pool(name, vectors, Path(folder) / "pool")
            (n_rows, n_columns), n_bytes = vectors.shape, vectors.nbytes
            del vectors
            print(f"\n{name}, {n_rows:,} x {n_columns}, {n_bytes / 1e6:,.0f} MB")
            results = _measure_all(pool, repeat)
            _print_table(results)
            _print_targets(results, n_bytes, is_large=n_rows >= 100_000, is_real=is_real)


def _pools(
    rows: list[int], columns: int, files: list[Path]
) -> Iterator[tuple[str, NDArray[np.float32], bool]]:
    for n_rows in rows:
        yield "generated vectors", generated_vectors(n_rows, columns), False
    for file in files:
        yield file.stem, np.load(file).astype(np.float32, copy=False), True


def _measure_all(pool: Pool, repeat: int) -> dict[str, Measurement]:
    from benchmarks.speed.cases import CASES

    results = {}
    for name in CASES:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            results[name] = process.apply(_measure, (name, pool, repeat))
    return results


def _measure(name: str, pool: Pool, repeat: int) -> Measurement:
    from benchmarks.speed.cases import CASES

    warnings.simplefilter("ignore")
    query = CASES[name](pool)
    before = reset_peak()
    seconds, extra, answer = [], 0, None
    for number in range(repeat):
        start = time.process_time()
        answer = query()
        seconds.append(time.process_time() - start)
        if number == 0:
            extra = peak_bytes() - before
        if sum(seconds) > LONG:
            break
    inertia = answer if isinstance(answer, float) else getattr(answer, "inertia", np.nan)
    return Measurement(statistics.median(seconds), extra, float(inertia))


def _print_table(results: dict[str, Measurement]) -> None:
    real, lloyd = results["REAL"], results["full Lloyd"]
    print(f"  {'':28}{'CPU s':>8}{'x REAL':>9}{'extra MB':>10}{'inertia / Lloyd':>17}")
    for name, m in results.items():
        inertia = "" if np.isnan(m.inertia) else f"{m.inertia / lloyd.inertia:.4f}"
        print(
            f"  {name:28}{m.cpu_seconds:8.3f}{m.cpu_seconds / real.cpu_seconds:9.1f}"
            f"{m.extra_bytes / 1e6:10.0f}{inertia:>17}"
        )


def _print_targets(
    results: dict[str, Measurement], n_bytes: int, is_large: bool, is_real: bool
) -> None:
    """The ratios to reach: time and memory on large pools, inertia on real vectors."""
    real, lloyd = results["REAL"], results["full Lloyd"]

    def seconds(one: str, other: str) -> float:
        return results[one].cpu_seconds / results[other].cpu_seconds

    ratios = []
    if is_large:
        theirs = "CPU seconds / scikit-activeml's"
        ratios += [
            ("REAL: CPU seconds / published REAL", seconds("REAL", "published REAL"), 0.25),
            ("REAL: extra memory / embeddings", real.extra_bytes / n_bytes, 0.25),
            (f"BADGE: {theirs}", seconds("BADGE", "skactiveml: Badge"), 1.0),
            (f"CAL: {theirs}", seconds("CAL", "skactiveml: ContrastiveAL"), 1.0),
        ]
    if is_real:
        ratios += [("REAL: inertia / full Lloyd", real.inertia / lloyd.inertia, 1.02)]
    for what, ratio, most in ratios:
        verdict = "reached" if ratio <= most else "MISSED"
        print(f"  {what:39}{ratio:6.3f}   at most {most}: {verdict}")
