"""The picture of the README: what strategies gain over random sampling, label by label.

    python -m results.figure results/frozen docs/results.png

A panel a dataset: test accuracy minus that of random sampling at the same seed, as a mean over
the seeds with its 95 % t-interval.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.report.statistics import half_width
from benchmarks.report.style import INK, RC

DATASETS = ("sst2", "agnews", "pubmed", "snips", "stov")
#: Strategies, their colours and their markers.
LOOKS = {
    "real": ("#D55E00", "o"),
    "real-soft": ("#009E73", "D"),
    "margin": ("#0072B2", "^"),
    "badge": ("#CC79A7", "v"),
}
REFERENCE = "random"


def gains(frame: pd.DataFrame) -> pd.DataFrame:
    """Accuracy over the reference's in points, by labels and seed; a column a strategy."""
    names = [*LOOKS, REFERENCE]
    rows = frame[frame["strategy"].isin(names)]
    accuracy = rows.pivot_table(
        index=["n_labelled", "seed"], columns="strategy", values="accuracy"
    )
    return 100 * accuracy.sub(accuracy[REFERENCE], axis=0)


def draw(axes: Axes, dataset: str, frame: pd.DataFrame) -> None:
    """One panel."""
    found = gains(frame)
    for name, (colour, marker) in LOOKS.items():
        by_labels = found[name].dropna().groupby("n_labelled")
        mean, half = by_labels.mean(), by_labels.apply(half_width)
        axes.plot(mean, color=colour, marker=marker, label=name, markersize=3.5, linewidth=1.4)
        axes.fill_between(
            mean.index, mean - half, mean + half, color=colour, alpha=0.12, linewidth=0
        )
    axes.axhline(0, color=INK, linestyle=(0, (1, 3)), linewidth=1, label=REFERENCE)
    axes.set(title=dataset, xlabel="labels")


def picture(frame: pd.DataFrame) -> Figure:
    """All panels beside each other."""
    with rc_context(RC):
        figure = Figure(figsize=(11, 3.1))
        panels = figure.subplots(1, len(DATASETS))
        for axes, dataset in zip(panels, DATASETS, strict=True):
            draw(axes, dataset, frame[frame["dataset"] == dataset])
        panels[0].set_ylabel("accuracy minus random's, points")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


if __name__ == "__main__":
    directory, file = map(Path, sys.argv[1:])
    results = pd.read_parquet(directory / "results.parquet")
    with rc_context(RC):
        picture(results[results["track"] == "frozen"]).savefig(file, dpi=150)
