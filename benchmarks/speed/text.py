"""`python -m benchmarks speed --only texts`: scoring and training, side by side.

Every case is a process of its own with the same weights. The processes live side by side
and take turns, so that a slow minute of the machine hits all of them.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import os
import platform
import random
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.data import pydocs
from benchmarks.data.rows import read_rows
from benchmarks.memory import peak_bytes, reset_peak
from benchmarks.speed.runner import THREAD_VARIABLES

#: Texts that the scored classifier is trained on; the pool has none of them.
N_TRAINING = 200
SCORING = ("published, batch 512", "published, batch 32", "ours, float32", "ours, bfloat16")
TRAINER = "transformers.Trainer"
TRAINING = ("TransformerClassifier.fit", "the same in bfloat16", TRAINER)
PEAKS = ("matmul float32", "matmul bfloat16")

Labelled = tuple[str, str]
_loaded: dict[str, Any] = {}  #: the case of a measured process


@dataclass(frozen=True)
class Job:
    """What every measured process gets to know."""

    folder: Path  #: holds the trained classifier and the texts
    encoder: str
    max_length: int

    @property
    def classifier(self) -> Path:
        return self.folder / "classifier"

    def read(self, name: str) -> tuple[list[str], list[str]]:
        """Texts and labels of the "pool" or the "training" data."""
        texts, labels = zip(*read_texts(self.folder / f"{name}.jsonl"), strict=True)
        return list(texts), list(labels)

    def write(self, name: str, rows: list[Labelled]) -> None:
        lines = (json.dumps({"text": text, "label": label}) for text, label in rows)
        (self.folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")


@dataclass(frozen=True)
class Facts:
    """The network and the pool, as far as the arithmetic needs them."""

    lengths: list[int]  #: tokens of every text, without padding
    per_token: int  #: parameters that every token passes: the encoder's without embeddings
    per_text: int  #: parameters of the head
    width: int
    layers: int
    has_bfloat16: bool

    def flops(self, shapes: Sequence[tuple[int, int]]) -> float:
        """Of forward passes of (texts, tokens a text)."""
        return float(
            sum(
                n
                * (
                    2 * self.per_token * t
                    + 2 * self.per_text
                    + 4 * t**2 * self.width * self.layers
                )
                for n, t in shapes
            )
        )


@dataclass(frozen=True)
class Measurement:
    """The best run of one case."""

    seconds: float
    extra_bytes: int = 0  #: by how much the first run raised the peak memory of the process
    amount: float = 0.0  #: texts that a run takes, or floating point operations
    probabilities: NDArray[np.float32] | None = None
    shapes: tuple[tuple[int, int], ...] = ()  #: of the forward passes

    @property
    def rate(self) -> float:
        return self.amount / self.seconds


def run(
    encoder: str, texts: Path | None, limit: int, max_length: int, threads: int, repeat: int
) -> None:
    """Train a classifier, measure every case, and print a table for each question."""
    for variable in (*THREAD_VARIABLES, "RAYON_NUM_THREADS"):
        os.environ[variable] = str(threads)  # the measured processes start with it
    training, pool = split(read_texts(texts) if texts else docstrings(limit + N_TRAINING), limit)
    source = f"{texts.parent.name}/{texts.name}" if texts else "docstrings"
    with tempfile.TemporaryDirectory() as folder:
        job = Job(Path(folder), encoder, max_length)
        job.write("training", training)
        job.write("pool", pool)
        with _process() as process:
            facts: Facts = process.apply(_prepare, (job,))
        _print_header(job, facts, source, len(training), threads, repeat)
        usable = [name for name in SCORING + PEAKS if facts.has_bfloat16 or "bfl" not in name]
        results = measure(usable, job, repeat)
        print_scoring(results)
        print_targets(results)
        has_trainer = importlib.util.find_spec("accelerate") is not None
        print_training(measure(TRAINING if has_trainer else TRAINING[:-1], job, repeat))
        print_arithmetic(results, facts)


# Texts


def read_texts(file: Path) -> list[Labelled]:
    """Texts and labels of a file of JSON lines."""
    rows = read_rows(file)
    return list(zip(rows.texts, rows.labels, strict=True))


def docstrings(n_texts: int) -> list[Labelled]:
    """First sentences of installed packages' docstrings; the label is the package."""
    found = pydocs.sentences()
    each = -(-n_texts // len(found))
    return [(text, package) for package, texts in found.items() for text in texts[:each]]


def split(rows: list[Labelled], limit: int) -> tuple[list[Labelled], list[Labelled]]:
    """Some shuffled rows to train on, and up to `limit` others as the pool."""
    rows = random.Random(0).sample(rows, len(rows))
    n_training = min(N_TRAINING, len(rows) // 3)
    return rows[:n_training], rows[n_training:][:limit]


# Measuring


def measure(names: Sequence[str], job: Job, repeat: int) -> dict[str, Measurement]:
    """The best run of every case; the cases take turns, each in its own process."""
    runs: dict[str, list[Measurement]] = {name: [] for name in names}
    with ExitStack() as stack:
        processes = {name: stack.enter_context(_process()) for name in names}
        for name, process in processes.items():
            process.apply(_load, (name, job))
        for _ in range(repeat):
            for name, process in processes.items():
                runs[name].append(process.apply(_measure))
    return {name: _best(measurements) for name, measurements in runs.items()}


@contextmanager
def _process() -> Iterator[Any]:
    """A new process that ends in peace, so that it can clean up."""
    with multiprocessing.get_context("spawn").Pool(1) as process:
        yield process
        process.close()
        process.join()


def _best(runs: list[Measurement]) -> Measurement:
    best = min(runs, key=lambda run: run.seconds)
    return replace(best, extra_bytes=runs[0].extra_bytes)


def _prepare(job: Job) -> Facts:
    from benchmarks.speed import text_cases

    warnings.simplefilter("ignore")
    return text_cases.prepare(job)


def _load(name: str, job: Job) -> None:
    """Bring a case into this process and warm it up."""
    from benchmarks.speed.text_cases import CASES

    warnings.simplefilter("ignore")
    _loaded["case"] = CASES[name](job)


def _measure() -> Measurement:
    work = _loaded["case"]()
    before = reset_peak()
    start = time.perf_counter()
    done = work()
    seconds = time.perf_counter() - start
    extra = peak_bytes() - before
    return Measurement(seconds, extra, done.amount, done.probabilities, done.shapes)


# Printing


def _print_header(
    job: Job, facts: Facts, source: str, n_training: int, threads: int, repeat: int
) -> None:
    n_texts = len(facts.lengths)
    print(
        f"Python {platform.python_version()} on {platform.machine()}, {threads} thread(s), best "
        f"(least wall time) of {repeat} run(s); every case is\na process of its own with the "
        f"same weights, and they take turns.\n\n{Path(job.encoder).name}, trained on "
        f"{n_training} texts of {source}; a pool of {n_texts:,} others, "
        f"{sum(facts.lengths) / n_texts:.1f} tokens a text,\nat most {job.max_length}.",
        flush=True,
    )


def print_scoring(results: dict[str, Measurement]) -> None:
    """Speed and memory, and how far the answers are from the published loop's."""
    published, other = (results[name] for name in SCORING[:2])
    faster = max(published.rate, other.rate)
    print(
        f"\n  {'Scoring a pool':24}{'texts/s':>9}{'x batch 512':>13}{'x faster one':>14}"
        f"{'extra MB':>10}{'same argmax':>13}{'largest diff.':>15}"
    )
    for name in SCORING:
        if name not in results:
            print(f"  {name:24}  not on this processor")
            continue
        m = results[name]
        print(
            f"  {name:24}{m.rate:9.1f}{m.rate / published.rate:13.2f}{m.rate / faster:14.2f}"
            f"{m.extra_bytes / 1e6:10.0f}{same_argmax(m, published):13.2%}"
            f"{largest_difference(m, published):15.1e}"
        )


def same_argmax(one: Measurement, other: Measurement) -> float:
    """Share of the texts to which both give the same class."""
    return float((one.probabilities.argmax(axis=1) == other.probabilities.argmax(axis=1)).mean())


def largest_difference(one: Measurement, other: Measurement) -> float:
    """Largest absolute difference of two cases' probabilities."""
    return float(np.abs(one.probabilities - other.probabilities).max())


def print_targets(results: dict[str, Measurement]) -> None:
    """The numbers to reach, against the published loop with its batch of 512."""
    published, full, half = (results.get(SCORING[i]) for i in (0, 2, 3))
    difference = largest_difference(full, published)
    lines = [
        ("float32: texts/s / published", full.rate / published.rate, "at least", 1.5),
        ("float32: largest difference", difference, "at most", 1e-4),
    ]
    if half is not None:
        lines += [
            ("bfloat16: texts/s / published", half.rate / published.rate, "at least", 3.0),
            ("bfloat16: same argmax", same_argmax(half, published), "at least", 0.995),
        ]
    for what, value, relation, bound in lines:
        print(f"  {what:32}{value:9.4g}   {relation} {bound}: {verdict(value, relation, bound)}")


def verdict(value: float, relation: str, bound: float) -> str:
    """Whether `value` is "at least" or "at most" `bound`."""
    is_reached = value >= bound if relation == "at least" else value <= bound
    return "reached" if is_reached else "MISSED"


def print_training(results: dict[str, Measurement]) -> None:
    """Texts a second while training."""
    print(f"\n  {'Training, batches of 8':28}{'texts/s':>9}{'x Trainer':>11}")
    trainer = results.get(TRAINER)
    for name, m in results.items():
        print(f"  {name:28}{m.rate:9.1f}" + (f"{m.rate / trainer.rate:11.2f}" if trainer else ""))
    if trainer is None:
        print("  transformers.Trainer needs accelerate: skipped")


def print_arithmetic(results: dict[str, Measurement], facts: Facts) -> None:
    """Floating point operations a second, as a share of what a matrix product reaches."""
    print(
        f"\n  {'Arithmetic of scoring':24}{'tokens/s':>10}{'GFLOP/s':>10}{'of peak':>9}"
        f"{'with padding':>14}"
    )
    useful = facts.flops([(1, length) for length in facts.lengths])
    for name in SCORING:
        if name not in results:
            print(f"  {name:24}  not on this processor")
            continue
        m = results[name]
        peak = results[PEAKS["bfl" in name]].rate
        rate, padded = useful / m.seconds, facts.flops(m.shapes) / m.seconds
        print(
            f"  {name:24}{sum(facts.lengths) / m.seconds:10.0f}{rate / 1e9:10.1f}"
            f"{rate / peak:9.1%}{padded / peak:14.1%}"
        )
    for name in PEAKS:
        rate = (
            f"{results[name].rate / 1e9:10.1f}" if name in results else "  not on this processor"
        )
        print(f"  {name:34}{rate}")
    print(
        "  FLOP of a text of t tokens: 2 t N + 4 t^2 d L + 2 H, where N are the encoder's "
        f"{facts.per_token:,} parameters\n  without embeddings, d = {facts.width} the width, "
        f"L = {facts.layers} the layers, H the head's {facts.per_text:,} parameters. Tokens/s,\n"
        "  GFLOP/s and 'of peak' count the texts' own tokens; 'with padding' counts all that "
        "was computed."
    )
