"""REAL and its ablation variants.

Chen et al., "REAL: A Representative Error-Driven Approach for Active Learning", ECML-PKDD
2023. What `real_plugin.real_query` does, with the explanation of the picks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.errors import UsageError
from benchmarks.strategies.learner import Learner
from real_plugin import Selection, select
from real_plugin.selection import check_options


def strategy(variant: str) -> Callable[..., Selection]:
    """The query function of a variant."""

    def query(
        learner: Learner,
        X_pool: NDArray[np.float32],
        n_instances: int,
        random_state: int,
        n_clusters: int | str = "auto",
        residual: str = "paper",
        shortfall: str = "pool",
    ) -> Selection:
        return select(
            learner.predict_proba(X_pool),
            X_pool,
            n_instances,
            variant=variant,
            n_clusters=n_clusters,
            residual=residual,
            shortfall=shortfall,
            random_state=random_state,
        )

    return query


def check(
    n_clusters: int | str = "auto", residual: str = "paper", shortfall: str = "pool"
) -> None:
    """Refuse values that `select` would refuse in the middle of a run."""
    try:
        check_options("real", n_clusters, residual, shortfall)
    except (TypeError, ValueError) as error:
        raise UsageError(str(error)) from error
