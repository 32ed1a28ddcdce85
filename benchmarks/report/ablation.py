"""RQ3: which parts of REAL matter, and how much its parameters?"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from benchmarks.report import curves, figures, statistics
from benchmarks.report.parts import Part, Picture, Section, Text, slug
from benchmarks.report.results import SETTING, Results, count_seeds, title
from benchmarks.report.style import Looks
from benchmarks.strategies.options import split, without
from benchmarks.strategies.registry import REALS

REFERENCES = ("random", "margin")


def section(results: Results, looks: Looks) -> Section:
    """Curves of the variants, and accuracy against K and the batch size."""
    parts = [
        *_variants(results, looks),
        *_clusters(results, looks),
        *_batch_sizes(results, looks),
    ]
    return Section("ablation", "RQ3. Ablation and parameters", parts)


def families(results: Results) -> list[str]:
    """Names of the strategies without their K, which label the lines over K."""
    return [without(name, "n_clusters") for name in dict.fromkeys(results.frame["strategy"])]


def _variants(results: Results, looks: Looks) -> Iterator[Part]:
    rows = results.whole[results.whole["strategy"].isin(REALS)]
    rows = rows[rows.groupby(SETTING)["strategy"].transform("nunique") > 1]
    if rows.empty:
        yield Text(f"Nowhere were two or more of the variants run: {', '.join(REALS)}.")
    for setting, block in rows.groupby(SETTING):
        caption = (
            f"Variants of REAL on {title(setting)}: mean test accuracy over "
            f"{count_seeds(block)}, with 95 % t-intervals."
        )
        figure = figures.curves(block, results.full_of(*setting[:2]), looks)
        yield Picture(slug("variants", *setting), caption, figure)


def _clusters(results: Results, looks: Looks) -> Iterator[Part]:
    """Accuracy against K, of strategies that were run with several."""
    queries = results.whole[results.whole["n_clusters"].notna()]
    families = queries["strategy"].map(lambda name: without(name, "n_clusters"))
    given = queries["strategy"].map(lambda name: "n_clusters" in split(name)[1])
    if not given.any():
        yield Text("K was not varied; `run --n-clusters 10 50 200` compares several.")
        return
    scores = statistics.scores(results.whole)
    for setting, rows in queries.assign(family=families).groupby(SETTING):
        block = scores.loc[setting]
        chosen = rows.groupby(["family", "strategy"])["n_clusters"].median().reset_index()
        chosen = chosen[chosen.groupby("family")["strategy"].transform("nunique") > 1]
        if chosen.empty:
            continue
        values = block.loc[chosen["strategy"]]
        table = chosen.assign(
            mean=values.mean(axis=1).to_numpy(),
            band=[statistics.half_width(row.dropna()) for _, row in values.iterrows()],
        )
        means, bands = (
            table.pivot_table(index="n_clusters", columns="family", values=column)
            for column in ("mean", "band")
        )
        references = {name: block.loc[name].mean() for name in REFERENCES if name in block.index}
        caption = (
            f"Mean accuracy over the rounds against the number of clusters K on {title(setting)}, "
            "with 95 % t-intervals over the seeds; lines without dots are strategies that have "
            "no K."
        )
        figure = figures.sensitivity(
            means, bands.reindex_like(means), looks, "clusters, K", references
        )
        yield Picture(slug("clusters", *setting), caption, figure)


def _batch_sizes(results: Results, looks: Looks) -> Iterator[Part]:
    scores = curves.areas(results.compared, "accuracy")
    varied = False
    for (dataset, track), block in scores.groupby(level=["dataset", "track"]):
        sizes = block.index.get_level_values("batch_size").unique()
        if len(sizes) < 2:
            continue
        varied = True
        long = pd.DataFrame(
            {
                "mean": block.mean(axis=1),
                "band": [statistics.half_width(row.dropna()) for _, row in block.iterrows()],
            }
        ).reset_index()
        means, bands = (
            long.pivot_table(index="batch_size", columns="strategy", values=column)
            for column in ("mean", "band")
        )
        caption = (
            f"Area under the learning curve against the batch size on {dataset}, {track}, at the "
            "same budget of labels, with 95 % t-intervals over the seeds."
        )
        figure = figures.sensitivity(means, bands.reindex_like(means), looks, "labels a round")
        yield Picture(slug("batch", dataset, track), caption, figure)
    if not varied:
        yield Text("The batch size was not varied; `run --batch-size 25 50 100` compares several.")
