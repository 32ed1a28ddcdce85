"""Strategies compared over all settings at once: ranks, penalties and profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks.report.statistics import (
    ALPHA,
    DECIMALS,
    RANDOM,
    SETTING,
    holm,
    paired_test,
    without_full,
)

#: The name of the last row of the penalty matrix.
PENALTY = "penalty"
MIN_STRATEGIES, MIN_BLOCKS = 3, 5


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of strategies, and which of them differ.

    Attributes
    ----------
    mean_ranks : Series
        1 is best. In ascending order; equal ones by name.
    n_blocks : int
        Settings and seeds in which all strategies were ranked.
    n_left_out : int
        Those that lack at least one of the strategies.
    chi2, p : float
        Friedman's test of all strategies being alike.
    pairwise : DataFrame
        Two-sided Wilcoxon signed-rank p of every pair, after Holm's correction for all pairs;
        1 on the diagonal. In the order of `mean_ranks`.
    cliques : list of tuple of str
        The largest groups of neighbours in mean rank without a pair that differs at 5 %.
        Everyone is in one at least; who is in one alone differs from both neighbours.
    reason : str
        Why there was no test, if p and `pairwise` are NaN; then all are one clique.
    """

    mean_ranks: pd.Series
    n_blocks: int
    n_left_out: int
    chi2: float
    p: float
    pairwise: pd.DataFrame
    cliques: list[tuple[str, ...]]
    reason: str = ""


def blocks(scores: pd.DataFrame, strategies: Sequence[str] | None = None) -> pd.DataFrame:
    """Scores with a row a setting and seed, a column a strategy.

    Rows that have none of the strategies are left out, those that lack some are not.
    """
    long = scores.rename_axis(columns="seed").melt(ignore_index=False, value_name="score")
    table = long.set_index("seed", append=True)["score"].unstack("strategy")
    if strategies is None:
        strategies = sorted(table.columns)
    names = pd.Index(list(dict.fromkeys(strategies)), name="strategy")
    return table.reindex(columns=names).dropna(how="all")


def rank_table(scores: pd.DataFrame, strategies: Sequence[str] | None = None) -> Ranks:
    """Mean ranks over all settings and seeds, with Friedman's and Wilcoxon's tests.

    The tests take the seeds of a dataset as independent blocks, as CDALBench does (Werner et
    al. 2024). They speak for the datasets that were run, not for datasets in general.

    Parameters
    ----------
    scores : DataFrame
        As `scores` and `areas` return them.
    strategies : sequence of str, optional
        Those to be compared; all by default. Blocks that lack one of them don't count, so a
        strategy that was run in few settings is better left out.
    """
    table = blocks(scores, strategies)
    whole = table.dropna().round(DECIMALS)
    mean_ranks = whole.rank(axis=1, ascending=False).mean()
    # Sums of halves are exact, so equal ranks are equal and stay in the order of the names.
    mean_ranks = mean_ranks.sort_index().sort_values(kind="stable").rename("mean_rank")
    whole = whole[mean_ranks.index]
    counts = (len(whole), len(table) - len(whole))
    reason = _reason(whole)
    if reason:
        chi2 = p = float("nan")
        pairwise = _square({}, list(whole.columns))
        cliques = [tuple(whole.columns)] if len(whole.columns) else []
    else:
        chi2, p = _friedman(whole)
        pairwise = _wilcoxon(whole)
        cliques = _cliques(pairwise)
    return Ranks(mean_ranks, *counts, chi2, p, pairwise, cliques, reason)


def _reason(whole: pd.DataFrame) -> str:
    n_blocks, n_strategies = whole.shape
    if n_strategies < MIN_STRATEGIES:
        return f"Ranks are tested for {MIN_STRATEGIES} strategies or more, not {n_strategies}."
    if n_blocks < MIN_BLOCKS:
        return (
            f"Ranks are tested with {MIN_BLOCKS} settings and seeds or more that have all "
            f"strategies, not {n_blocks}."
        )
    return ""


def _friedman(whole: pd.DataFrame) -> tuple[float, float]:
    if whole.nunique(axis=1).eq(1).all():
        return 0.0, 1.0
    chi2, p = stats.friedmanchisquare(*whole.to_numpy().T)
    return float(chi2), float(p)


def _wilcoxon(whole: pd.DataFrame) -> pd.DataFrame:
    pairs = list(combinations(whole.columns, 2))
    p_values = [_signed_rank(whole[one] - whole[other]) for one, other in pairs]
    return _square(dict(zip(pairs, holm(p_values), strict=True)), list(whole.columns))


def _signed_rank(differences: pd.Series) -> float:
    d = differences.to_numpy().round(DECIMALS)
    if not d.any():
        return 1.0
    return float(stats.wilcoxon(d, zero_method="pratt", method="auto").pvalue)


def _square(values: dict[tuple[str, str], float], names: list[str]) -> pd.DataFrame:
    """A symmetric matrix of pairs: 1 on the diagonal, NaN where there is no value."""
    matrix = pd.DataFrame(np.nan, index=names, columns=names)
    for name in names:
        matrix.loc[name, name] = 1.0
    for (one, other), value in values.items():
        matrix.loc[one, other] = matrix.loc[other, one] = value
    return matrix


def _cliques(pairwise: pd.DataFrame) -> list[tuple[str, ...]]:
    is_alike = pairwise.to_numpy() >= ALPHA
    names = list(pairwise.index)
    cliques, last_end = [], 0
    for start in range(len(names)):
        end = start + 1
        while end < len(names) and is_alike[start : end + 1, start : end + 1].all():
            end += 1
        # One that ends no later than one before it is a part of that one.
        if end > last_end:
            cliques.append(tuple(names[start:end]))
            last_end = end
    return cliques


def penalty_matrix(frame: pd.DataFrame) -> pd.DataFrame:
    """How often a strategy beats another: the pairwise penalty matrix of BADGE.

    Ash et al. 2020, section 4. In every setting strategies are compared at the checkpoints,
    rounds 1, 2, 4, 8 and so on up to the first at which random's mean accuracy has reached
    99 % of its last (all of them without random). At each of c checkpoints, the better one of
    a pair gets 1/c if a two-sided paired t-test over the seeds has p < 0.05, not corrected.

    Row i, column j: how often i BEATS j, from 0 to the number of settings. So a good strategy
    has large numbers in its row and small ones in its column.

    Parameters
    ----------
    frame : DataFrame
        Rounds of whole cells, as in results.parquet.

    Returns
    -------
    DataFrame
        A row (the winner) and a column (the loser) a strategy, in the order of the names, and a
        last row "penalty": the mean of the column, its zero on the diagonal included, as in the
        authors' code. It is how often the strategy was beaten: lower is better. In a setting
        where it was not run, a strategy neither beats nor is beaten.
    """
    rows = without_full(frame)
    names = sorted(rows["strategy"].unique())
    matrix = pd.DataFrame(0.0, index=names, columns=names)
    for _, setting in rows.groupby(SETTING):
        curves = setting.pivot(index=["round", "strategy"], columns="seed", values="accuracy")
        rounds = _checkpoints(curves)
        for number in rounds:
            for winner, loser in _wins(100 * curves.loc[number]):
                matrix.loc[winner, loser] += 1 / len(rounds)
    matrix.loc[PENALTY] = matrix.mean()
    return matrix.rename_axis(index="winner", columns="loser")


def _checkpoints(curves: pd.DataFrame) -> list[int]:
    there = set(curves.index.get_level_values("round"))
    rounds = [2**k for k in range(max(there).bit_length()) if 2**k in there]
    means = curves.mean(axis=1).unstack("strategy")
    if RANDOM not in means:
        return rounds
    random = means[RANDOM].dropna()
    has_reached = [bool(random.get(r, 0) >= 0.99 * random.iloc[-1]) for r in rounds]
    return rounds[: has_reached.index(True) + 1] if True in has_reached else rounds


def _wins(accuracies: pd.DataFrame) -> list[tuple[str, str]]:
    """Pairs (winner, loser) that differ, of the strategies at one checkpoint."""
    wins = []
    for one, other in combinations(accuracies.index, 2):
        test = paired_test(accuracies.loc[one] - accuracies.loc[other])
        if test.p < ALPHA:
            wins.append((one, other) if test.difference > 0 else (other, one))
    return wins


def performance_profile(
    scores: pd.DataFrame, ratios: Sequence[float], strategies: Sequence[str] | None = None
) -> pd.DataFrame:
    """How often the error of a strategy is at most tau times that of the best.

    The profiles of Dolan and Moré 2002, of the mean error (100 minus the score) in every
    setting and seed that all the strategies have.

    Parameters
    ----------
    scores : DataFrame
        As `scores` and `areas` return them.
    ratios : sequence of float
        The values of tau, 1 or more. At 1 stands how often a strategy is the best.
    strategies : sequence of str, optional
        Those to be compared; all by default.

    Returns
    -------
    DataFrame
        A row a tau, a column a strategy: the share of settings and seeds, 0 to 1; NaN if no
        setting and seed has all the strategies.
    """
    errors = (100 - blocks(scores, strategies).dropna()).round(DECIMALS)
    # Where the best has no error, the ratio is 1 without any error and infinite with one.
    best = errors.min(axis=1)
    relative = errors.div(best.where(best > 0), axis=0)
    relative = relative.where(errors.ne(best, axis=0), 1.0).fillna(np.inf)
    shares = [(relative <= tau).mean() for tau in ratios]
    return pd.DataFrame(shares, index=pd.Index(list(ratios), name="tau"), columns=errors.columns)
