"""The variant "soft": a batch that represents where the model is in doubt.

REAL counts the predictions that differ from their cluster's majority, and draws some of
them. Here every row counts, by how much the model doubts it: k-means with as many clusters
as picks, on rows weighted by their doubt, and of every cluster one row that is near to the
centre and in doubt itself. docs/successor.md has the derivation, and how it does.

These are steps over one part of a pool, like those of `parts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from real_plugin._keys import uniforms
from real_plugin.parts import UNITS, Finalists, IntArray, Kept, Plan, candidates, slices

#: A doubt counts at least this much: one may divide by it.
TINY = 1e-12


@dataclass(frozen=True, eq=False)
class PrioritySample:
    """Rows drawn in proportion to their doubt, the largest priority first [1]_.

    A row's priority is its doubt divided by a random number between 0 and 1. The rows whose
    priority is largest are a sample in which the sum of ``max(doubt, t)`` over any set of
    rows estimates the sum of their doubt in the pool without bias, t being the largest
    priority that is left out. Of a pool that is drawn whole, t is 0. Whoever has a part of
    the pool knows the priorities of that part.

    References
    ----------
    .. [1] N. Duffield, C. Lund, M. Thorup. Priority sampling for estimation of arbitrary
       subset sums. Journal of the ACM 54(6), 2007.
    """

    row: IntArray
    doubt: NDArray[np.float64]
    priority: NDArray[np.float64]

    @staticmethod
    def join(several: Sequence[PrioritySample], count: int) -> PrioritySample:
        """The `count` largest priorities, and the next one."""
        row, doubt, priority = (
            np.concatenate([getattr(sample, name) for sample in several])
            for name in ("row", "doubt", "priority")
        )
        order = np.lexsort((row, -priority))[: count + 1]
        return PrioritySample(row[order], doubt[order], priority[order])

    def weights(self, count: int) -> NDArray[np.float32]:
        """What the first `count` rows count, as a sample of their own."""
        threshold = self.priority[count] if count < len(self.priority) else 0.0
        return np.maximum(self.doubt[:count], threshold).astype(np.float32)


def draw(_: None, kept: Kept, start: int, count: int, seed: int) -> tuple[Kept, PrioritySample]:
    """The rows of a part that can be in a sample of `count`; it begins at row `start`."""
    doubt = np.maximum(_doubt(kept), TINY)
    row = start + np.arange(len(doubt))
    priority = doubt / uniforms(seed, row)
    if count + 1 < len(doubt):
        largest = np.argpartition(-priority, count)[: count + 1]
        row, doubt, priority = row[largest], doubt[largest], priority[largest]
    return kept, PrioritySample.join([PrioritySample(row, doubt, priority)], count)


def weigh(_: None, kept: Kept, n_clusters: int) -> tuple[Kept, IntArray]:
    """The doubt of every cluster, in 1 / `UNITS`."""
    total = np.zeros(n_clusters, dtype=np.int64)
    np.add.at(total, kept.assignment, np.rint(_doubt(kept) * UNITS).astype(np.int64))
    return kept, total


def _doubt(kept: Kept) -> NDArray[np.float64]:
    assert kept.doubt is not None, "the step `look` was not asked for it"
    return kept.doubt.astype(np.float64)


def nominate(_: None, kept: Kept, start: int, plan: Plan) -> tuple[Kept, Finalists]:
    """The rows of a part that can be in the batch: the part begins at row `start`."""
    assert kept.distance is not None, "the step `count` was not asked for it"
    several = []
    for rows in slices(len(kept.predicted)):
        members = candidates(rows, kept, start)
        drawn = replace(members, priority=cost(kept.distance[rows], members.epsilon))
        several.append(Finalists.join([Finalists(drawn, members[:0], members)], plan))
    return kept, Finalists.join(several, plan)


def cost(
    squared_distance: NDArray[np.floating], doubt: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Of taking a row for its cluster: the square of its distance divided by its doubt.

    Among rows that are all at the centre, the doubt decides.
    """
    at_least = np.finfo(np.float64).tiny
    return np.asarray((squared_distance + at_least) / np.maximum(doubt * doubt, TINY))
