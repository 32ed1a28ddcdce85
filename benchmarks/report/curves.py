"""What is read off the rounds of a run: areas, labels needed, and the paper's Table 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.integrate import trapezoid

from benchmarks.report.statistics import CELL, RANDOM, SETTING, STRATEGY, as_percent, without_full

#: The columns of the paper's Table 3 that are averaged.
MEANS = ["batch_error_rate", "pool_error_rate", "first_step_loss", "divergence"]
#: Products of decimals are not exact: 0.07 * 100 > 7.
_ROUNDING = 1e-12


def areas(frame: pd.DataFrame, metric: str = "accuracy") -> pd.DataFrame:
    """Area under the learning curve, over the labels from the warm-up to the end, in percent.

    By the trapezoid rule, divided by the range of the labels. The warm-up, which is the same
    for all strategies at a seed, counts as the start of the curve.

    Parameters
    ----------
    frame : DataFrame
        Rounds of whole cells, as in results.parquet.
    metric : {"accuracy", "macro_f1"}, default="accuracy"

    Returns
    -------
    DataFrame
        In the shape of `scores`. A cell without a round after the warm-up has no area.
    """
    rows = without_full(frame).sort_values("n_labelled")
    cells = {}
    for cell, curve in rows.groupby(CELL):
        labels, values = curve["n_labelled"].to_numpy(), curve[metric].to_numpy()
        if len(labels) > 1:
            cells[cell] = trapezoid(values, labels) / (labels[-1] - labels[0])
    index = pd.MultiIndex.from_tuples(cells, names=CELL) if cells else _no_cells(rows)
    return as_percent(pd.Series(list(cells.values()), index=index, dtype=np.float64))


def _no_cells(rows: pd.DataFrame) -> pd.MultiIndex:
    return rows.iloc[:0].set_index(CELL).index


def labels_needed(
    frame: pd.DataFrame, full_accuracy: pd.Series, shares: Sequence[float] = (0.9, 0.95, 0.98)
) -> pd.DataFrame:
    """Labels after which a share of the accuracy with all labels was reached.

    Parameters
    ----------
    frame : DataFrame
        Rounds of whole cells, as in results.parquet.
    full_accuracy : Series
        Accuracy of the model with all labels, by dataset and track. Settings that it doesn't
        have are left out.
    shares : sequence of float, default=(0.9, 0.95, 0.98)

    Returns
    -------
    DataFrame
        A row a dataset, track, batch size, strategy and share, with the columns

        - n_seeds: seeds of the strategy;
        - n_reached: those that reached it in some round, the warm-up included;
        - labels: median over all seeds of the labels of the first round that did; a seed
          that never did counts as infinity.
    """
    if (full_accuracy > 1).any():
        raise ValueError(
            f"full_accuracy goes up to {full_accuracy.max():g}; give it as the accuracies of "
            "the frame are, from 0 to 1."
        )
    full = full_accuracy.dropna().rename("full").rename_axis(["dataset", "track"])
    rows = without_full(frame).merge(full.reset_index(), on=["dataset", "track"])
    table = pd.concat({share: _first_labels(rows, share) for share in shares}, names=["share"])
    return table.reorder_levels([*STRATEGY, "share"]).sort_index()


def _first_labels(rows: pd.DataFrame, share: float) -> pd.DataFrame:
    is_there = rows["accuracy"] >= share * rows["full"] - _ROUNDING
    labels = rows["n_labelled"].astype(np.float64).where(is_there, np.inf)
    by_seed = rows.assign(labels=labels).groupby(CELL)["labels"].min()
    groups = by_seed.groupby(STRATEGY)
    return pd.DataFrame(
        {
            "n_seeds": groups.size(),
            "n_reached": np.isfinite(by_seed).groupby(STRATEGY).sum(),
            "labels": groups.median(),
        }
    )


def below_random(frame: pd.DataFrame) -> pd.DataFrame:
    """How often a strategy is worse than random, at the same seed and round.

    Parameters
    ----------
    frame : DataFrame
        Rounds of whole cells, as in results.parquet. Settings without random are left out.

    Returns
    -------
    DataFrame
        A row a dataset, track, batch size and strategy (without random), with the columns

        - n: rounds after the warm-up, of all seeds that random has as well;
        - n_below: those in which the accuracy is below random's, equal ones not counted;
        - share: n_below / n.
    """
    rows = without_full(frame)
    rows = rows[rows["round"] > 0]
    place = [*SETTING, "seed", "round"]
    random = rows.loc[rows["strategy"] == RANDOM, [*place, "accuracy"]]
    pairs = rows[rows["strategy"] != RANDOM].merge(random, on=place, suffixes=("", "_random"))
    is_below = pairs["accuracy"] < pairs["accuracy_random"]
    return _shares(pairs.assign(n=1, n_below=is_below.astype(int)).groupby(STRATEGY))


def below_random_overall(table: pd.DataFrame) -> pd.DataFrame:
    """What `below_random` returns, summed over the settings: a row a strategy."""
    return _shares(table.groupby("strategy"))


def _shares(groups: Any) -> pd.DataFrame:
    counts = groups[["n", "n_below"]].sum()
    return counts.assign(share=counts["n_below"] / counts["n"])


def table3(frame: pd.DataFrame) -> pd.DataFrame:
    """The paper's Table 3: how wrong the model was about the batches.

    Parameters
    ----------
    frame : DataFrame
        Rounds of whole cells, as in results.parquet.

    Returns
    -------
    DataFrame
        A row a dataset, track, batch size and strategy, with batch_error_rate,
        pool_error_rate, lift, first_step_loss, and divergence if it was measured: means over
        the seeds and the rounds after the warm-up. The lift is the ratio of the two means, as in
        the paper, and not the mean of the ratios; NaN if the pools had no error.
    """
    rows = without_full(frame)
    rows = rows[rows["round"] > 0]
    # A column that nothing was measured for has no numbers but None.
    means = rows.astype(dict.fromkeys(MEANS, np.float64)).groupby(STRATEGY)[MEANS].mean()
    means.insert(2, "lift", means["batch_error_rate"] / means["pool_error_rate"])
    return means if means["divergence"].notna().any() else means.drop(columns="divergence")
