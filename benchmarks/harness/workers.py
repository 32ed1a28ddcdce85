"""Where cells run: in this process, in processes beside it, or on a Dask cluster."""

from __future__ import annotations

import importlib.util
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from benchmarks.errors import UsageError
from benchmarks.harness.cell_run import Job, OnRound, run_cell
from benchmarks.harness.cells import Cell
from benchmarks.harness.workspace import Workspace

#: Name of the events in which workers tell of finished rounds.
TOPIC = "real-benchmark-rounds"
#: Seconds until a cell that another process holds is tried again.
PATIENCE = 1.0
#: Dask has its workers give freed memory back to the system at once, and training asks for it
#: again in every step: that would take half of its time.
KEEP_MEMORY = {"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}


def run_here(job: Job, cells: Sequence[Cell], on_round: OnRound) -> None:
    """Run cells one after the other; those of other processes again when these are done."""
    waiting = deque(cells)
    n_refused = 0
    while waiting:
        cell = waiting.popleft()
        state = run_cell(job, cell, on_round)
        if state == "running":
            waiting.append(cell)
            n_refused += 1
            if n_refused >= len(waiting):  # nothing else is left to do
                time.sleep(PATIENCE)
                n_refused = 0
        else:
            n_refused = 0


def run_on_cluster(client: Any, job: Job, cells: Sequence[Cell], on_round: OnRound) -> None:
    """Run cells on the workers of a Dask cluster.

    If a worker dies, the cluster gives its cell to another, which goes on from the last
    round on disk. A cell whose workers die again and again fails.
    """
    from distributed import KilledWorker, as_completed

    client.subscribe_topic(TOPIC, lambda event: on_round(*_told(event)))
    try:
        cell_of = {client.submit(_on_worker, job, cell, pure=False): cell for cell in cells}
        finished = as_completed(list(cell_of))
        for future in finished:
            cell = cell_of.pop(future)
            try:
                state = future.result()
            except KilledWorker as error:
                _record_deaths(job, cell, error)
                continue
            if state == "running":
                again = client.submit(_on_worker, job, cell, PATIENCE, pure=False)
                cell_of[again] = cell
                finished.add(again)
    finally:
        client.unsubscribe_topic(TOPIC)


def _on_worker(job: Job, cell: Cell, patience: float = 0.0) -> str:
    from distributed import get_worker

    time.sleep(patience)
    worker = get_worker()

    def tell(cell: Cell, record: dict[str, Any]) -> None:
        told = {key: record[key] for key in ("round", "n_labelled", "accuracy")}
        worker.log_event(TOPIC, {"cell": asdict(cell), "record": told})

    return run_cell(job, cell, tell)


def _told(event: tuple[float, dict[str, Any]]) -> tuple[Cell, dict[str, Any]]:
    _, message = event
    return Cell(**message["cell"]), message["record"]


def _record_deaths(job: Job, cell: Cell, error: Exception) -> None:
    message = "The processes that ran this cell died (killed, or out of memory)."
    Workspace(job.root).cell(cell).record_error(message, str(error))


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Any]:
    """Processes on this machine, each of which runs one cell at a time."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set(KEEP_MEMORY),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=":0",  # any free port: two runs may share a machine
            silence_logs="ERROR",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def connect(address: str, job: Job) -> Iterator[Any]:
    """A cluster that is running already."""
    from distributed import Client

    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--scheduler {address} can't be reached ({error}); start one with `dask scheduler` "
            "and give its address, such as tcp://10.0.0.1:8786."
        ) from error
    with client:
        _check_workers(client, job)
        yield client


def _check_workers(client: Any, job: Job) -> None:
    problems = client.run(_problem, job)
    if not problems:
        raise UsageError("The cluster has no workers; start some with `dask worker ADDRESS`.")
    lines = "\n".join(f"  {address}: {text}" for address, text in problems.items() if text)
    if lines:
        raise UsageError(f"Some workers can't run cells:\n{lines}")


def _problem(job: Job) -> str:
    """Why this process can't run cells, or nothing."""
    if importlib.util.find_spec("benchmarks") is None:
        return "it can't import `benchmarks`; start it with PYTHONPATH set to the checkout"
    if not Workspace(job.root).config_file.exists():
        return f"it doesn't see {job.root}; --out must be a directory that all machines share"
    return ""
