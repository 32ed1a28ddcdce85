"""`python -m benchmarks speed`: ratios measured side by side in one run."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.speed import label as label_speed
from benchmarks.speed import large, runner, text


def run(
    only: str | None,
    repeat: int,
    threads: int | None,
    rows: list[int],
    columns: int | None,
    embeddings: list[Path],
    scale: list[int] | None,
    folder: Path | None,
    encoder: str,
    texts: Path | None,
    limit: int,
    max_length: int,
    label: int | None = None,
) -> int:
    """Measure queries on vectors, and scoring and training on texts.

    Or one thing alone: pools in files (`scale`), or `real-plugin suggest` (`label`).
    """
    cores = os.cpu_count() or 1
    if label is not None:
        label_speed.run(label, encoder)
        return 0
    if scale is not None:
        large.run(scale or large.SIZES, columns or 384, folder, repeat, threads or cores)
        return 0
    if only != "texts":
        runner.run(rows, columns or 768, embeddings, repeat, threads or 1)
    if only != "vectors":
        text.run(encoder, texts, limit, max_length, threads or cores, repeat)
    return 0
