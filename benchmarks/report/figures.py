"""The figures of a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.report.statistics import half_width
from benchmarks.report.style import INK, RC, Looks, new_figure

#: Inches of a line of a legend.
LEGEND_LINE = 0.19


def curves(frame: pd.DataFrame, full: float | None, looks: Looks) -> Figure:
    """Learning curves of one setting, with 95 % intervals over the seeds."""
    with rc_context(RC):
        names = looks.sorted(frame["strategy"])
        figure = new_figure(height=max(4.0, LEGEND_LINE * (len(names) + 2)))
        axis = figure.subplots()
        means = [_curve(axis, frame, name, looks) for name in names]
        lowest, highest = min(m.min() for m in means), max(m.max() for m in means)
        if full is not None:
            axis.axhline(full, color=INK, linestyle=(0, (1, 3)), linewidth=1, label="all labels")
            highest = max(highest, full)
        # Few seeds give bands that would leave the curves no room.
        room = (highest - lowest or 1) / 8
        axis.set(xlabel="labels", ylabel="test accuracy, %", ylim=(lowest - room, highest + room))
        _legend(figure, axis)
    return figure


def _curve(axis: Axes, frame: pd.DataFrame, name: str, looks: Looks) -> pd.Series:
    look = looks[name]
    groups = 100 * frame[frame["strategy"] == name].set_index("n_labelled")["accuracy"]
    groups = groups.groupby(level=0)
    mean = groups.mean()
    style = {"color": look.colour, "linestyle": look.line, "marker": look.marker}
    axis.plot(mean.index, mean, label=name, markersize=4, linewidth=1.4, **style)
    low, high = mean - (band := groups.apply(half_width)), mean + band
    axis.fill_between(mean.index, low, high, color=look.colour, alpha=0.12, linewidth=0)
    return mean


def _legend(figure: Figure, axis: Axes) -> None:
    """Beside the axes, where it hides nothing."""
    handles, labels = axis.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=8)


def rank_diagram(mean_ranks: pd.Series, cliques: Sequence[Sequence[str]], looks: Looks) -> Figure:
    """Critical-difference diagram: mean ranks on a line, bars over what is not told apart."""
    ranks = mean_ranks.sort_values(kind="stable")
    bars = [clique for clique in cliques if len(clique) > 1]
    half = -(-len(ranks) // 2)
    height = 1.1 + 0.22 * half + 0.12 * len(bars)
    with rc_context(RC):
        figure = new_figure(7.0, height)
        axis = figure.subplots()
        low, high = np.floor(ranks.min()), np.ceil(ranks.max())
        high = max(high, low + 1)
        span = high - low
        axis.set(xlim=(low - 0.55 * span, high + 0.55 * span), ylim=(-half - 1, 1.7 + len(bars)))
        axis.axis("off")
        axis.hlines(0, low, high, color=INK, linewidth=1)
        step = -(-span // 10)
        for tick in np.arange(low, high + 1, step):
            axis.vlines(tick, 0, 0.25, color=INK, linewidth=1)
            axis.text(tick, 0.35, f"{tick:.0f}", ha="center", va="bottom", fontsize=8)
        for level, clique in enumerate(bars, start=1):
            ends = ranks[list(clique)]
            axis.hlines(0.7 + level * 0.8, ends.min(), ends.max(), color=INK, linewidth=3)
        for place, (name, rank) in enumerate(ranks.items()):
            is_left = place < half
            depth = -1 - (place if is_left else len(ranks) - 1 - place)
            side = low - 0.04 * span if is_left else high + 0.04 * span
            colour = looks.colour(name)
            axis.plot([rank, rank, side], [0, depth, depth], color=colour, linewidth=1)
            label = f"{name}  {rank:.2f}" if is_left else f"{rank:.2f}  {name}"
            axis.text(side, depth, label, ha="right" if is_left else "left", va="center")
    return figure


def profile(fractions: pd.DataFrame, looks: Looks) -> Figure:
    """Performance profile: how often a strategy is within a factor of the best."""
    with rc_context(RC):
        figure = new_figure(height=max(4.0, LEGEND_LINE * (len(fractions.columns) + 1)))
        axis = figure.subplots()
        for name in looks.sorted(fractions.columns):
            look = looks[name]
            axis.step(
                fractions.index,
                100 * fractions[name],
                where="post",
                color=look.colour,
                linestyle=look.line,
                label=name,
            )
        axis.set(
            xlabel="error as a multiple of the least error of all strategies",
            ylabel="runs within that multiple, %",
            ylim=(-2, 102),
        )
        _legend(figure, axis)
    return figure


def loss_and_divergence(frame: pd.DataFrame, looks: Looks) -> Figure:
    """First-step loss against divergence: a dot a round, later rounds darker."""
    with rc_context(RC):
        figure = new_figure()
        axis = figure.subplots()
        means = frame.groupby(["strategy", "round"])[["divergence", "first_step_loss"]].mean()
        last = frame["round"].max()
        for name in looks.sorted(frame["strategy"]):
            points = means.loc[name].dropna()
            shade = 0.25 + 0.75 * points.index.to_numpy() / last
            axis.scatter(
                points["divergence"],
                points["first_step_loss"],
                color=looks.colour(name),
                marker=looks[name].marker,
                alpha=shade,
                label=name,
            )
        axis.set(
            xlabel="Jensen-Shannon divergence to the boundary errors, bits",
            ylabel="first-step loss, nats",
        )
        _legend(figure, axis)
    return figure


def sensitivity(
    means: pd.DataFrame,
    bands: pd.DataFrame,
    looks: Looks,
    xlabel: str,
    references: dict[str, float] | None = None,
) -> Figure:
    """Mean accuracy against a parameter: an index of its values, a column a strategy."""
    with rc_context(RC):
        figure = new_figure()
        axis = figure.subplots()
        for name in looks.sorted(means.columns):
            look, mean = looks[name], means[name].dropna()
            axis.errorbar(
                mean.index,
                mean,
                yerr=bands[name].reindex(mean.index).fillna(0),
                color=look.colour,
                linestyle=look.line,
                marker=look.marker,
                capsize=3,
                label=name,
            )
        for name, value in (references or {}).items():
            look = looks[name]
            axis.axhline(value, color=look.colour, linestyle=look.line, linewidth=1, label=name)
        axis.set(xlabel=xlabel, ylabel="mean test accuracy, %", xscale="log")
        axis.set_xticks(means.index, labels=[f"{value:g}" for value in means.index])
        axis.minorticks_off()
        _legend(figure, axis)
    return figure


def query_time(frame: pd.DataFrame, looks: Looks) -> Figure:
    """Query seconds against the size of the pool: a line a strategy, a point a dataset."""
    medians = frame.groupby(["strategy", "dataset"])[["pool_size", "query_seconds"]].median()
    with rc_context(RC):
        figure = new_figure(height=max(4.0, LEGEND_LINE * (frame["strategy"].nunique() + 1)))
        axis = figure.subplots()
        for name in looks.sorted(frame["strategy"]):
            look, line = looks[name], medians.loc[name].sort_values("pool_size")
            style: dict[str, Any] = {"color": look.colour, "linestyle": look.line}
            axis.plot(*line.to_numpy().T, marker=look.marker, markersize=4, label=name, **style)
        axis.set(xlabel="unlabelled texts", ylabel="seconds a query", xscale="log", yscale="log")
        _legend(figure, axis)
    return figure
