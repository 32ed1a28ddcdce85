"""`python -m benchmarks run`: plan the cells, do what is missing, write the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data import statistics
from benchmarks.harness import first_models, results
from benchmarks.harness.cell_run import Job, OnRound
from benchmarks.harness.cells import Cell, State
from benchmarks.harness.plan import Options, Plan, make_plan
from benchmarks.harness.progress import Progress
from benchmarks.harness.threads import cores
from benchmarks.harness.workers import connect, local_cluster, run_here, run_on_cluster
from benchmarks.harness.workspace import RESULTS_FILE, Workspace, check_same
from benchmarks.tracks.encodings import encode

INTERRUPTED = 130


def run(
    options: Options,
    out: Path,
    cache: Path,
    jobs: int | None = None,
    threads: int | None = None,
    scheduler: str | None = None,
    divergence: bool = False,
    dry_run: bool = False,
) -> int:
    """Run a grid of cells.

    Returns the exit code: 0 if all cells are done, 1 if some failed, 130 if interrupted.
    """
    plan = make_plan(options)
    workspace = Workspace(out.resolve())
    check_same(workspace.config(), plan.config, workspace.root)
    results.unpack(workspace)
    states = {cell: workspace.cell(cell).state() for cell in plan.cells}
    if dry_run:
        print_states(states)
        return 0
    workspace.configure(plan.config, plan.locations)
    for dataset in plan.datasets:
        workspace.add_dataset(dataset, statistics(dataset))
    todo = [cell for cell, state in states.items() if state.name != "done"]
    n_jobs = min(jobs or _default_jobs(plan.cells), max(1, len(todo)))
    n_threads = threads or (1 if scheduler else max(1, cores() // n_jobs))
    job = Job(workspace.root, cache.resolve(), n_threads, divergence)
    progress = Progress(states)
    is_interrupted = False
    try:
        if todo and scheduler is None:
            encode_texts(plan, job)
        on_round = first_models.removing(workspace, todo, progress.round_done)
        _work(job, todo, n_jobs, scheduler, on_round)
    except KeyboardInterrupt:
        is_interrupted = True
    finally:
        progress.close()
    results.write(workspace)
    states = {cell: workspace.cell(cell).state() for cell in plan.cells}
    first_models.remove_unneeded(workspace, states)
    print_summary(states, out, is_interrupted)
    if is_interrupted:
        return INTERRUPTED
    return 0 if all(state.name == "done" for state in states.values()) else 1


def _default_jobs(cells: Sequence[Cell]) -> int:
    """As many as cores for frozen cells, which use one thread; else one, which uses all."""
    return cores() if all(cell.track == "frozen" for cell in cells) else 1


def _work(
    job: Job, cells: list[Cell], n_jobs: int, scheduler: str | None, on_round: OnRound
) -> None:
    if not cells:
        return
    if scheduler is None and n_jobs == 1:
        run_here(job, cells, on_round)
        return
    with connect(scheduler, job) if scheduler else local_cluster(n_jobs) as client:
        run_on_cluster(client, job, cells, on_round)


def encode_texts(plan: Plan, job: Job) -> None:
    """Fill the cache for the track `frozen` with all threads, before the cells divide them."""
    if not any(cell.track == "frozen" for cell in plan.cells):
        return
    encoder, sha256 = plan.locations["encoder"], plan.config["encoder"]["sha256"]
    for dataset in plan.datasets:
        max_length = plan.config["datasets"][dataset.name]["protocol"]["max_length"]
        for part in (dataset.train, dataset.test):
            encode(part.texts, encoder, sha256, max_length, job.cache)


def print_states(states: dict[Cell, State]) -> None:
    """A line a cell: what it is, how far it is, and what went wrong."""
    width = max(len(str(cell)) for cell in states)
    for cell, state in states.items():
        of = f"{state.finished} of {cell.rounds + 1} rounds"
        print(f"{cell!s:{width}}  {state.name:8}{of}  {state.message}".rstrip())
    print(_counts(states))


def print_summary(states: dict[Cell, State], out: Path, is_interrupted: bool) -> None:
    """How the run ended, and where its results are."""
    for cell, state in states.items():
        if state.name == "failed":
            print(f"failed: {cell}: {state.message}")
    print(f"{_counts(states)} Results: {out / RESULTS_FILE}")
    if is_interrupted:
        print("Interrupted. The same command goes on from the last finished rounds.")


def _counts(states: dict[Cell, State]) -> str:
    counts = Counter(state.name for state in states.values())
    listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    return f"{len(states)} cell{'s' * (len(states) != 1)}: {listed}."
