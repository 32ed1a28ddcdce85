"""What the strategies of a frozen run picked, and what of it did REAL no good; see picks.md.

    python -m results.picks results/frozen --data-dir DATA --encoder ENCODER --cache CACHE

It prints Markdown. Numbers are means over the rounds, then over the seeds, ± their standard
error over the seeds. The first table needs no model. For the others rounds are replayed: their
models are trained again, and asked again, and must answer as recorded.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import NAMES, Dataset, load
from benchmarks.harness.metrics import test_metrics
from benchmarks.harness.replay import ReplayedRound, replay, settings_of
from benchmarks.harness.seeds import warm_up_rows
from benchmarks.harness.threads import limit_threads
from benchmarks.harness.workspace import Workspace
from benchmarks.tracks import TrackSettings
from benchmarks.tracks.encodings import encode
from real_plugin._files import default_cache
from real_plugin.result import COMPLEMENT, PSEUDO_ERROR

Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]
Record = dict[str, Any]

STRATEGIES = (
    *("real", "real-entropy", "real-uniform", "real-cluster", "real-pool"),
    *("margin", "entropy", "badge", "skactiveml:DropQuery", "random"),
)
REPLAYED = ("real", "real-entropy", "real-uniform", "real-cluster", "margin", "random")
REAL = "real"
#: A label is suspect if a model that never saw it gives another class this probability.
CONFIDENT = 0.9
#: Encodings of a larger cosine are near duplicates.
NEAR = 0.98
#: Rows whose distance tells how far out a row is.
NEIGHBOURS = 10
#: The two best classes differ by more: the model is rather sure.
CLEAR = 0.5
#: Replayed rounds whose batch is changed: each takes eight trainings.
CHANGED_ROUNDS = (1, 3, 5, 7)
#: The last of the early rounds, and the first of the late ones.
EARLY, LATE = 2, 6
NO_MEASURES = ("strategy", "seed", "round", "replaced")


@dataclass(frozen=True, eq=False)
class Train:
    """The train part of a dataset, and what is known of its rows without a model of the run."""

    dataset: Dataset
    encodings: NDArray[np.float32]

    @property
    def labels(self) -> NDArray[np.int64]:
        return self.dataset.train.labels

    @cached_property
    def directions(self) -> NDArray[np.float32]:
        """Encodings at unit length: their products are cosines."""
        return self.encodings / np.linalg.norm(self.encodings, axis=1, keepdims=True)

    @cached_property
    def text_number(self) -> NDArray[np.int64]:
        """The same for texts of the same words, whatever their case and punctuation."""
        words = [" ".join(re.findall(r"\w+", text.lower())) for text in self.dataset.train.texts]
        return np.unique(words, return_inverse=True)[1]

    @cached_property
    def out_of_fold(self) -> NDArray[np.float64]:
        """Probabilities of a model with four fifths of all labels, those of the row not."""
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, tol=1e-3, max_iter=500))
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        return cross_val_predict(
            model, self.encodings, self.labels, cv=folds, method="predict_proba"
        )

    @cached_property
    def is_hard(self) -> Mask:
        """Whether thousands of other labels don't help: another class is the likeliest."""
        return self.out_of_fold.argmax(axis=1) != self.labels

    @cached_property
    def is_suspect(self) -> Mask:
        """Whether a label may be noise: another class has `CONFIDENT` or more."""
        return self.is_hard & (self.out_of_fold.max(axis=1) >= CONFIDENT)

    @cached_property
    def outlierness(self) -> NDArray[np.float32]:
        """Mean distance to the nearest rows, as a multiple of train's mean."""
        index = faiss.IndexFlatIP(self.directions.shape[1])
        index.add(self.directions)
        cosines, _ = index.search(self.directions, NEIGHBOURS + 1)  # the row itself is one
        distance = (NEIGHBOURS + 1 - cosines.sum(axis=1)) / NEIGHBOURS
        return distance / distance.mean()

    def shares(self, rows: Rows) -> NDArray[np.float64]:
        """How the classes share some rows."""
        return np.bincount(self.labels[rows], minlength=len(self.dataset.classes)) / len(rows)


def of_picks(train: Train, labelled: Rows, batch: Rows) -> Record:
    """What a batch is like, in percent unless it is a ratio."""
    to_labels = train.directions[batch] @ train.directions[labelled].T
    is_known = to_labels.max(axis=1) >= NEAR
    is_known |= np.isin(train.text_number[batch], train.text_number[labelled])
    to_batch = train.directions[batch] @ train.directions[batch].T
    np.fill_diagonal(to_batch, -1)
    repeats = to_batch >= NEAR
    repeats |= train.text_number[batch, None] == train.text_number[batch]
    everything = np.arange(len(train.labels))
    outlierness, is_hard = train.outlierness[batch], train.is_hard[batch]
    return {
        "suspect labels": percent(train.is_suspect[batch]),
        "hard": percent(is_hard),
        "near duplicates, earlier in batch": percent(np.tril(repeats, k=-1).any(axis=1)),
        "near duplicates, of labels before": percent(is_known),
        "cosine to nearest other pick": mean(to_batch.max(axis=1)),
        "outlierness": mean(outlierness),
        "outlierness of hard picks": mean(outlierness[is_hard]),
        "outlierness of the others": mean(outlierness[~is_hard]),
        "classes off train's": class_distance(train, batch, everything),
    }


def class_distance(train: Train, one: Rows, other: Rows) -> float:
    """Total variation of their classes: the share that would have to change, in percent."""
    return 50 * float(np.abs(train.shares(one) - train.shares(other)).sum())


def mean(values: NDArray[Any]) -> float:
    """NaN for nothing."""
    return float(values.mean()) if len(values) else float("nan")


def percent(mask: Mask) -> float:
    return 100 * mean(mask)


def margins(P: NDArray[np.float32]) -> NDArray[np.float32]:
    """Difference of the two largest probabilities."""
    two = np.partition(P, -2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]


def by_margin(query: ReplayedRound) -> NDArray[np.intp]:
    """Positions in the pool, the smallest margin first, as margin sampling takes them."""
    return np.argsort(margins(query.learner.probabilities), kind="stable")


def errors_of(train: Train, query: ReplayedRound) -> Mask:
    """Which rows of the pool the model gets wrong."""
    predicted = query.learner.probabilities.argmax(axis=1)
    return predicted != train.labels[query.learner.pool]


def of_query(train: Train, query: ReplayedRound) -> Record:
    """What the model thought of its batch, and what of it was wrong."""
    learner, batch = query.learner, query.indices
    margin = margins(learner.probabilities)
    is_wrong = errors_of(train, query)
    errors = learner.pool[is_wrong]
    wrong, is_clear = is_wrong[batch], margin[batch] > CLEAR
    of_margin = by_margin(query)[: len(batch)]
    nearest = (train.directions[errors] @ train.directions[query.rows].T).max(axis=1)
    return {
        "errors": percent(wrong),
        "errors, without suspect labels": percent(wrong[~train.is_suspect[query.rows]]),
        "errors that are not hard": percent(wrong & ~train.is_hard[query.rows]),
        "in margin's batch": percent(np.isin(batch, of_margin)),
        "clear picks": percent(is_clear),
        "errors of clear picks": percent(wrong[is_clear]),
        "errors of the others": percent(wrong[~is_clear]),
        "cosine of pool errors to nearest pick": mean(nearest),
        "classes off the pool errors'": class_distance(train, query.rows, errors),
    }


def of_selection(train: Train, query: ReplayedRound) -> Record:
    """How REAL came to its batch."""
    selection = query.selection
    if selection is None:
        return {}
    predicted = query.learner.probabilities.argmax(axis=1)
    is_wrong = errors_of(train, query)
    budget = selection.clusters.budget
    is_pseudo = selection.clusters.pseudo_label[selection.assignment] != predicted
    of_batch = is_wrong[query.indices]
    of_margin = by_margin(query)[: len(query.indices)]
    return {
        "complements": percent(selection.source == COMPLEMENT),
        "errors of complements": percent(of_batch[selection.source == COMPLEMENT]),
        "errors of pseudo errors": percent(of_batch[selection.source == PSEUDO_ERROR]),
        "pseudo errors of pool": percent(is_pseudo),
        "pseudo errors of pool errors": percent(is_pseudo[is_wrong]),
        "pseudo errors of margin's batch": percent(is_pseudo[of_margin]),
        "largest budget": 100 * float(budget.max() / len(query.indices)),
        "clusters with none": percent(budget == 0),
    }


def hard(train: Train, query: ReplayedRound) -> Mask:
    return train.is_hard[query.rows]


def clear_half(train: Train, query: ReplayedRound) -> Mask:
    """The half of the batch that the model is surer of."""
    margin = margins(query.learner.probabilities)[query.indices]
    return margin.argsort(kind="stable").argsort() >= (len(margin) + 1) // 2


def beyond_fair_share(train: Train, query: ReplayedRound) -> Mask:
    """Picks of a cluster beyond three times the mean budget, the last ones first."""
    assert query.selection is not None
    cluster = pd.Series(query.selection.cluster)
    most = 3 * len(cluster) / query.selection.n_clusters
    return (cluster.groupby(cluster).cumcount() >= most).to_numpy()


SUSPECTS: dict[str, Callable[[Train, ReplayedRound], Mask]] = {
    "hard": hard,
    "beyond fair share": beyond_fair_share,
    "clear half": clear_half,
}


def of_changes(train: Train, query: ReplayedRound, seed: int) -> Iterator[Record]:
    """One batch of REAL with some picks replaced by margin's next: what the next model gains.

    Beside it, as many of the other picks, drawn at random, are replaced by the same rows. A
    model is tested on the test part, and on the rows of the pool that are in none of these
    batches.
    """
    rng = np.random.default_rng([seed, query.number])
    learner = query.learner
    pool, rows, labelled = learner.pool, query.rows, learner.labelled
    order = pool[by_margin(query)]
    fillers = order[~np.isin(order, rows)][: len(rows)]
    rest = np.setdiff1d(pool, np.concatenate([rows, fillers]))
    masks = {name: find(train, query) for name, find in SUSPECTS.items()}

    def accuracies(batch: Rows) -> NDArray[np.float64]:
        with limit_threads(1):
            query.model.fit(np.concatenate([labelled, batch]))
            P, _ = query.model.network().score(rest)
            test = test_metrics(train.dataset.test.labels, query.model.predict_test())
        return np.array([100 * test["accuracy"], percent(P.argmax(axis=1) == train.labels[rest])])

    as_picked = accuracies(rows)

    def gain(replaced: Mask) -> NDArray[np.float64]:
        if not replaced.any():
            return np.zeros(2)
        kept = rows[~replaced]
        return accuracies(np.concatenate([kept, fillers[: replaced.sum()]])) - as_picked

    whole = accuracies(order[: len(rows)]) - as_picked
    yield change("the whole batch", len(rows), whole, np.full(2, np.nan))
    for name, suspects in masks.items():
        others = np.zeros(len(rows), dtype=bool)
        others[rng.permutation(np.flatnonzero(~suspects))[: suspects.sum()]] = True
        yield change(name, int(suspects.sum()), gain(suspects), gain(others))


def change(
    name: str, count: int, gain: NDArray[np.float64], others: NDArray[np.float64]
) -> Record:
    """A row of the table of changes; `others` is the gain from replacing as many others."""
    record: Record = {"replaced": name, "picks": count}
    for where, these, those in zip(("test", "pool"), gain, others, strict=True):
        record |= {where: these, f"{where}, others": those, f"{where}, difference": these - those}
    return record


def labelled_before(cell: pd.DataFrame, n_rows: int, warm_up: int) -> Iterator[tuple[Any, Rows]]:
    """Every query of a cell, and the rows that had labels then."""
    labelled = warm_up_rows(n_rows, warm_up, int(cell["seed"].iloc[0]))
    for record in cell.sort_values("round").itertuples():
        if record.round:
            yield record, labelled
        labelled = np.concatenate([labelled, record.picks]).astype(np.intp)


def recorded_measures(train: Train, frame: pd.DataFrame, warm_up: int) -> pd.DataFrame:
    """`of_picks` for all rounds, and the accuracy beside that of REAL at the same seed."""
    real = frame[frame["strategy"] == REAL].set_index(["seed", "round"])["accuracy"]
    found = []
    for (strategy, seed), cell in frame.groupby(["strategy", "seed"]):
        for record, labelled in labelled_before(cell, len(train.labels), warm_up):
            where = {"strategy": strategy, "seed": seed, "round": record.round}
            beside = real.get((seed, record.round), float("nan"))
            gains = of_accuracy(100 * (record.accuracy - beside), record.round)
            errors = {"errors": 100 * record.batch_error_rate}
            picks = of_picks(train, labelled, np.asarray(record.picks, dtype=np.intp))
            found.append(where | gains | errors | picks)
    return pd.DataFrame(found)


def of_accuracy(gain: float, number: int) -> Record:
    """The gain over REAL in a round, which counts for the early or the late ones, too."""
    nothing = float("nan")
    return {
        "accuracy - REAL's": gain,
        f"to round {EARLY}": gain if number <= EARLY else nothing,
        f"from round {LATE}": gain if number >= LATE else nothing,
    }


def replayed_measures(
    train: Train, frame: pd.DataFrame, settings: TrackSettings, warm_up: int, change_seeds: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """`of_query` and `of_selection` for all rounds, and `of_changes` for some of REAL's."""
    found, changed = [], []
    for (strategy, seed), cell in frame.groupby(["strategy", "seed"]):
        for query in replay(cell, train.dataset, settings, warm_up):
            where = {"strategy": strategy, "seed": seed, "round": query.number}
            found.append(where | of_query(train, query) | of_selection(train, query))
            is_changed = strategy == REAL and seed < change_seeds
            if is_changed and query.number in CHANGED_ROUNDS:
                changed += [where | record for record in of_changes(train, query, seed)]
    return pd.DataFrame(found), pd.DataFrame(changed)


def summary(frame: pd.DataFrame, by: str, order: Sequence[Any]) -> pd.DataFrame:
    """Means over the rounds of a seed, then over seeds, ± the standard error of that."""
    measures = [column for column in frame if column not in NO_MEASURES]
    seeds = frame.groupby([by, "seed"])[measures].mean().groupby(by)
    means, errors = seeds.mean(), seeds.sem()
    names = [name for name in order if name in means.index]
    cells = {m: [written(means.at[n, m], errors.at[n, m]) for n in names] for m in measures}
    return pd.DataFrame(cells, index=names)


def written(value: float, error: float) -> str:
    if np.isnan(value):
        return "-"
    digits = 1 if abs(value) >= 10 else 2
    return f"{value:.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def show(table: pd.DataFrame, corner: str) -> None:
    """Print a table as Markdown."""
    print(f"| {corner} | {' | '.join(map(str, table))} |")
    print("|---" * (table.shape[1] + 1) + "|")
    for name, cells in zip(table.index, table.to_numpy(), strict=True):
        print(f"| {name} | {' | '.join(cells)} |")
    print(flush=True)


def load_train(
    name: str, config: Record, arguments: argparse.Namespace
) -> tuple[Train, TrackSettings]:
    """The data of a run, which must be those that it ran on."""
    is_known = name in NAMES
    place = name if is_known else str(arguments.data_dir / name)
    dataset = load(place, data_dir=arguments.data_dir if is_known else None)
    settings = settings_of(config, dataset, arguments.encoder, arguments.cache)
    encodings = encode(
        dataset.train.texts,
        settings.encoder,
        settings.encoder_sha256,
        settings.max_length,
        settings.cache,
    )
    return Train(dataset, np.array(encodings)), settings


def report(name: str, frame: pd.DataFrame, arguments: argparse.Namespace) -> None:
    """Print the tables of a dataset."""
    config = Workspace(arguments.directory).config()
    train, settings = load_train(name, config, arguments)
    protocol = config["datasets"][name]["protocol"]
    frame = frame[(frame["dataset"] == name) & (frame["batch_size"] == protocol["batch_size"])]
    print(
        f"## {name}\n\n{len(train.labels)} rows, {percent(train.is_hard):.1f} % hard, "
        f"{percent(train.is_suspect):.2f} % suspect.\n"
    )
    is_described = frame["strategy"].isin(arguments.strategy) & (frame["seed"] < arguments.seeds)
    recorded = recorded_measures(train, frame[is_described], protocol["warm_up"])
    show(summary(recorded, "strategy", arguments.strategy).T, "picks")

    is_asked = frame["strategy"].isin(arguments.replay) & (frame["seed"] < arguments.replay_seeds)
    is_changed = (frame["strategy"] == REAL) & (frame["seed"] < arguments.change_seeds)
    if not (is_asked | is_changed).any():
        return
    queries, changes = replayed_measures(
        train,
        frame[is_asked | is_changed],
        settings,
        protocol["warm_up"],
        arguments.change_seeds,
    )
    compared = queries[queries["seed"] < arguments.replay_seeds]
    show(summary(compared, "strategy", arguments.replay).T, "queries")
    of_real = queries[queries["strategy"] == REAL]
    if not of_real.empty:
        show(summary(of_real, "round", sorted(of_real["round"].unique())).T, "REAL, by round")
    if not changes.empty:
        show(summary(changes, "replaced", changes["replaced"].unique()), "replaced")


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="of a run on the track frozen")
    parser.add_argument("--data-dir", type=Path, required=True, help="with a folder a dataset")
    parser.add_argument("--encoder", required=True, help="of the run")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="of encodings")
    parser.add_argument("--dataset", nargs="+", help="default: all of the run")
    parser.add_argument("--strategy", nargs="+", default=STRATEGIES)
    parser.add_argument("--seeds", type=int, default=20, help="of the first table")
    parser.add_argument("--replay", nargs="*", default=REPLAYED, help="strategies to ask again")
    parser.add_argument("--replay-seeds", type=int, default=6)
    parser.add_argument("--change-seeds", type=int, default=8, help="of changed batches of REAL")
    return parser


def main(line: list[str] | None = None) -> None:
    arguments = parser().parse_args(line)
    frame = pd.read_parquet(arguments.directory / "results.parquet")
    frame = frame[frame["track"] == "frozen"]
    for name in arguments.dataset or sorted(frame["dataset"].unique()):
        report(name, frame, arguments)


if __name__ == "__main__":
    main()
