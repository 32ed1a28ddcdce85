"""The pool strategies of scikit-activeml, called through the library."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import skactiveml.pool
import sklearn.cluster
from numpy.typing import NDArray
from skactiveml.base import SkactivemlClassifier
from skactiveml.classifier import SklearnClassifier
from skactiveml.utils import MISSING_LABEL, call_func
from sklearn.linear_model import LogisticRegression

from benchmarks.errors import UsageError
from benchmarks.strategies.learner import FloatMatrix, Learner
from benchmarks.strategies.options import check_whole_number
from benchmarks.strategies.scores import IntArray
from real_plugin._rows import CHUNK_ROWS

#: Parameters that the harness gives itself, or that no text can give.
_OURS = {
    "base_regressor",
    "classes",
    "missing_label",
    "random_state",
    "clf_embedding_flag_name",
    "n_cluster_param_name",
    "predict_dict",
    "sample_predictions_dict",
    "sample_predictions_method_name",
}
#: Where the library's own default would fit a discriminator for every single pick.
_DEFAULTS: dict[str, dict[str, Any]] = {"DiscriminativeAL": {"greedy_selection": True}}
_N_PASSES = 10
_CLUSTERERS = ("KMeans", "MiniBatchKMeans", "BisectingKMeans")


def strategy(name: str) -> Callable[..., IntArray]:
    """A strategy of `skactiveml.pool` as a query function."""
    return partial(query, kind=getattr(skactiveml.pool, name))


def allowed_options(name: str) -> list[str]:
    """The parameters of the strategy, and `n_passes` if it samples by dropout."""
    parameters = _parameters(getattr(skactiveml.pool, name))
    passes = {"n_passes"} if "sample_predictions_dict" in parameters else set()
    return sorted((parameters - _OURS) | passes)


def check(options: dict[str, Any]) -> None:
    """Refuse values that would fail, or take for ever, in the middle of a run."""
    if options.get("method") == "expected_average_precision":
        raise UsageError("method=expected_average_precision takes n^3 steps; use entropy.")
    if "cluster_algo" in options:
        _cluster_algorithm(options["cluster_algo"])
    check_whole_number("n_passes", options.get("n_passes", _N_PASSES))


def query(
    learner: Learner,
    X_pool: NDArray[np.float32],
    n_instances: int,
    random_state: int,
    kind: type,
    **options: Any,
) -> IntArray:
    """One query of `kind`, with the pool unlabelled and the labelled texts behind it."""
    X = np.concatenate([X_pool, learner.X_training])
    y = np.concatenate([np.full(len(X_pool), MISSING_LABEL), learner.y_training])
    model = LearnerClassifier(learner, X_pool)
    answer = call_func(  # passes each strategy those that it takes
        _build(kind, learner, random_state, options).query,
        X=X,
        y=y,
        clf=model,
        fit_clf=False,
        estimator=model,
        fit_estimator=False,
        ensemble=model,
        fit_ensemble=False,
        discriminator=SklearnClassifier(LogisticRegression(max_iter=1000)),
        batch_size=n_instances,
    )
    return np.asarray(answer)


def _build(kind: type, learner: Learner, seed: int, options: dict[str, Any]) -> Any:
    """The strategy object, with the seed for it and for the clusterer inside."""
    parameters = _parameters(kind)
    arguments = {**_DEFAULTS.get(kind.__name__, {}), **options, "random_state": seed}
    if "classes" in parameters:
        arguments["classes"] = learner.classes_
    if "cluster_algo" in arguments:
        arguments["cluster_algo"] = _cluster_algorithm(arguments["cluster_algo"])
    if "cluster_algo_dict" in parameters:  # Clue and DropQuery don't pass their seed on
        given = arguments.get("cluster_algo_dict") or {}
        arguments["cluster_algo_dict"] = {"random_state": seed, **given}
    if "sample_predictions_dict" in parameters:
        n_passes = arguments.pop("n_passes", _N_PASSES)
        arguments["sample_predictions_method_name"] = "predict_proba_mc"
        arguments["sample_predictions_dict"] = {"n_passes": n_passes, "random_state": seed}
    return kind(**arguments)


def _parameters(kind: type) -> set[str]:
    return set(inspect.signature(kind).parameters)


def _cluster_algorithm(name: Any) -> Any:
    """A class of `sklearn.cluster` by name, since an option is text."""
    if name not in _CLUSTERERS:
        raise UsageError(f"cluster_algo is {name!r}; it can be {', '.join(_CLUSTERERS)}.")
    return getattr(sklearn.cluster, name)


class LearnerClassifier(SkactivemlClassifier):  # type: ignore[misc]
    """The learner as the library's strategies want a classifier: trained, on vectors."""

    def __init__(self, learner: Learner, X_pool: NDArray[np.float32]) -> None:
        super().__init__(classes=learner.classes_)
        self.learner = learner
        self.X_pool = X_pool
        self.classes_ = learner.classes_

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LearnerClassifier:
        raise NotImplementedError("The learner is trained by the harness, never by a strategy.")

    def predict_proba(self, X: Any, **_: Any) -> NDArray[np.float64]:
        """A copy: some strategies write into it. Those of the pool are not computed again."""
        P = self.learner.predict_proba(self.X_pool if self._is_pool(X) else X)
        return np.array(P, dtype=np.float64)

    def predict(self, X: Any, **_: Any) -> IntArray:
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def predict_proba_mc(self, X: Any, n_passes: int, random_state: int) -> FloatMatrix:
        """Probabilities of the pool under Monte-Carlo dropout, (n_passes, n, Y)."""
        if not self._is_pool(X):
            raise NotImplementedError("Monte-Carlo dropout is there for the pool only.")
        return np.array(self.learner.predict_proba_mc(n_passes, random_state), dtype=np.float64)

    def _is_pool(self, X: Any) -> bool:
        if X.shape != self.X_pool.shape:
            return False
        chunks = (slice(i, i + CHUNK_ROWS) for i in range(0, len(X), CHUNK_ROWS))
        return all(np.array_equal(X[chunk], self.X_pool[chunk]) for chunk in chunks)
