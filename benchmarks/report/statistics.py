"""Scores of the cells of a run, and tests of their differences.

A setting is a dataset, a track and a batch size; a cell is a setting, a strategy and a seed.
All strategies have the same warm-up set and first model at a seed, so whatever is compared
here is compared seed by seed, over the seeds that both sides have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from statsmodels.stats.multitest import multipletests

from benchmarks.harness.cells import FULL

SETTING = ["dataset", "track", "batch_size"]
STRATEGY = [*SETTING, "strategy"]
CELL = [*STRATEGY, "seed"]
#: What no strategy should be worse than.
RANDOM = "random"
#: A p below it is a difference.
ALPHA = 0.05
#: Decimals of a percentage that are known; what agrees in them is equal.
DECIMALS = 9


def half_width(values: ArrayLike) -> float:
    """Half of a 95 % t-interval for the mean, without NaN; NaN for fewer than two values."""
    known = _known(values)
    if len(known) < 2:
        return float("nan")
    return float(stats.sem(known) * stats.t.ppf(0.975, len(known) - 1))


def _known(values: ArrayLike) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=np.float64)
    return numbers[~np.isnan(numbers)]


def without_full(frame: pd.DataFrame) -> pd.DataFrame:
    """The rounds of the strategies, without those of the model with all labels."""
    return frame[frame["strategy"] != FULL]


def scores(frame: pd.DataFrame, metric: str = "accuracy") -> pd.DataFrame:
    """Mean of a metric over the rounds after the warm-up, in percent.

    Parameters
    ----------
    frame : DataFrame
        Rounds of whole cells, as in results.parquet.
    metric : {"accuracy", "macro_f1"}, default="accuracy"

    Returns
    -------
    DataFrame
        A row a dataset, track, batch size and strategy, a column a seed; NaN if the strategy
        doesn't have the seed.
    """
    rows = without_full(frame)
    means = rows[rows["round"] > 0].groupby(CELL)[metric].mean()
    return as_percent(means)


def as_percent(cells: pd.Series) -> pd.DataFrame:
    """A number between 0 and 1 a cell, as percent with a column a seed."""
    return (100 * cells).round(DECIMALS).unstack("seed")


def compare(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Every strategy against one of them, setting by setting and seed by seed.

    Parameters
    ----------
    scores : DataFrame
        As `scores` and `areas` return them.
    reference : str
        The strategy that the others are compared with. Settings without it are left out.

    Returns
    -------
    DataFrame
        A row a dataset, track, batch size and strategy, with the columns

        - difference: mean of strategy minus reference, in percentage points;
        - half_width: half of its 95 % interval, not corrected;
        - effect: Cohen's d_z, the mean over the standard deviation of the differences;
        - p: of the paired t-test, two-sided; NaN for fewer than two pairs;
        - p_holm: the same after Holm's correction for all rows that have a p;
        - n: seeds that both have;
        - verdict: "better" or "worse" than the reference if p_holm < 0.05, else "".
    """
    index, rows = [], []
    for setting, block in scores.groupby(SETTING):
        block = block.droplevel(SETTING)
        if reference not in block.index:
            continue
        for name in block.index.drop(reference):
            index.append((*setting, name))
            rows.append(paired_test(block.loc[name] - block.loc[reference]))
    table = pd.DataFrame(
        rows,
        index=pd.MultiIndex.from_tuples(index, names=STRATEGY) if index else scores.index[:0],
        columns=list(PairedTest._fields),
    )
    table.insert(4, "p_holm", holm(table["p"]))
    is_different = table["p_holm"] < ALPHA
    side = np.where(table["difference"] > 0, "better", "worse")
    return table.assign(verdict=np.where(is_different, side, ""))


class PairedTest(NamedTuple):
    """What a row of `compare` says, before Holm's correction."""

    difference: float
    half_width: float
    effect: float
    p: float
    n: int


def paired_test(differences: ArrayLike) -> PairedTest:
    """The paired t-test of some differences in percentage points; NaN are left out.

    It needs a spread. If all differences are the same, which happens by chance with few seeds
    and a small test part, it would say p = 0. Then p is that of the sign test instead: 1 for
    zeros, else 2^(1-n), the smallest that n signs can have.
    """
    d = _known(differences).round(DECIMALS)
    n, nan = len(d), float("nan")
    if n < 2:
        return PairedTest(float(d[0]) if n else nan, nan, nan, nan, n)
    if not d.any():
        return PairedTest(0.0, 0.0, 0.0, 1.0, n)
    if np.all(d == d[0]):
        return PairedTest(float(d[0]), 0.0, float(np.copysign(np.inf, d[0])), 2.0 ** (1 - n), n)
    mean = float(d.mean())
    # The paired test is the one-sample test of the differences.
    p = float(stats.ttest_1samp(d, 0).pvalue)
    return PairedTest(mean, half_width(d), mean / float(d.std(ddof=1)), p, n)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's step-down correction for the number of tests; NaN are no tests and stay."""
    p = np.array(p_values, dtype=np.float64)
    is_test = ~np.isnan(p)
    if is_test.any():
        p[is_test] = multipletests(p[is_test], method="holm")[1]
    return p


def not_worse_than_best(scores: pd.DataFrame) -> tuple[str, set[str], set[str]]:
    """The strategy of the best mean in one setting, and those that don't lose against it.

    Parameters
    ----------
    scores : DataFrame
        The rows of one setting of what `scores` or `areas` return.

    Returns
    -------
    best : str
        Only if no strategy has two seeds may it be one with a single seed.
    others : set of str
        It and all that were tested and are not worse, by a two-sided paired t-test at 5 %
        with Holm's correction within the setting.
    untested : set of str
        Those that share fewer than two seeds with it: nothing is known of them.
    """
    block = scores.droplevel(SETTING) if scores.index.nlevels > 1 else scores
    seeds = block.notna().sum(axis=1)
    means = block[seeds >= min(2, seeds.max())].mean(axis=1)
    best = str(means.round(DECIMALS).idxmax())
    tests = {name: paired_test(block.loc[name] - block.loc[best]) for name in block.index}
    del tests[best]
    p_values = holm([test.p for test in tests.values()])
    others = {
        name
        for (name, test), p in zip(tests.items(), p_values, strict=True)
        if p >= ALPHA or (p < ALPHA and test.difference >= 0)
    }
    untested = {name for name, test in tests.items() if np.isnan(test.p)}
    return best, {best} | others, untested
