"""First and second `real-plugin suggest` on one pool: what the kept vectors save."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data.pydocs import sentences
from benchmarks.speed.text import verdict

#: Labels at first, and in every batch.
LABELS = 100
#: The second round may take this share of the first.
MOST = 0.1


def run(n_rows: int, encoder: str) -> None:
    """Measure two rounds on `n_rows` short texts, each in a process of its own."""
    texts, packages = short_texts(n_rows)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder / "pool.csv", ["id", "text"], enumerate(texts))
        labels = {row: packages[row] for row in range(0, n_rows, max(1, n_rows // LABELS))}
        seconds = []
        for number in (1, 2):
            _write(folder / "labels.csv", ["id", "label"], labels.items())
            seconds.append(_suggest(folder, encoder, number))
            with (folder / f"batch-{number}.csv").open(encoding="utf-8", newline="") as stream:
                picked = [int(row["id"]) for row in csv.DictReader(stream)]
            labels |= {row: packages[row] for row in picked}
    first, second = seconds
    print(f"\nreal-plugin suggest on {n_rows:,} short texts with {encoder}, all in all:")
    print(f"  first   {first:8.1f} s, encoding at most {n_rows / first:,.0f} texts/s")
    print(f"  second  {second:8.1f} s")
    ratio = second / first
    print(f"  second / first {ratio:.3f}   at most {MOST}: {verdict(ratio, 'at most', MOST)}")


def _suggest(folder: Path, encoder: str, number: int) -> float:
    command = [sys.executable, "-m", "real_plugin", "suggest", "pool.csv"]
    command += ["--labels", "labels.csv", "-n", str(LABELS), "-o", f"batch-{number}.csv"]
    command += ["--encoder", encoder, "--cache", "cache"]
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, env=os.environ | {"PYTHONPATH": path})
    return time.perf_counter() - start


def short_texts(n_rows: int) -> tuple[list[str], list[str]]:
    """Different texts, each the halves of two sentences, and the package of the first."""
    texts: dict[str, str] = {}
    for text, package in _halves_put_together():
        texts[text] = package
        if len(texts) == n_rows:
            break
    return list(texts), list(texts.values())


def _halves_put_together() -> Iterator[tuple[str, str]]:
    split = [
        (package, " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :]))
        for package, found in sentences().items()
        for words in (sentence.split() for sentence in found)
    ]
    order = np.random.default_rng(0).permutation(len(split))
    for shift in range(len(split)):
        for one, other in zip(order, np.roll(order, shift), strict=True):
            (package, start, _), (_, _, end) = split[one], split[other]
            yield f"{start} {end}", package


def _write(file: Path, header: list[str], rows: Iterable[Any]) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(rows)
