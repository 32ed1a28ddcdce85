"""What Algorithm 1 computes where the rows are: steps over one part of a pool.

A pool has one part, or many on many machines. Every step is a function of the part's
probabilities, its embeddings or neither, and of what the step before kept there. It returns
what it keeps, small numbers for every row, and what it tells: counts, sums and the best few
rows. All that is told is exact and can be put together in any order, so that the selection
doesn't depend on where the parts begin.

Equation numbers are those of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from real_plugin._keys import instance_keys
from real_plugin._rows import Alike, Rows
from real_plugin._validation import as_floats, check_distributions
from real_plugin.clustering import as_float32, assign, rank_in_cluster, take_finite
from real_plugin.nearest import squared_distances

#: Densities are summed as integers, in units of 2**-32: integer sums don't depend on the
#: order, float sums do.
UNITS = 2**32
#: Two rows of probabilities are the same if no entry differs by more.
_SAME = 1e-6
#: Rows whose candidates are looked at together.
_BLOCK = 2**16

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Kept:
    """What stays with a part: small numbers, an entry a row."""

    predicted: NDArray[np.unsignedinteger]
    assignment: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    #: Probability of the cluster's majority class, in the dtype it came in: 2 to 8 bytes
    #: a row that spare a third pass over the probabilities.
    p_majority: NDArray[np.floating] = field(default_factory=lambda: np.empty(0))
    entropy: NDArray[np.float64] | None = None
    #: For the variant "soft": 1 - margin, and the squared distance from the centre.
    doubt: NDArray[np.float32] | None = None
    distance: NDArray[np.floating] | None = None


# Step 1: the probabilities


@dataclass(frozen=True, eq=False)
class Probabilities:
    """What the probabilities of a part are like; of an empty part nothing is known."""

    name: str
    n_rows: int = 0
    dtype: np.dtype[Any] | None = None
    first: NDArray[np.floating] = field(default_factory=lambda: np.empty(0))
    low: NDArray[np.floating] = field(default_factory=lambda: np.empty(0))
    high: NDArray[np.floating] = field(default_factory=lambda: np.empty(0))

    def join(self, after: Probabilities) -> Probabilities:
        """The two together, if `after` holds the rows after these."""
        if not self.n_rows or not after.n_rows:
            return self if self.n_rows else after
        return replace(
            self,
            n_rows=self.n_rows + after.n_rows,
            low=np.minimum(self.low, after.low),
            high=np.maximum(self.high, after.high),
        )

    @property
    def n_classes(self) -> int:
        return len(self.first)

    @property
    def are_all_same(self) -> bool:
        """Whether every row is like the first."""
        spread = np.maximum(self.high - self.first, self.first - self.low)
        return bool((spread <= _SAME).all())


def look(source: Rows, _: None = None, with_doubt: bool = False) -> tuple[Kept, Probabilities]:
    """Check the probabilities and predict (Eq. 2); ties go to the lowest class."""
    seen = Probabilities(source.name)
    predicted = []
    doubts = [np.empty(0, dtype=np.float32)]
    for block in source.blocks():
        P = as_floats(block.values)
        check_distributions(block.name, P, block.first)
        if len(P):
            kind = np.min_scalar_type(P.shape[1] - 1)
            predicted.append(P.argmax(axis=1).astype(kind))
            if with_doubt:
                doubts.append(doubt(P))
            columns = np.ascontiguousarray(P.T)
            extremes = columns.min(axis=1), columns.max(axis=1)
            dtype = block.values.dtype
            seen = seen.join(Probabilities(source.name, len(P), dtype, P[0], *extremes))
    whole = np.concatenate(predicted) if predicted else np.empty(0, dtype=np.uint8)
    return Kept(whole, doubt=np.concatenate(doubts) if with_doubt else None), seen


def doubt(P: NDArray[np.floating]) -> NDArray[np.float32]:
    """1 - margin, which is the difference of the two largest probabilities of a row."""
    second, first = np.partition(P, -2, axis=1)[:, -2:].T.astype(np.float64)
    return np.asarray(np.clip(1.0 - (first - second), 0.0, 1.0), dtype=np.float32)


def join_probabilities(told: Sequence[Probabilities]) -> Probabilities:
    """All parts together, in their order."""
    whole, alike = Probabilities("probabilities"), Alike("probabilities")
    for seen in told:
        if seen.dtype is not None:
            alike.compare(seen.name, seen.n_classes, seen.dtype)
        whole = whole.join(seen)
    if whole.n_rows == 0:
        raise ValueError("probabilities has no rows; there is nothing to select from.")
    return whole


# Step 2: the rows that train k-means


@dataclass(frozen=True, eq=False)
class Sample:
    """Some embeddings of a part."""

    name: str
    n_rows: int
    dtype: np.dtype[Any]
    vectors: NDArray[Any]


def gather(source: Rows, kept: Kept, rows: IntArray) -> tuple[Kept, Sample]:
    """The embeddings of some rows, which are numbered within the part."""
    n_rows = len(kept.predicted)
    check_same_rows(source, n_rows)
    vectors = take_finite(source, rows)
    check_same_rows(source, n_rows)  # of chunks it is known only now
    dtype = vectors.dtype
    if dtype != np.float16:  # which takes half the room on its way
        vectors = as_float32(vectors)
    return kept, Sample(source.name, n_rows, dtype, vectors)


def check_same_rows(embeddings: Rows, n_rows: int) -> None:
    """Raise if there are other rows of embeddings than rows of probabilities."""
    if embeddings.n_rows not in (None, n_rows):
        raise ValueError(
            f"{embeddings.name} has {embeddings.n_rows} rows, but there are {n_rows} rows of "
            "probabilities; both must describe the same pool, row by row."
        )


def join_samples(told: Sequence[Sample], positions: Sequence[IntArray]) -> NDArray[np.float32]:
    """The samples of all parts, each row at its position."""
    alike = Alike("embeddings")
    for sample in told:
        if sample.n_rows:
            alike.compare(sample.name, sample.vectors.shape[1], sample.dtype)
    if len(told) == 1:
        return as_float32(told[0].vectors)
    width = next(sample.vectors.shape[1] for sample in told if sample.n_rows)
    joined = np.empty((sum(map(len, positions)), width), dtype=np.float32)
    for sample, where in zip(told, positions, strict=True):
        if len(where):
            joined[where] = sample.vectors
    return joined


# Step 3: clusters


def count(
    source: Rows,
    kept: Kept,
    centroids: NDArray[np.float32],
    n_classes: int,
    with_distance: bool = False,
) -> tuple[Kept, tuple[IntArray, float]]:
    """Give every row its cluster; how often each cluster predicts each class, and inertia."""
    K = len(centroids)
    assignment, distance = assign(source, centroids, len(kept.predicted), exact=with_distance)
    cells = assignment.astype(np.int64)
    cells *= n_classes
    cells += kept.predicted
    counts = np.bincount(cells, minlength=K * n_classes).reshape(K, n_classes)
    kept = replace(kept, assignment=assignment, distance=distance if with_distance else None)
    return kept, (counts, float(distance.sum(dtype=np.float64)))


# Step 4: pseudo errors


def measure(
    source: Rows, kept: Kept, pseudo_label: IntArray, with_entropy: bool
) -> tuple[Kept, tuple[IntArray, IntArray]]:
    """How many pseudo errors every cluster has, and their density in 1 / `UNITS` (Eq. 4)."""
    n_rows, K = len(kept.predicted), len(pseudo_label)
    pseudo_errors, density = np.zeros(K, dtype=np.int64), np.zeros(K, dtype=np.int64)
    p_majority: NDArray[np.floating] = np.empty(0)
    entropy = np.empty(n_rows) if with_entropy else None
    for block in source.blocks():
        P = as_floats(block.values)
        rows = slice(block.start, block.start + len(P))
        if not len(p_majority):
            p_majority = np.empty(n_rows, dtype=P.dtype)
        cluster_of = kept.assignment[rows]
        majority = pseudo_label[cluster_of]
        p_majority[rows] = P[np.arange(len(P)), majority]
        is_error = kept.predicted[rows] != majority
        wrong = cluster_of[is_error]
        pseudo_errors += np.bincount(wrong, minlength=K)
        units = np.rint(epsilon(p_majority[rows][is_error]) * UNITS).astype(np.int64)
        np.add.at(density, wrong, units)
        if entropy is not None:
            entropy[rows] = _entropy(P)
    return replace(kept, p_majority=p_majority, entropy=entropy), (pseudo_errors, density)


def epsilon(p_majority: NDArray[np.floating]) -> NDArray[np.float64]:
    """Eq. 5: how probable it is, for the model, that the majority is wrong about a row."""
    return np.clip(1.0 - p_majority.astype(np.float64), 0.0, 1.0)


def _entropy(P: NDArray[np.floating]) -> NDArray[np.float64]:
    P = np.ascontiguousarray(P, dtype=np.float64)  # so that every row is summed alike
    return np.asarray(-xlogy(P, P).sum(axis=1))


# Step 5: the best few rows


@dataclass(frozen=True, eq=False)
class Candidates:
    """Rows that may be picked; an entry a row in each array."""

    row: IntArray  #: in the pool
    cluster: NDArray[np.int32]
    predicted: IntArray
    epsilon: NDArray[np.float64]
    priority: NDArray[Any]  #: the lowest comes first

    def __len__(self) -> int:
        return len(self.row)

    def __getitem__(self, which: Any) -> Candidates:
        return Candidates(*(getattr(self, f.name)[which] for f in fields(self)))

    @staticmethod
    def concatenate(several: Sequence[Candidates]) -> Candidates:
        columns = [f.name for f in fields(Candidates)]
        return Candidates(*(np.concatenate([getattr(c, x) for c in several]) for x in columns))

    def first_of_each_cluster(self, budget: IntArray) -> Candidates:
        """The first `budget` of every cluster: lowest priority, then lowest row."""
        wanted = self[budget[self.cluster] > 0]
        wanted = wanted[np.argsort(wanted.row, kind="stable")]
        order, rank = rank_in_cluster(wanted.priority, wanted.cluster)
        return wanted[order[rank < budget[wanted.cluster[order]]]]

    def largest_epsilon(self, count: int) -> Candidates:
        """The `count` largest in falling order; ties go to the lowest row."""
        rest = self
        if 0 < count < len(self):
            at = len(self) - count
            rest = self[self.epsilon >= np.partition(self.epsilon, at)[at]]
        return rest[np.lexsort((rest.row, -rest.epsilon))[:count]]

    def without(self, others: Candidates) -> Candidates:
        return self[~np.isin(self.row, others.row)]


@dataclass(frozen=True)
class Plan:
    """How the batch is to be spent."""

    variant: str
    shortfall: str
    batch: int
    seed: int
    pseudo_label: IntArray
    budget: IntArray


@dataclass(frozen=True)
class Finalists:
    """The rows of a part, or of the pool, among which the batch is."""

    drawn: Candidates  #: what the budgets may be spent on
    fill: Candidates  #: members of clusters that may have too few pseudo errors
    top: Candidates  #: what may complete the batch

    @staticmethod
    def join(several: Sequence[Finalists], plan: Plan) -> Finalists:
        return Finalists(
            _joined([f.drawn for f in several]).first_of_each_cluster(plan.budget),
            _joined([f.fill for f in several]).first_of_each_cluster(plan.budget),
            _joined([f.top for f in several]).largest_epsilon(plan.batch),
        )


def _joined(several: list[Candidates]) -> Candidates:
    return several[0] if len(several) == 1 else Candidates.concatenate(several)


def nominate(_: None, kept: Kept, start: int, plan: Plan) -> tuple[Kept, Finalists]:
    """The rows of a part that can be in the batch: the part begins at row `start`."""
    several = [_nominate(rows, kept, start, plan) for rows in slices(len(kept.predicted))]
    return kept, Finalists.join(several, plan)


def slices(n_rows: int) -> Iterator[slice]:
    """At least one, if only an empty one."""
    for start in range(0, max(n_rows, 1), _BLOCK):
        yield slice(start, min(start + _BLOCK, n_rows))


def _nominate(rows: slice, kept: Kept, start: int, plan: Plan) -> Finalists:
    members = candidates(rows, kept, start)
    by_epsilon = replace(members, priority=-members.epsilon)
    drawn = nobody = by_epsilon[:0]
    if plan.variant == "cluster":
        drawn = by_epsilon
    elif plan.variant != "pool":
        wrong = members.predicted != plan.pseudo_label[members.cluster]
        errors = members[wrong & (plan.budget[members.cluster] > 0)]
        if plan.variant == "entropy" and kept.entropy is not None:
            drawn = replace(errors, priority=-kept.entropy[errors.row - start])
        else:
            drawn = replace(errors, priority=instance_keys(plan.seed, errors.row))
    return Finalists(
        drawn.first_of_each_cluster(plan.budget),
        (by_epsilon if plan.shortfall == "cluster" else nobody).first_of_each_cluster(plan.budget),
        by_epsilon.largest_epsilon(plan.batch),
    )


def candidates(rows: slice, kept: Kept, start: int) -> Candidates:
    """Some rows as candidates; for the variant "soft" their epsilon is their doubt."""
    assignment = kept.assignment[rows]
    doubt = kept.doubt
    return Candidates(
        row=start + np.arange(rows.start, rows.stop),
        cluster=assignment,
        predicted=kept.predicted[rows].astype(np.int64),
        epsilon=epsilon(kept.p_majority[rows]) if doubt is None else doubt[rows].astype(float),
        priority=np.zeros(len(assignment)),
    )


def nominate_nearest(
    source: Rows, kept: Kept, start: int, centroids: NDArray[np.float32], budget: IntArray
) -> tuple[Kept, Candidates]:
    """The rows of every cluster that are nearest to its centre."""
    several = [candidates(slice(0, 0), kept, start)]
    for block in source.blocks():
        rows = slice(block.start, block.start + len(block.values))
        members = candidates(rows, kept, start)
        distance = squared_distances(as_float32(block.values), centroids, members.cluster)
        several.append(replace(members, priority=distance).first_of_each_cluster(budget))
    return kept, Candidates.concatenate(several).first_of_each_cluster(budget)
