"""Running a cell: rounds of query, training and test, each kept as soon as it is done."""

from __future__ import annotations

import platform
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import strategies
from benchmarks.data import Dataset
from benchmarks.harness import first_models, maps
from benchmarks.harness.cells import FULL, Cell, CellFolder
from benchmarks.harness.divergence import boundary_divergence, tsne_map
from benchmarks.harness.files import StorageError
from benchmarks.harness.metrics import batch_metrics, test_metrics
from benchmarks.harness.seeds import role_seed, warm_up_rows
from benchmarks.harness.threads import limit_threads
from benchmarks.harness.workspace import Workspace
from benchmarks.memory import peak_bytes, reset_peak
from benchmarks.tracks import TrackSettings, make_model
from benchmarks.tracks.learner import RoundLearner
from real_plugin import Selection

OnRound = Callable[[Cell, dict[str, Any]], None]
#: Epochs of the first and only training on all labels, on the track `finetune`.
FULL_EPOCHS = 3
_VERSIONED = ("torch", "transformers", "faiss-cpu", "numpy", "scikit-learn", "scikit-activeml")
#: Cells limit threads and seed generators of their process: one at a time in each.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Job:
    """What a process needs to know to run cells."""

    root: Path  #: the directory of the run
    cache: Path  #: where encodings are kept
    threads: int  #: that a cell may use
    divergence: bool = False  #: whether to measure it, which changes nothing else


def run_cell(job: Job, cell: Cell, on_round: OnRound) -> str:
    """Do what is missing of a cell; the state it ends in: "done", "failed" or "running".

    "running" means that another process works on it. An error is kept in the cell's
    folder; only a disk that takes no more is raised.
    """
    workspace = Workspace(job.root)
    folder = workspace.cell(cell)
    with _ONE_AT_A_TIME, folder.claim() as is_free:
        if not is_free:
            return "running"
        if folder.state().name == "done":
            return "done"
        folder.describe()
        folder.error.unlink(missing_ok=True)
        try:
            with limit_threads(1 if cell.track == "frozen" else job.threads):
                CellRun(workspace, folder, job).finish(on_round)
        except StorageError:
            raise
        except Exception as error:  # whatever a strategy or a model does wrong
            folder.record_error(f"{type(error).__name__}: {error}", traceback.format_exc())
            return "failed"
        return "done"


class CellRun:
    """A cell on its way from the last round on disk to its end."""

    def __init__(self, workspace: Workspace, folder: CellFolder, job: Job) -> None:
        self.workspace = workspace
        self.measures_divergence = job.divergence
        self.folder = folder
        self.cell = cell = folder.cell
        self.config, locations = workspace.config(), workspace.locations()
        self.dataset = load_dataset(workspace.root, cell.dataset)
        entry = self.config["datasets"][cell.dataset]
        self.settings = TrackSettings(
            encoder=locations["encoder"],
            encoder_sha256=self.config["encoder"]["sha256"],
            max_length=entry["protocol"]["max_length"],
            cache=job.cache,
            precision=self.config["precision"],
            training_precision=self.config["training_precision"],
            validation=self.config["validation"],
        )
        if cell.strategy == FULL:
            self.settings = replace(self.settings, first_epochs=FULL_EPOCHS)
        else:
            self.strategy = strategies.find(locations.get(cell.strategy, cell.strategy))
        self.warm_up = entry["protocol"]["warm_up"]
        self.model = make_model(
            cell.track, self.dataset, self.settings, role_seed(cell.seed, "model")
        )

    def finish(self, on_round: OnRound) -> None:
        """Run the rounds that are not on disk yet."""
        records = self.folder.rounds()
        labelled = self._first_rows()
        if records:
            labelled = np.concatenate([labelled, *(r["picks"] for r in records)]).astype(np.intp)
            self.model.load(self.folder.weights(len(records) - 1))
        for number in range(len(records), self.cell.rounds + 1):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of truncation and of the toolkits, each round
                record = {"round": number, **self._round(number, labelled)}
            labelled = np.concatenate([labelled, record["picks"]]).astype(np.intp)
            self.folder.write(record, self.model.save)
            on_round(self.cell, record)

    def _first_rows(self) -> NDArray[np.intp]:
        n_rows = len(self.dataset.train)
        if self.cell.strategy == FULL:
            return np.arange(n_rows)
        return warm_up_rows(n_rows, self.warm_up, self.cell.seed)

    def _round(self, number: int, labelled: NDArray[np.intp]) -> dict[str, Any]:
        if number:
            record = self._query(number, labelled)
            labelled = np.concatenate([labelled, record["picks"]]).astype(np.intp)
            return record | self._train(labelled)

        def train() -> dict[str, Any]:
            return {"picks": [], **self._train(labelled)}

        if self.cell.track == "finetune" and self.cell.strategy != FULL:
            return first_models.share(self.workspace.first_model(self.cell), self.model, train)
        return train()

    def _train(self, labelled: NDArray[np.intp]) -> dict[str, Any]:
        """Train on the labelled rows, and test."""
        start = time.perf_counter()
        self.model.fit(labelled)
        seconds = time.perf_counter() - start
        return {
            "n_labelled": len(labelled),
            **test_metrics(self.dataset.test.labels, self.model.predict_test()),
            "training_seconds": seconds,
            "versions": versions(),
        }

    def _query(self, number: int, labelled: NDArray[np.intp]) -> dict[str, Any]:
        """Score the pool, pick the batch, and measure it before the model learns of it."""
        train = self.dataset.train
        pool = np.delete(np.arange(len(train)), labelled)
        n_classes = len(self.dataset.classes)
        network = self.model.network()
        learner = RoundLearner(network, pool, labelled, train.labels, train.texts, n_classes)
        shared = learner.inference_seconds
        before = reset_peak()
        start = time.perf_counter()
        picks = self.strategy.query(
            learner,
            learner.X_pool,
            self.cell.batch_size,
            role_seed(self.cell.seed, "strategy", number),
        )
        seconds = time.perf_counter() - start - (learner.inference_seconds - shared)
        peak = peak_bytes() - before
        selection = picks.selection
        if number == maps.ROUND and self.cell.seed == self.config["map_seed"]:
            self._keep_map(learner, selection)
        return {
            "picks": pool[picks.indices].tolist(),
            "budgets": None if selection is None else selection.clusters.budget.tolist(),
            "n_clusters": None if selection is None else selection.n_clusters,
            "inertia": None if selection is None else selection.inertia,
            **batch_metrics(learner.probabilities, train.labels[pool], picks.indices),
            "divergence": self._divergence(learner, train.labels[pool], picks.indices),
            "query_seconds": seconds,
            "inference_seconds": learner.inference_seconds,
            "peak_memory_mb": peak / 1e6,
        }

    def _keep_map(self, learner: RoundLearner, selection: Selection | None) -> None:
        """For the report: the pool on the plane, and why REAL picked its batch."""
        pool_map = maps.PoolMap(
            rows=learner.pool,
            positions=tsne_map(learner.X_pool, self.settings.cache),
            predicted=learner.probabilities.argmax(axis=1),
            confidence=learner.probabilities.max(axis=1),
        )
        cell = self.cell
        file = maps.map_file(self.workspace, cell.dataset, cell.track, cell.seed)
        maps.save_map(file, pool_map)
        if selection is not None:
            maps.save_selection(self.folder, selection)

    def _divergence(
        self, learner: RoundLearner, truth: NDArray[np.int64], picks: NDArray[np.int64]
    ) -> float | None:
        if not self.measures_divergence:
            return None
        positions = tsne_map(learner.X_pool, self.settings.cache)
        predicted = learner.probabilities.argmax(axis=1)
        return boundary_divergence(positions, truth, predicted, picks)


@lru_cache(maxsize=2)
def load_dataset(root: Path, name: str) -> Dataset:
    """A dataset of a run; a process that runs many cells reads it once."""
    return Workspace(root).dataset(name)


@cache
def versions() -> str:
    """What a result depends on besides its configuration, as a line."""
    from real_plugin import __version__

    libraries = ", ".join(f"{name} {version(name)}" for name in _VERSIONED)
    return f"real_plugin {__version__}, Python {platform.python_version()}, {libraries}"
