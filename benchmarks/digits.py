"""A small comparison on scikit-learn's digits, in modAL and in scikit-activeml.

The same classifier, splits and first labels for every strategy; only the strategy differs.
"""

from __future__ import annotations

import base64
import html
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from tqdm import tqdm

from real_plugin import STRATEGIES

mpl.use("Agg")
import matplotlib.pyplot as plt

WARM_UP = 20
#: Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = {"real": "#D55E00", "random": "#000000", "margin": "#0072B2", "entropy": "#009E73"}
STRATEGY_NAMES = list(COLOURS)


@dataclass(frozen=True)
class Split:
    """A pool with hidden labels, a test set, and the rows labelled at the start."""

    X: NDArray[Any]
    y: NDArray[Any]
    X_test: NDArray[Any]
    y_test: NDArray[Any]
    warm_up: NDArray[np.intp]


def split(seed: int) -> Split:
    """The split and the warm-up set of a seed, the same for every strategy."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, random_state=seed, stratify=y)
    warm_up = np.random.default_rng(seed).permutation(len(X))[:WARM_UP]
    return Split(X, y, X_test, y_test, warm_up)


def classifier() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def in_modal(name: str, data: Split, seed: int, rounds: int, batch: int) -> Iterator[float]:
    """Test accuracy after the warm-up and after every round, with modAL."""
    from modAL.models import ActiveLearner

    strategy, options = _modal_strategy(name, seed)
    X_pool = np.delete(data.X, data.warm_up, axis=0)
    y_pool = np.delete(data.y, data.warm_up)
    learner = ActiveLearner(
        classifier(), strategy, X_training=data.X[data.warm_up], y_training=data.y[data.warm_up]
    )
    yield learner.score(data.X_test, data.y_test)
    for _ in range(rounds):
        indices, instances = learner.query(X_pool, n_instances=batch, **options)
        learner.teach(instances, y_pool[indices])
        X_pool, y_pool = np.delete(X_pool, indices, axis=0), np.delete(y_pool, indices)
        yield learner.score(data.X_test, data.y_test)


def _modal_strategy(name: str, seed: int) -> tuple[Callable[..., Any], dict[str, Any]]:
    from modAL.uncertainty import entropy_sampling, margin_sampling

    rng = np.random.default_rng(seed)

    def random_sampling(learner: Any, X: Any, n_instances: int) -> Any:
        return rng.choice(len(X), n_instances, replace=False), None

    others = {"random": random_sampling, "margin": margin_sampling, "entropy": entropy_sampling}
    if name in others:
        return others[name], {}
    return STRATEGIES[name], {"random_state": seed}


def in_skactiveml(name: str, data: Split, seed: int, rounds: int, batch: int) -> Iterator[float]:
    """Test accuracy after the warm-up and after every round, with scikit-activeml."""
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.pool import RandomSampling, UncertaintySampling
    from skactiveml.utils import MISSING_LABEL, call_func

    from real_plugin.skactiveml import Real

    strategy = {
        "real": lambda: Real(random_state=seed),
        "random": lambda: RandomSampling(random_state=seed),
        "margin": lambda: UncertaintySampling("margin_sampling", random_state=seed),
        "entropy": lambda: UncertaintySampling("entropy", random_state=seed),
    }[name]()
    y = np.full(len(data.y), MISSING_LABEL)
    y[data.warm_up] = data.y[data.warm_up]
    clf = SklearnClassifier(classifier(), classes=np.unique(data.y))
    yield clf.fit(data.X, y).score(data.X_test, data.y_test)
    for _ in range(rounds):
        indices = call_func(
            strategy.query, X=data.X, y=y, clf=clf, fit_clf=False, batch_size=batch
        )
        y[indices] = data.y[indices]
        yield clf.fit(data.X, y).score(data.X_test, data.y_test)


TOOLKITS = {"modAL": in_modal, "scikit-activeml": in_skactiveml}


def measure(seeds: int, rounds: int, batch: int) -> pd.DataFrame:
    """One row for every toolkit, strategy, seed and round."""
    cells = [
        (toolkit, name, seed)
        for seed in range(seeds)
        for toolkit in TOOLKITS
        for name in STRATEGY_NAMES
    ]
    records = []
    for toolkit, name, seed in tqdm(cells, desc="digits", disable=None):
        curve = TOOLKITS[toolkit](name, split(seed), seed, rounds, batch)
        for number, accuracy in enumerate(curve):
            records.append((toolkit, name, seed, WARM_UP + number * batch, accuracy))
    return pd.DataFrame(records, columns=["toolkit", "strategy", "seed", "labels", "accuracy"])


def full_data_accuracy(seeds: int) -> float:
    splits = [split(seed) for seed in range(seeds)]
    return float(np.mean([classifier().fit(s.X, s.y).score(s.X_test, s.y_test) for s in splits]))


def half_width(values: Any) -> float:
    """Half of a 95 % t-interval for the mean."""
    if len(values) < 2:
        return float("nan")
    return float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))


def summarise(results: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy over the rounds (without the warm-up), and against random by seed."""
    after = results[results["labels"] > WARM_UP]
    by_seed = after.groupby(["toolkit", "strategy", "seed"])["accuracy"].mean().unstack("seed")
    rows = []
    for (toolkit, name), values in by_seed.iterrows():
        difference = values - by_seed.loc[(toolkit, "random")]
        rows.append(
            {
                "toolkit": toolkit,
                "strategy": name,
                "mean accuracy": f"{100 * values.mean():.2f} ± {100 * half_width(values):.2f}",
                "minus random": "" if name == "random"
                else f"{100 * difference.mean():+.2f} ± {100 * half_width(difference):.2f}",
            }
        )  # fmt: skip
    order = {name: i for i, name in enumerate(STRATEGY_NAMES)}
    return pd.DataFrame(rows).sort_values(
        ["toolkit", "strategy"], key=lambda c: c.map(order) if c.name == "strategy" else c
    )


def plot(results: pd.DataFrame, full: float) -> Any:
    """Learning curves, a panel for each toolkit."""
    figure, axes = plt.subplots(1, len(TOOLKITS), figsize=(10, 4), sharey=True, squeeze=False)
    for axis, toolkit in zip(axes[0], TOOLKITS, strict=True):
        for name in STRATEGY_NAMES:
            rows = results[(results["toolkit"] == toolkit) & (results["strategy"] == name)]
            groups = rows.groupby("labels")["accuracy"]
            mean, band = groups.mean(), groups.apply(half_width)
            axis.plot(mean.index, mean, color=COLOURS[name], label=name, marker="o", markersize=3)
            axis.fill_between(
                mean.index, mean - band, mean + band, color=COLOURS[name], alpha=0.15
            )
        axis.axhline(full, color="grey", linestyle=":", label="all labels")
        axis.set(title=toolkit, xlabel="labels")
    axes[0][0].set_ylabel("test accuracy")
    axes[0][0].legend()
    figure.tight_layout()
    return figure


def run(out: Path, seeds: int, rounds: int, batch: int) -> int:
    """Measure, print the table, and write digits.csv, digits.png and digits.html."""
    with warnings.catch_warnings():  # modAL's own, once a fit
        warnings.filterwarnings("ignore", "'force_all_finite' was renamed", FutureWarning)
        results = measure(seeds, rounds, batch)
    table = summarise(results)
    full = full_data_accuracy(seeds)
    figure = plot(results, full)
    caption = (
        f"Mean test accuracy over {rounds} rounds of {batch} labels (in %) after a warm-up of "
        f"{WARM_UP}, {seeds} seed(s), ± half of a 95 % interval over the seeds; logistic "
        f"regression on the 64 pixels. With all labels: {100 * full:.2f}."
    )
    out.mkdir(parents=True, exist_ok=True)
    results.to_csv(out / "digits.csv", index=False)
    figure.savefig(out / "digits.png", dpi=150)
    (out / "digits.html").write_text(_page(table, figure, caption), encoding="utf-8")
    print(table.to_string(index=False))
    print(f"\n{caption}\nWritten: {out / 'digits.html'}, digits.png, digits.csv")
    return 0


def _page(table: pd.DataFrame, figure: Any, caption: str) -> str:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    source = base64.b64encode(picture.getvalue()).decode()
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>REAL on digits</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: auto; padding: 1rem }}
  img {{ max-width: 100% }}
  table {{ border-collapse: collapse }}
  th, td {{ padding: .2rem 1rem .2rem 0; text-align: left; border-bottom: 1px solid #ccc }}
</style>
<h1>REAL on digits</h1>
<p>{html.escape(caption)}</p>
{table.to_html(index=False, border=0)}
<p>The curves show the mean over the seeds, the bands its 95 % interval.</p>
<img alt="Learning curves of four strategies in two toolkits" src="data:image/png;base64,{source}">
</html>
"""
