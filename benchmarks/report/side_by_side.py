"""The paper's numbers beside ours, and what differs."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmarks.report import curves, paper, statistics
from benchmarks.report.parts import Part, Section, Text
from benchmarks.report.results import Results
from benchmarks.report.tables import Table, fixed

METRICS = {"accuracy": "accuracy", "macro_f1": "macro-F1"}


def section(results: Results) -> Section:
    """Tables 2 and 3 where both have a dataset and a strategy."""
    datasets = [name for name in paper.SIZES if name in set(results.whole["dataset"])]
    strategies = set(results.whole["strategy"]) & set(paper.STRATEGIES)
    if not datasets or not strategies:
        parts: list[Part] = [
            Text("No finished cell is on a dataset and with a strategy of the paper's tables.")
        ]
    else:
        parts = [*_differences(results, datasets), _table_2(results), _table_3(results)]
    return Section("paper", "The paper side by side", parts)


def _differences(results: Results, datasets: list[str]) -> Iterator[Part]:
    yield Text(
        f"The paper: {paper.MODEL}, {paper.SEEDS} seeds, a K that it doesn't name, texts that are "
        f"too long left out of test as well. Here: {results.encoder}, K by one rule, texts cut "
        "off; the track `frozen` doesn't fine-tune at all. So the levels are not comparable; the "
        "differences between strategies may be."
    )
    sizes = {entry["name"]: entry for entry in results.statistics}
    rows = [
        {
            "dataset": name,
            **{
                f"{part}, {whose}": size
                for whose, found in (
                    ("paper", paper.SIZES[name]),
                    ("ours", [sizes[name][part] for part in ("train", "validation", "test")]),
                )
                for part, size in zip(("train", "validation", "test"), found, strict=True)
            },
        }
        for name in datasets
    ]
    yield Table(
        "paper-sizes",
        "Rows of the datasets, the paper's as rounded there.",
        pd.DataFrame(rows),
        {
            f"{part}, {w}": "{:,}".format
            for part in ("train", "validation", "test")
            for w in ("paper", "ours")
        },
    )


def _table_2(results: Results) -> Table:
    rows = []
    for metric, label in METRICS.items():
        scores = statistics.scores(results.whole, metric)
        for (dataset, track, size, strategy), values in scores.iterrows():
            published = paper.TABLE_2[metric].get(dataset)
            if published is None or strategy not in paper.STRATEGIES:
                continue
            rows.append(
                {
                    "metric": label,
                    "dataset": dataset,
                    "track": track,
                    "batch": size,
                    "strategy": strategy,
                    "paper": published[paper.STRATEGIES.index(strategy)],
                    "paper, minus random": _minus_random(published, strategy),
                    "ours": values.mean(),
                    "ours, minus random": _ours_minus_random(scores, dataset, track, size, values),
                    "seeds": int(values.notna().sum()),
                }
            )
    return Table(
        "paper-table2",
        "Mean over the rounds in %, in Table 2 of the paper and here, and minus that of random.",
        pd.DataFrame(rows),
        {
            **dict.fromkeys(("paper", "ours"), fixed(2)),
            **dict.fromkeys(("paper, minus random", "ours, minus random"), fixed(2, signed=True)),
        },
    )


def _minus_random(published: tuple[float, ...], strategy: str) -> float:
    places = paper.STRATEGIES.index
    return published[places(strategy)] - published[places("random")]


def _ours_minus_random(
    scores: pd.DataFrame, dataset: str, track: str, size: int, values: pd.Series
) -> float:
    key = (dataset, track, size, "random")
    return float((values - scores.loc[key]).mean()) if key in scores.index else float("nan")


def _table_3(results: Results) -> Table:
    ours = curves.table3(results.whole)
    rows = []
    for (dataset, track, size, strategy), values in ours.iterrows():
        published = paper.TABLE_3.get(dataset)
        if published is None or strategy not in paper.ANALYSED:
            continue
        place = paper.ANALYSED.index(strategy)
        row = {"dataset": dataset, "track": track, "batch": size, "strategy": strategy}
        for metric, label in LABELS.items():
            row[f"{label}, paper"] = published[metric][place]
            row[f"{label}, ours"] = values[metric]
        rows.append(row)
    frame = pd.DataFrame(rows)
    numbers = [column for column in frame if ", " in column]
    return Table(
        "paper-table3",
        "Error rates of the batch and of the pool, lift and first-step loss, in Table 3 of the "
        "paper and here.",
        frame,
        dict.fromkeys(numbers, fixed(3)),
    )


LABELS = {
    "batch_error_rate": "ε(Q)",
    "pool_error_rate": "ε(D_u)",
    "lift": "lift",
    "first_step_loss": "ℓ₀",
}
