"""A strategy that was found, and what a query returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import UsageError
from benchmarks.strategies.learner import Learner
from benchmarks.strategies.seeding import seeded
from real_plugin import Selection
from real_plugin._validation import check_n_instances


class StrategyError(ValueError):
    """A strategy failed, or returned what is no batch."""


@dataclass(frozen=True, eq=False)
class Picks:
    """The batch: positions in the pool, and why, where the strategy tells."""

    indices: NDArray[np.int64]
    selection: Selection | None = None


@dataclass(frozen=True)
class Strategy:
    """A query function with its options.

    `name` is the canonical spelling, which finds the strategy again. `fingerprint` is the
    SHA-256 of a user's file, and empty for all others.
    """

    name: str
    function: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    fingerprint: str = ""

    def query(
        self, learner: Learner, X_pool: NDArray[np.float32], n_instances: int, random_state: int
    ) -> Picks:
        """`n_instances` different positions in `X_pool`; the same for the same seed.

        Raises
        ------
        StrategyError
            If the function fails, or returns anything else. The message names the strategy.
        """
        n_instances = check_n_instances(n_instances, len(X_pool))
        arguments = dict(self.options)
        if "random_state" in inspect.signature(self.function).parameters:
            arguments["random_state"] = random_state
        try:
            with seeded(random_state):  # for those that draw from global generators
                answer = self.function(learner, X_pool, n_instances=n_instances, **arguments)
        except UsageError:
            raise
        except Exception as error:
            raise StrategyError(
                f"Strategy {self.name} failed: {type(error).__name__}: {error}"
            ) from error
        return self._picks(answer, n_instances, len(X_pool))

    def _picks(self, answer: Any, n_instances: int, n_rows: int) -> Picks:
        selection = answer if isinstance(answer, Selection) else None
        if selection is not None:
            answer = selection.indices
        elif (
            isinstance(answer, tuple) and len(answer) == 2 and not isinstance(answer[0], Integral)
        ):
            answer = answer[0]  # modAL's pair of indices and metrics
        problem = _problem(answer, n_instances, n_rows)
        if problem:
            raise StrategyError(
                f"Strategy {self.name} returned {problem}; it must return {n_instances} "
                f"different positions from 0 to {n_rows - 1}."
            )
        return Picks(np.array(answer, dtype=np.int64), selection)


def _problem(answer: Any, n_instances: int, n_rows: int) -> str:
    """What is wrong with the answer, or nothing."""
    try:
        indices = np.asarray(answer)
    except (TypeError, ValueError):  # rows of different lengths, a tensor on a GPU
        return f"{type(answer).__name__} that is no array"
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        return f"{type(answer).__name__} of shape {indices.shape} and dtype {indices.dtype}"
    if len(indices) != n_instances:
        return f"{len(indices)} positions"
    outside = indices[(indices < 0) | (indices >= n_rows)]
    if len(outside):
        return f"the position {outside[0]}"
    n_different = len(np.unique(indices))
    return "" if n_different == n_instances else f"only {n_different} different positions"
