"""`python -m benchmarks speed`: ratios measured side by side in one run."""

from __future__ import annotations

import os
from pathlib import Path

from benchmarks.speed import label as label_speed
from benchmarks.speed import runner, text


def run(
    only: str | None,
    repeat: int,
    threads: int | None,
    rows: list[int],
    columns: int,
    embeddings: list[Path],
    encoder: str,
    texts: Path | None,
    limit: int,
    max_length: int,
    label: int | None = None,
) -> int:
    """Measure queries on vectors, and scoring and training on texts; or `suggest` alone."""
    if label is not None:
        label_speed.run(label, encoder)
        return 0
    if only != "texts":
        runner.run(rows, columns, embeddings, repeat, threads or 1)
    if only != "vectors":
        text.run(encoder, texts, limit, max_length, threads or os.cpu_count() or 1, repeat)
    return 0
