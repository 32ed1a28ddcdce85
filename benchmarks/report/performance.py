"""RQ1: how good is the model that a strategy's labels train?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.report import curves, figures, ranks, statistics
from benchmarks.report.parts import Part, Picture, Section, Text, slug
from benchmarks.report.results import SETTING, Results, count_seeds, title
from benchmarks.report.statistics import STRATEGY
from benchmarks.report.style import Looks
from benchmarks.report.tables import BEST, BEST_TIED, TIED, Table, fixed, p_value

REFERENCES = ("random", "margin")
#: In every figure of curves; the others are spread over as many figures as they need.
IN_EVERY_FIGURE = ("real", *REFERENCES)
MOST_OTHERS = 6
#: Share of the blocks of the most run strategy that one must have to be ranked.
ENOUGH_BLOCKS = 0.9
#: Fewer seeds than this get a warning.
FEW_SEEDS = 5
SHARES = (0.9, 0.95, 0.98)
INTERVALS = "± is half of a 95 % t-interval over the seeds."


def section(results: Results, looks: Looks) -> Section:
    """Curves, Table 2 and everything that compares scores."""
    parts = [*_curves(results, looks)]
    if results.compared.empty:
        parts.append(Text("No cell is finished yet, so there is nothing to compare."))
    elif results.compared["round"].max() == 0:
        parts.append(
            Text("No cell has a round after the warm-up, so there is nothing to compare.")
        )
    else:
        parts += [*_tables(results), *_over_settings(results, looks)]
    return Section("performance", "RQ1. Classification performance", parts)


def in_short(results: Results) -> list[str]:
    """What the tests support, a sentence a setting."""
    scores = statistics.scores(results.compared)
    return [
        f"{title(setting)}: {_leader(block.droplevel(SETTING))}"
        for setting, block in scores.groupby(level=SETTING)
    ]


def _leader(scores: pd.DataFrame) -> str:
    """Who has the best mean in a setting, and from whom that is told apart."""
    values = scores.dropna(axis="columns", how="all")
    best, tied, untested = statistics.not_worse_than_best(values)
    others = sorted(tied - {best})
    start = f"{best} has the best mean accuracy, {values.loc[best].mean():.2f} %"
    if len(values) == 1:
        return f"{start}; nothing else was run."
    if values.shape[1] == 1:
        return f"{start}; with one seed nothing can be told apart."
    few = f"; too few seeds to test {_listed(sorted(untested))}" if untested else ""
    if others:
        return f"{start}, but is not told apart from {_listed(others)}{few}."
    if len(untested) == len(values) - 1:
        return f"{start}{few}."
    return f"{start}, and is told apart from all others{' that were tested' * bool(few)}{few}."


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _curves(results: Results, looks: Looks) -> Iterator[Part]:
    for setting, rows in results.settings():
        full = results.full_of(*setting[:2])
        line = "" if full is None else f" With all labels: {full:.2f} % (dotted)."
        groups = _groups(looks.sorted(rows["strategy"]))
        for number, names in enumerate(groups, start=1):
            shown = rows[rows["strategy"].isin(names)]
            place = f" ({number} of {len(groups)})" if len(groups) > 1 else ""
            caption = (
                f"Learning curves on {title(setting)}{place}: mean test accuracy over "
                f"{count_seeds(shown)}, with bands of 95 % t-intervals (cut off where they leave "
                f"the axes).{line}"
            )
            name = slug("curves", *setting, *([number] if number > 1 else []))
            yield Picture(name, caption, figures.curves(shown, full, looks))


def _groups(names: list[str]) -> list[list[str]]:
    """Strategies that share a figure, few enough to be told apart by eye."""
    always = [name for name in names if name in IN_EVERY_FIGURE]
    others = [name for name in names if name not in IN_EVERY_FIGURE]
    starts = range(0, max(len(others), 1), MOST_OTHERS)
    return [always + others[start : start + MOST_OTHERS] for start in starts]


def _tables(results: Results) -> Iterator[Part]:
    few = min(rows["seed"].nunique() for _, rows in results.settings())
    if few < FEW_SEEDS:
        yield Text(
            f"Only {few} seed{'s' * (few != 1)} in some setting: intervals are wide, and a test "
            "that finds no difference says little. "
            + ("With one seed nothing can be tested, and no strategy is marked." * (few == 1))
        )
    for metric, name in (("accuracy", "accuracy"), ("macro_f1", "macro-F1")):
        yield table_2(results, metric, name)
    yield area_table(results)
    for reference in REFERENCES:
        if reference in set(results.compared["strategy"]):
            yield from _comparison(results, reference)
        else:
            yield Text(f"There is no comparison with {reference}: it was not run.")


def table_2(results: Results, metric: str, name: str) -> Table:
    """Table 2 of the paper: mean over the rounds, a row a strategy, a column a setting."""
    scores = statistics.scores(results.compared, metric)
    caption = (
        f"Mean test {name} over the rounds after the warm-up, in %; the number of seeds in "
        f"brackets. {INTERVALS} Bold: the best mean. *: not told apart from it (paired t-tests "
        "over the seeds, Holm-corrected within the column, 5 %, or too few seeds to tell); a "
        "bold number with a * is no winner."
    )
    return _by_setting(f"table2-{slug(name)}", caption, scores)


def area_table(results: Results) -> Table:
    areas = curves.areas(results.compared, "accuracy")
    caption = (
        "Area under the learning curve of test accuracy (trapezoids over the labels, warm-up "
        f"included, divided by their range), in %. {INTERVALS} Bold and * as in the table of "
        "accuracy."
    )
    return _by_setting("area", caption, areas)


def _by_setting(name: str, caption: str, scores: pd.DataFrame) -> Table:
    """Scores as a row a strategy and a column a setting, the best of each marked."""
    columns, marks = {}, {}
    for setting, block in scores.groupby(level=SETTING):
        values = block.droplevel(SETTING).dropna(axis="columns", how="all")
        best, tied, untested = statistics.not_worse_than_best(values)
        is_winner = tied == {best} and not untested
        can_test = values.notna().sum(axis=1).max() > 1 and len(values) > 1
        columns[title(setting)] = values.apply(_mean_and_interval, axis=1)
        marks[title(setting)] = pd.Series(
            {best: BEST if is_winner else BEST_TIED} | dict.fromkeys(tied - {best}, TIED)
            if can_test
            else {},
            dtype=object,
        )
    frame = pd.DataFrame(columns)
    order = scores.mean(axis=1).groupby(level="strategy").mean().sort_values(ascending=False)
    frame = frame.reindex(order.index)
    marked = pd.DataFrame(marks).reindex(order.index).fillna("")
    return Table(
        name,
        caption,
        frame.rename_axis("strategy").reset_index(),
        dict.fromkeys(frame, str),
        marked.reset_index(drop=True),
    )


def _mean_and_interval(values: pd.Series) -> str:
    values = values.dropna()
    if values.empty:
        return ""
    if len(values) == 1:
        return f"{values.mean():.2f} (1)"
    return f"{values.mean():.2f} ± {statistics.half_width(values):.2f} ({len(values)})"


def _comparison(results: Results, reference: str) -> Iterator[Part]:
    table = statistics.compare(statistics.scores(results.compared), reference).reset_index()
    if table.empty:
        yield Text(f"There is nothing to compare with {reference}.")
        return
    yield Text(verdicts(table, reference))
    yield Table(
        f"against-{slug(reference)}",
        f"Difference to {reference} in mean accuracy, percentage points, seed by seed; half of "
        "its uncorrected 95 % interval; effect size (Cohen's d of the paired differences); p of "
        "a paired t-test, and Holm-corrected over all rows of this table.",
        table.rename(columns={"half_width": "± 95 %", "p_holm": "p (Holm)", "n": "seeds"}),
        {
            "difference": fixed(2, signed=True),
            "± 95 %": fixed(2),
            "effect": fixed(2, signed=True),
            "p": p_value,
            "p (Holm)": p_value,
        },
    )


def verdicts(table: pd.DataFrame, reference: str) -> str:
    """What the tests support, a clause a strategy that differs somewhere."""
    clauses = []
    for name, rows in table.groupby("strategy", sort=False):
        better, worse = ((rows["verdict"] == verdict).sum() for verdict in ("better", "worse"))
        found = [
            f"{word} in {count}" for word, count in (("better", better), ("worse", worse)) if count
        ]
        if found:
            clauses.append(f"{name} is {' and '.join(found)} of {len(rows)}")
    start = f"Against {reference}, after correction for {table['p'].notna().sum()} comparisons: "
    rest = "of the other strategies none is told apart from it."
    if not clauses:
        return start + "no strategy is told apart from it in any setting."
    return f"{start}{'; '.join(clauses)} settings; {rest}"


def _over_settings(results: Results, looks: Looks) -> Iterator[Part]:
    scores = statistics.scores(results.compared)
    yield from _ranks(scores, looks)
    if results.compared["strategy"].nunique() > 1:
        yield _penalties(results)
        yield _profile(scores, looks)
    yield from _labels_needed(results)
    if "random" in set(results.compared["strategy"]):
        below = curves.below_random(results.compared).reset_index()
        below.columns = [*STRATEGY, "rounds", "below random", "share"]
        yield Table(
            "below-random",
            "Share of (seed, round) in which a strategy's model is less accurate than random's "
            "at the same seed and round.",
            below,
            {"share": lambda v: f"{100 * v:.0f} %"},
        )


def _ranks(scores: pd.DataFrame, looks: Looks) -> Iterator[Part]:
    """Mean ranks; a strategy that was run in few blocks would leave few to rank in."""
    n_blocks = scores.notna().sum(axis=1).groupby(level="strategy").sum()
    is_rare = n_blocks < ENOUGH_BLOCKS * n_blocks.max()
    found = ranks.rank_table(scores, sorted(n_blocks.index[~is_rare]))
    if is_rare.any():
        rare = ", ".join(sorted(n_blocks.index[is_rare]))
        yield Text(f"Not ranked, since many settings or seeds lack them: {rare}.")
    if found.reason:
        yield Text(f"Mean ranks are not tested: {found.reason}")
    if len(found.mean_ranks) < 2:
        return
    test = "" if math.isnan(found.p) else (
        f" Friedman test: chi² = {found.chi2:.1f}, p {_relation(found.p)}."
    )  # fmt: skip
    caption = (
        f"Mean ranks by mean accuracy over {found.n_blocks} blocks (a setting and a seed; 1 is "
        "best). Bars join strategies that are not told apart (pairwise Wilcoxon signed-rank "
        f"tests, Holm-corrected, 5 %).{test} Seeds of one dataset are not independent datasets: "
        "read it as a summary of these settings."
    )
    figure = figures.rank_diagram(found.mean_ranks, found.cliques, looks)
    yield Picture("ranks", caption, figure)


def _relation(p: float) -> str:
    text = p_value(p)
    return text if text.startswith("<") else f"= {text}"


def _penalties(results: Results) -> Table:
    matrix = ranks.penalty_matrix(results.compared)
    frame = matrix.rename_axis("beats").reset_index()
    return Table(
        "penalties",
        "Pairwise penalty matrix (Ash et al. 2020): how often, summed over the settings, the "
        "strategy of the row is significantly more accurate than that of the column (paired "
        "t-tests at rounds 1, 2, 4, ..., uncorrected as published). The last row is the mean of "
        "the column: how often that strategy is beaten; lower is better.",
        frame,
        {column: fixed(2) for column in matrix},
    )


def _profile(scores: pd.DataFrame, looks: Looks) -> Picture:
    errors = 100 - scores
    worst = float((errors / errors.groupby(level=SETTING).min()).max(axis=None))
    ratios = np.linspace(1, min(max(worst, 1.05), 3), 200)
    fractions = ranks.performance_profile(scores, ratios)
    caption = (
        "Performance profile: the share of runs (a setting and a seed) in which a strategy's mean "
        "error is within a given multiple of the least of all strategies. Higher is better; at 1 "
        "it is the share of runs that it wins."
    )
    return Picture("profile", caption, figures.profile(fractions, looks))


def _labels_needed(results: Results) -> Iterator[Part]:
    if results.full.empty:
        yield Text(
            "Labels needed for a share of the full-data accuracy are not known: run the strategy "
            "`full`, too."
        )
        return
    most = int(results.compared["n_labelled"].max())
    table = curves.labels_needed(results.compared, results.full / 100, SHARES).reset_index()
    table["labels"] = [
        f"> {most}" if math.isinf(labels) else f"{labels:.0f}" for labels in table["labels"]
    ]
    counts = zip(table["n_reached"], table["n_seeds"], strict=True)
    table["reached"] = [f"{reached} of {seeds}" for reached, seeds in counts]
    table["share"] = [f"{100 * share:.0f} %" for share in table["share"]]
    wide = table.pivot_table(
        index=[*SETTING, "strategy"],
        columns="share",
        values=["labels", "reached"],
        aggfunc="first",
    )
    wide.columns = [f"{what}, {share}" for what, share in wide.columns]
    yield Table(
        "labels-needed",
        "Labels until the model has 90, 95 and 98 % of the accuracy with all labels: the median "
        "over the seeds, and how many seeds got there.",
        wide.sort_index(axis="columns").reset_index(),
    )
