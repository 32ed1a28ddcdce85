"""The tables of the README and of docs/results.md, written into them from the kept results.

    python -m results.tables README.md docs/results.md

A table stands below a line `<!-- table: NAME -->`; what was there is replaced. The numbers are
those of `python -m benchmarks report`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path

import pandas as pd

from benchmarks.harness.cells import FULL
from benchmarks.report import curves, paper, statistics
from benchmarks.strategies.options import split, without

RESULTS = Path(__file__).parent
FROZEN, FINETUNE = "frozen", "finetune"
DATASETS = {
    FROZEN: ["sst2", "agnews", "pubmed", "snips", "stov"],
    FINETUNE: ["snips", "stov", "pubmed", "sst2"],
}
RANDOM, MARGIN, REAL = "random", "margin", "real"
HEADLINE = [REAL, "real-soft", MARGIN, "badge"]
BESIDE_THE_PAPER = [REAL, "actune", "cal", "entropy", "badge", "plm-km", "bald", MARGIN]
ANALYSED = [RANDOM, MARGIN, "entropy", "badge", "cal", "actune", REAL, "real-soft"]
ERRORS = {
    "batch_error_rate": ("ε(Q)", "{:.3f}"),
    "pool_error_rate": ("ε(D_u)", "{:.3f}"),
    "lift": ("lift", "{:.2f}"),
    "first_step_loss": ("ℓ₀", "{:.2f}"),
    "divergence": ("divergence", "{:.2f}"),
}
MARK = re.compile(r"(<!-- table: (\S+) -->\n)(?:\|.*\n)*")


def fill(page: str) -> str:
    """A page of Markdown whose marked tables say what the kept results do."""
    return MARK.sub(lambda match: match[1] + markdown(TABLES[match[2]]()), page)


def markdown(table: pd.DataFrame) -> str:
    """A table of texts, of which some may be missing; the index is its first column."""
    head = [table.index.name or "", *table.columns]
    lines = [head, ["---"] * len(head), *table.fillna("").itertuples()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


@cache
def kept(track: str) -> pd.DataFrame:
    """All rounds of a track."""
    frame = pd.read_parquet(RESULTS / track / "results.parquet")
    return frame[frame["track"] == track]


def of(strategy: str, track: str) -> pd.DataFrame:
    """The rounds of a strategy."""
    return kept(track)[kept(track)["strategy"] == strategy]


def compared(track: str) -> pd.DataFrame:
    """The rounds that the tests compare: without those that only vary K."""
    names = kept(track)["strategy"]
    return kept(track)[names == names.map(lambda name: without(name, "n_clusters"))]


def by_dataset(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows by dataset and strategy: in a track, every dataset was run with one batch size."""
    return frame.droplevel(["track", "batch_size"])


def scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy over the rounds in percent, a column a seed."""
    return by_dataset(statistics.scores(frame))


def mean_ranks(track: str) -> pd.Series:
    """The best first; last and NaN those that some dataset lacks.

    Strategies with options are left out: they differ by next to nothing.
    """
    means = scores(compared(track)).mean(axis=1).unstack("dataset")
    means = means.loc[[name for name in means.index if not split(name)[1]]]
    ranks = means.dropna().rank(ascending=False).mean(axis=1)
    return ranks.reindex(means.index).sort_values(kind="stable")


def interval(values: pd.Series, sign: str = "") -> str:
    return f"{values.mean():{sign}.2f} ± {statistics.half_width(values):.2f}"


def wide(texts: pd.Series, track: str, names: Iterable[str]) -> pd.DataFrame:
    """Texts by dataset and strategy as a table: a row a strategy, a column a dataset."""
    table = texts.unstack("dataset").loc[[*names], DATASETS[track]]
    return table.rename(index="`{}`".format).rename_axis(index=None)


def accuracy(track: str) -> pd.DataFrame:
    """Mean accuracy, the best of a dataset in bold."""
    found, ranks = scores(compared(track)), mean_ranks(track)
    texts = found.apply(interval, axis=1)
    best = found.mean(axis=1).groupby("dataset").idxmax()
    texts[best] = "**" + texts[best] + "**"
    table = wide(texts, track, ranks.index)
    table["mean rank"] = ranks.map("{:.1f}".format, na_action="ignore").to_numpy()
    full = of(FULL, track).groupby("dataset")["accuracy"].mean()
    if not full.empty:
        table.loc["all labels"] = (100 * full).map("{:.2f}".format)
    return table


def against(track: str, reference: str, names: Iterable[str] = ()) -> pd.DataFrame:
    """Difference to a strategy; a * if it is significant after correction."""
    tests = statistics.compare(statistics.scores(compared(track)), reference)
    texts = by_dataset(tests).apply(
        lambda test: (
            f"{test['difference']:+.2f} ± {test['half_width']:.2f}{' *' * bool(test['verdict'])}"
        ),
        axis=1,
    )
    names = names or mean_ranks(track).index.drop(reference)
    return wide(texts, track, names).rename_axis(f"minus `{reference}`")


def over_runs(track: str) -> pd.DataFrame:
    """Differences over all pairs of dataset and seed that two strategies share."""
    runs = scores(compared(track)).stack().unstack("strategy")[mean_ranks(track).index]
    table = pd.DataFrame({"runs": runs.count().map(str)})
    for reference in (RANDOM, MARGIN, REAL):
        differences = runs.drop(columns=reference).sub(runs[reference], axis=0)
        table[f"minus `{reference}`"] = differences.apply(partial(interval, sign="+"))
    return table.rename(index="`{}`".format).rename_axis(None)


def clusters() -> pd.DataFrame:
    """Accuracy with a given K minus that with REAL's rule, whose K stands in the first row."""
    found = scores(kept(FROZEN))
    by_rule = found.xs(REAL, level="strategy")
    options = {name: split(name)[1] for name in found.index.unique("strategy")}
    given = {own["n_clusters"]: name for name, own in options.items() if "n_clusters" in own}
    of_k = {str(k): given[k] for k in sorted(given)}
    texts = found.sub(by_rule, level="dataset").apply(interval, axis=1, sign="+")
    table = wide(texts, FROZEN, of_k.values())
    table.index = [*of_k]
    own = of(REAL, FROZEN).groupby("dataset")["n_clusters"].max()
    means = by_rule.mean(axis=1)
    rule = {name: f"{means[name]:.2f} (K = {own[name]:.0f})" for name in DATASETS[FROZEN]}
    return pd.concat([pd.DataFrame(rule, index=["`auto`"]), table]).rename_axis("K")


def beside_the_paper() -> pd.DataFrame:
    """Accuracy minus random's, there and here."""
    there = pd.DataFrame(paper.TABLE_2["accuracy"], index=paper.STRATEGIES)
    here = scores(compared(FROZEN)).mean(axis=1).unstack("dataset")
    gains = {
        f"{name}, {where}": means.loc[name] - means.loc[RANDOM]
        for name in BESIDE_THE_PAPER
        for where, means in (("paper", there), ("here", here))
        if name in means.index
    }
    table = pd.DataFrame(gains).T[DATASETS[FROZEN]]
    return table.map("{:+.2f}".format).rename_axis("accuracy minus random's")


def errors(track: str, names: Iterable[str] = ()) -> pd.DataFrame:
    """The paper's Table 3, after the accuracies that the first and the last batch lead to."""
    frame = compared(track)
    after = 100 * by_dataset(frame.groupby([*statistics.STRATEGY, "round"])["accuracy"].mean())
    after = after.unstack("round")[[1, frame["round"].max()]]
    table = after.rename(columns="after round {}".format).map("{:.1f}".format)
    for column, numbers in by_dataset(curves.table3(frame)).items():
        label, form = ERRORS[column]
        table[label] = numbers.map(form.format, na_action="ignore")
    names = names or mean_ranks(track).index
    order = [
        (dataset, name)
        for dataset in DATASETS[track]
        for name in names
        if (dataset, name) in table.index
    ]
    first = dict(reversed(order))
    table = table.loc[order]
    table.index = [
        f"**{dataset}**: " * (name == first[dataset]) + f"`{name}`" for dataset, name in order
    ]
    return table


TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "headline": partial(against, FROZEN, RANDOM, HEADLINE),
    "frozen-accuracy": partial(accuracy, FROZEN),
    "frozen-against-margin": partial(against, FROZEN, MARGIN),
    "frozen-errors": partial(errors, FROZEN, ANALYSED),
    "beside-the-paper": beside_the_paper,
    "clusters": clusters,
    "finetune-accuracy": partial(accuracy, FINETUNE),
    "finetune-against-random": partial(against, FINETUNE, RANDOM),
    "finetune-over-runs": partial(over_runs, FINETUNE),
    "finetune-errors": partial(errors, FINETUNE),
}


if __name__ == "__main__":
    for file in map(Path, sys.argv[1:]):
        file.write_text(fill(file.read_text(encoding="utf-8")), encoding="utf-8")
