"""What a strategy costs."""

from __future__ import annotations

from benchmarks.report import figures
from benchmarks.report.parts import Part, Picture, Section, Text
from benchmarks.report.results import Results
from benchmarks.report.style import Looks
from benchmarks.report.tables import Table, fixed


def section(results: Results, looks: Looks) -> Section:
    """Seconds and memory a query, and seconds as the pool grows."""
    queries = results.compared[results.compared["round"] > 0]
    if queries.empty:
        return Section("cost", "Cost", [Text("No finished cell has made a query yet.")])
    groups = queries.groupby(["dataset", "track", "strategy"])
    table = groups.agg(
        pool=("pool_size", "median"),
        query=("query_seconds", "median"),
        inference=("inference_seconds", "median"),
        training=("training_seconds", "median"),
        memory=("peak_memory_mb", "max"),
        queries=("seed", "size"),
    ).reset_index()
    names = {
        "query": "query, s",
        "inference": "shared inference, s",
        "training": "training, s",
        "memory": "most memory, MB",
        "pool": "unlabelled texts",
    }
    formats = dict.fromkeys(("query, s", "shared inference, s", "training, s"), fixed(3))
    formats |= {"most memory, MB": fixed(1), "unlabelled texts": lambda n: f"{n:,.0f}"}
    parts: list[Part] = [
        Table(
            "cost",
            "Median wall time of the strategy alone, of scoring the pool (once a round, shared by "
            "whatever needs it) and of training, and the most by which a query raised the peak "
            "memory of its process. Times are of the machine and the load of the run.",
            table.rename(columns=names),
            formats,
        )
    ]
    if queries["dataset"].nunique() > 1:
        caption = (
            "Median seconds a query against the median size of the pool, a point a dataset (they "
            "differ in classes and batch size as well)."
        )
        parts.append(Picture("query-time", caption, figures.query_time(queries, looks)))
    else:
        parts.append(Text("Time as the pool grows needs datasets of different sizes."))
    return Section("cost", "Cost", parts)
