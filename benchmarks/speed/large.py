"""`python -m benchmarks speed --scale`: queries on pools in files, here and on a cluster."""

from __future__ import annotations

import multiprocessing
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import PeakWithoutFiles
from benchmarks.speed.cases import BATCH, N_CLUSTERS
from benchmarks.speed.pools import N_CLASSES, write_large_pool
from benchmarks.speed.runner import THREAD_VARIABLES

SIZES = [100_000, 1_000_000, 10_000_000]
#: Rows of a partition on the cluster, unless that makes fewer than two a worker.
PARTITION_ROWS = 250_000
#: Seconds that the system's clock of a process advances at a time.
CLOCK = 0.01
ROW = "  {:>12}{:>9}  {:12}{:>9}{:>8}{:>9}{:>10}{:>12}"
OPTIONS: dict[str, Any] = {"n_clusters": N_CLUSTERS, "random_state": 0}


@dataclass(frozen=True)
class Measurement:
    """One pool, in one way."""

    seconds: float  #: wall time, the median of the runs
    cpu_seconds: float  #: of all processes that work, the median of the runs
    peak_bytes: int  #: largest, of all processes that work, the file cache aside
    moved_bytes: int  #: between processes
    indices: list[int]


def run(sizes: list[int], columns: int, folder: Path | None, repeat: int, threads: int) -> None:
    """Measure every size and print a table, the slopes and what was to be reached."""
    print(
        f"Python {platform.python_version()} on {platform.machine()}, {threads} core(s), median "
        f"of {repeat} run(s). Vectors of\n{columns} x float16 and {N_CLASSES} probabilities in "
        f".npy files, b = {BATCH}, K = {N_CLUSTERS}. One process with\n{threads} thread(s); a "
        f"local Dask cluster of {threads} process(es) with one thread each.\n\n"
        + ROW.format(
            "rows", "file MB", "", "seconds", "CPU s", "peak MB", "moved MB", "same picks"
        ),
        flush=True,
    )
    here: dict[int, Measurement] = {}
    for n_rows in sorted(sizes):
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            needed, free = (
                n_rows * (2 * columns + 4 * N_CLASSES),
                shutil.disk_usage(temporary).free,
            )
            if needed > 0.9 * free:
                print(
                    f"  {n_rows:12,}  skipped: needs {needed / 1e9:.1f} GB of disk, there are "
                    f"{free / 1e9:.1f}; --folder chooses another."
                )
                continue
            pool = Path(temporary) / "pool"
            write_large_pool(pool, n_rows, columns)
            here[n_rows] = _in_process(_measure_here, pool, repeat, threads)
            _print_row(n_rows, needed, "one process", here[n_rows], here[n_rows])
            cluster = _in_process(_measure_cluster, pool, repeat, threads)
            _print_row(n_rows, needed, "cluster", cluster, here[n_rows])
    print_slopes(here)


def _in_process(measure: Callable[..., Measurement], pool: Path, repeat: int, threads: int) -> Any:
    """Measure in a new process with so many threads, or workers with one."""
    own = threads if measure is _measure_here else 1
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(own)
    # Not a Pool: its processes may have none of their own.
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(sender, measure, pool, repeat, threads))
    process.start()
    sender.close()
    answer = receiver.recv()
    process.join()
    return answer


def _send(sender: Any, measure: Callable[..., Measurement], *arguments: Any) -> None:
    sender.send(measure(*arguments))


def _measure_here(pool: Path, repeat: int, threads: int) -> Measurement:
    from real_plugin import select

    P, E = (
        np.load(pool / f"{name}.npy", mmap_mode="r") for name in ("probabilities", "embeddings")
    )
    return _measure(lambda: select(P, E, BATCH, **OPTIONS), repeat, PeakWithoutFiles())


def _measure_cluster(pool: Path, repeat: int, workers: int) -> Measurement:
    from real_plugin.distributed import select_partitions

    with _cluster(workers) as client:
        P, E = (as_dask(pool / f"{name}.npy", workers) for name in ("probabilities", "embeddings"))
        query = lambda: select_partitions(P, E, BATCH, **OPTIONS)  # noqa: E731
        peak = PeakWithoutFiles([os.getpid(), *client.run(os.getpid).values()])
        return _measure(query, repeat, peak)


@contextmanager
def _cluster(workers: int) -> Iterator[Any]:
    from distributed import Client, LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=True, memory_limit=0, **options) as cluster, Client(cluster) as c:
        c.run(_import)
        yield c


def _import() -> None:
    import real_plugin.distributed  # noqa: F401


def as_dask(file: Path, workers: int) -> Any:
    """A .npy file that every worker maps for itself, in partitions."""
    import dask
    import dask.array as da

    array = np.load(file, mmap_mode="r")
    n_rows, n_columns = array.shape
    step = max(1, min(PARTITION_ROWS, -(-n_rows // (2 * workers))))
    sizes = [min(step, n_rows - start) for start in range(0, n_rows, step)]
    read = dask.delayed(_slice)
    parts = [
        da.from_delayed(read(file, i * step, size), (size, n_columns), dtype=array.dtype)
        for i, size in enumerate(sizes)
    ]
    return da.concatenate(parts)


def _slice(file: Path, start: int, size: int) -> Any:
    return np.load(file, mmap_mode="r")[start : start + size]


def _measure(query: Callable[[], Any], repeat: int, memory: PeakWithoutFiles) -> Measurement:
    query()  # brings the file into the cache, and all libraries to work
    runs = []
    with memory:
        for _ in range(repeat):
            before = time.perf_counter(), _cpu_seconds(memory.processes), _sent_bytes()
            selection = query()
            after = time.perf_counter(), _cpu_seconds(memory.processes), _sent_bytes()
            runs.append([y - x for x, y in zip(before, after, strict=True)])
    seconds, cpu, moved = (statistics.median(column) for column in zip(*runs, strict=True))
    return Measurement(seconds, cpu, memory.peak, int(moved), selection.indices.tolist())


def _cpu_seconds(processes: list[int]) -> float:
    import psutil

    times = [psutil.Process(process).cpu_times() for process in processes]
    return float(sum(time.user + time.system for time in times))


def _sent_bytes() -> int:
    """Over the loopback interface, by any process; 0 where there is none of that name."""
    import psutil

    counters = psutil.net_io_counters(pernic=True).get("lo")
    return counters.bytes_sent if counters else 0


def _print_row(n_rows: int, size: int, way: str, m: Measurement, reference: Measurement) -> None:
    own = [f"{m.seconds:.2f}", f"{m.cpu_seconds:.2f}", f"{m.peak_bytes / 1e6:,.0f}"]
    if m is not reference:
        is_same = m.indices == reference.indices
        own += [f"{m.moved_bytes / 1e6:.1f}", "yes" if is_same else "NO"]
    print(ROW.format(f"{n_rows:,}", f"{size / 1e6:,.0f}", way, *own, "", "").rstrip(), flush=True)


def print_slopes(here: dict[int, Measurement]) -> None:
    """How time grows with the rows, and the targets, as far as their sizes were measured."""
    sizes = sorted(here)
    for few, many in pairwise(sizes):
        ratio = here[many].seconds / here[few].seconds
        exponent = log(ratio) / log(many / few)
        cpu = here[many].cpu_seconds / max(here[few].cpu_seconds, CLOCK)
        print(
            f"  {few:,} to {many:,} rows: {ratio:.1f} times the time, slope {exponent:.2f}; "
            f"{cpu:.1f} times the CPU seconds"
        )
    small, large = here.get(SIZES[0]), here.get(SIZES[1])
    if small and large:
        ratio = large.seconds / small.seconds
        print(f"  time of 1M / 100k: {ratio:.2f}, at most 12: {_verdict(ratio <= 12)}")
    if large:
        gigabytes = large.peak_bytes / 1e9
        print(f"  peak GB of 1M: {gigabytes:.2f}, under 1.5: {_verdict(gigabytes < 1.5)}")


def _verdict(is_reached: bool) -> str:
    return "reached" if is_reached else "MISSED"
