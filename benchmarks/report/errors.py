"""RQ2: what is in the batches?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.harness.maps import maps_on_disk
from benchmarks.report import curves, figures
from benchmarks.report.interactive import interactive_map
from benchmarks.report.maps import load_map_data, map_figure
from benchmarks.report.parts import Markup, Part, Picture, Section, Text, slug
from benchmarks.report.results import Results
from benchmarks.report.style import Looks
from benchmarks.report.tables import Table, fixed

#: Panels of a map beside each other.
MOST_PANELS = 11


def section(results: Results, looks: Looks) -> Section:
    """Table 3, divergence and maps."""
    if not (results.compared["round"] > 0).any():
        parts: list[Part] = [Text("No finished cell has picked a batch yet.")]
    else:
        parts = [_table_3(results), *_divergence(results, looks), *_maps(results, looks)]
    return Section("errors", "RQ2. Representative errors", parts)


def _table_3(results: Results) -> Table:
    frame = curves.table3(results.compared).reset_index()
    return Table(
        "table3",
        "Error rate of the batch ε(Q) and of the pool ε(D_u) by the model that picked it, their "
        "ratio (lift, of the means), and the cross entropy ℓ₀ of the batch before the model is "
        "trained on it; means over rounds and seeds.",
        frame.rename(
            columns={
                "batch_error_rate": "ε(Q)",
                "pool_error_rate": "ε(D_u)",
                "first_step_loss": "ℓ₀",
            }
        ),
        {
            **dict.fromkeys(("ε(Q)", "ε(D_u)", "ℓ₀"), fixed(4)),
            **dict.fromkeys(("lift", "divergence"), fixed(3)),
        },
    )


def _divergence(results: Results, looks: Looks) -> Iterator[Part]:
    measured = results.compared.dropna(subset=["divergence"])
    if measured.empty:
        yield Text(
            "The divergence between batches and boundary errors was not measured; `run "
            "--divergence` does."
        )
    for setting, rows in measured.groupby(["dataset", "track"]):
        caption = (
            f"Loss against divergence on {', '.join(setting)}: the mean over "
            f"{rows['seed'].nunique()} seed(s) for every round, later rounds darker. Upper left "
            "is what REAL aims at: batches that lie where the boundary errors are, and that the "
            "model gets very wrong."
        )
        figure = figures.loss_and_divergence(rows, looks)
        yield Picture(slug("divergence", *setting), caption, figure)


def _maps(results: Results, looks: Looks) -> Iterator[Part]:
    maps = [
        key
        for key in maps_on_disk(results.workspace, list(results.states))
        if results.workspace.has_texts(key[0])
    ]
    if not maps:
        yield Text(
            "There is no map of the pool: `run` keeps one, with the texts, unless it is told "
            "--no-maps."
        )
    for dataset, track, seed in maps:
        data = load_map_data(results.workspace, results.compared, (dataset, track, seed))
        shown = looks.sorted(data.picks)[:MOST_PANELS]
        left_out = len(data.picks) - len(shown)
        caption = (
            f"The pool of {dataset} ({track}, seed {seed}) when the first batch is picked, by "
            "t-SNE of the model's representation. Crosses are texts that the model gets wrong; "
            "coloured dots are a strategy's picks."
            + f" {left_out} more strategies are not shown."
            * (left_out > 0)
        )
        figure = map_figure(replace(data, picks={n: data.picks[n] for n in shown}), looks.colour)
        yield Picture(slug("map", dataset, track), caption, figure)
        yield Markup(interactive_map(data, looks.colour))
