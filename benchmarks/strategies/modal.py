"""The query strategies of modAL, called through an ActiveLearner."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from modAL import batch, uncertainty
from modAL.models import ActiveLearner
from numpy.typing import NDArray

from benchmarks.strategies.learner import FloatMatrix, Learner
from benchmarks.strategies.scores import IntArray


def strategy(name: str) -> Callable[..., IntArray]:
    """A strategy of modAL as a query function."""
    return partial(query, function=_function(name))


def allowed_options(name: str) -> list[str]:
    """Its named arguments; the others would go to `predict_proba`, which takes none."""
    parameters = inspect.signature(_function(name)).parameters.values()
    named = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return sorted(set(named) - {"classifier", "X", "n_instances"})


def check(options: dict[str, Any]) -> None:
    """Nothing to refuse: modAL looks at the values itself."""


def query(
    learner: Learner,
    X_pool: NDArray[np.float32],
    n_instances: int,
    random_state: int,
    function: Callable[..., Any],
    **options: Any,
) -> IntArray:
    """One query of an ActiveLearner that is trained already.

    modAL breaks random ties by numpy's global generator, which `Strategy.query` seeds.
    """
    active = ActiveLearner(Estimator(learner), function)
    active.X_training, active.y_training = learner.X_training, learner.y_training
    indices, _ = active.query(X_pool, n_instances=n_instances, **options)
    return np.asarray(indices)


class Estimator:
    """The learner as the estimator inside a modAL learner."""

    def __init__(self, learner: Learner) -> None:
        self.learner = learner

    def predict_proba(self, X: Any) -> FloatMatrix:
        return self.learner.predict_proba(X)


def _function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(uncertainty, name, None) or getattr(batch, name)
    return function
