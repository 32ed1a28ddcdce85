"""REAL (Algorithm 1 of the paper) and its ablation variants.

Equation numbers are those of Chen et al., "REAL: A Representative Error-Driven Approach
for Active Learning", ECML-PKDD 2023. The algorithm is written once, for a pool in parts:
what is computed for every row happens in the steps of `parts`, wherever the rows are. Here
their answers are put together: the (K, Y) counts of predictions, the K densities, and the
best few rows of every cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from real_plugin import parts, soft
from real_plugin._rows import ArrayRows, Rows, as_rows
from real_plugin._validation import (
    check_matrix,
    check_n_clusters,
    check_n_instances,
    check_option,
    check_seed,
)
from real_plugin.clustering import (
    nearest_to_centres,
    reduce_sparse,
    train,
    training_rows,
    training_size,
)
from real_plugin.parts import UNITS, Candidates, Finalists, Kept, Plan
from real_plugin.result import (
    COLD_START,
    COMPLEMENT,
    PSEUDO_ERROR,
    REPRESENTATIVE,
    Clusters,
    Selection,
)

VARIANTS = ("real", "pool", "uniform", "cluster", "entropy", "soft")
RESIDUALS = ("paper", "density")
SHORTFALLS = ("pool", "cluster")

IntArray = NDArray[np.int64]
Step = Callable[..., tuple[Kept, Any]]
Source = Literal["probabilities", "embeddings"] | None
Seed = int | np.random.RandomState | np.random.Generator | None


def select(
    probabilities: Any,
    embeddings: Any,
    n_instances: int,
    *,
    variant: str = "real",
    n_clusters: int | str = "auto",
    residual: str = "paper",
    shortfall: str = "pool",
    random_state: Seed = None,
) -> Selection:
    """Select the `n_instances` rows of a pool to label next.

    Parameters
    ----------
    probabilities : array-like of shape (n, Y), or chunks of one
        The model's class probabilities for every row of the unlabelled pool.
    embeddings : array-like or sparse matrix of shape (n, d), or chunks of one
        The model's representation of the same rows, such as the last layer's [CLS]
        vectors. Neither argument is changed, and what is on disk is read a block at a
        time: a `numpy.memmap`, or anything with a shape, a dtype and slices (Zarr, HDF5).
        Chunks are a list of arrays, an object that can be iterated over several times
        (`real_plugin.pools.parquet_column`), or a function that returns an iterator.
    n_instances : int
        The size of the batch, b in the paper.
    variant : {"real", "pool", "uniform", "cluster", "entropy", "soft"}, default="real"
        - ``"real"``: budgets by the density of pseudo errors, drawn at random from each
          cluster's pseudo errors (Algorithm 1).
        - ``"pool"``: the largest epsilon of the whole pool.
        - ``"uniform"``: the same budget for every cluster.
        - ``"cluster"``: budgets as in "real", the members with the largest epsilon.
        - ``"entropy"``: budgets as in "real", the pseudo errors with the largest
          prediction entropy.
        - ``"soft"``: no pseudo errors, but rows that represent the model's doubt,
          1 - margin: one each of b clusters. Experimental, see docs/successor.md.
    n_clusters : int or "auto", default="auto"
        K. "auto" follows the batch and the pool, see `auto_n_clusters`; for "soft" it is
        the batch, if that is more. More clusters than rows are clipped.
    residual : {"paper", "density"}, default="paper"
        Who gets what rounding down leaves over: one each to the clusters with the
        largest budgets above 0 ("paper"), or with the largest densities, as in the
        authors' published code ("density").
    shortfall : {"pool", "cluster"}, default="pool"
        Where a cluster with fewer pseudo errors than budget is filled up from, by
        epsilon: the whole pool ("pool", the paper), or first its own members, as in the
        authors' published code ("cluster").
    random_state : int, RandomState, Generator or None, default=None
        An integer repeats the selection. The drawn seed is in `Selection.random_state`.

    Returns
    -------
    Selection
        Exactly `n_instances` different rows, and why each was picked.

    Notes
    -----
    If all rows of the probabilities are the same (an unfitted or constant model), nothing
    can disagree. Then the rows nearest to the centres of `n_instances` clusters are
    returned, with the source "cold-start", whatever the variant.

    Examples
    --------
    >>> import numpy as np
    >>> from real_plugin import select
    >>> rng = np.random.default_rng(0)
    >>> embeddings = rng.normal(size=(200, 8)).astype("float32")
    >>> probabilities = rng.dirichlet([1, 1, 1], size=200)
    >>> selection = select(probabilities, embeddings, 10, random_state=0)
    >>> len(selection.indices)
    10
    """
    options = Options(variant, n_clusters, residual, shortfall)
    seed = check_seed(random_state)
    P = as_rows("probabilities", probabilities)
    E: Rows
    if sparse.issparse(embeddings):
        E = _reduced(P, embeddings, n_instances, options, seed)
    else:
        E = as_rows("embeddings", embeddings)
    return select_from(PoolHere([P], [E]), n_instances, options, seed)


def check_options(variant: str, n_clusters: int | str, residual: str, shortfall: str) -> None:
    """Raise a ValueError or TypeError for what `select` would not take."""
    check_option("variant", variant, VARIANTS)
    check_option("residual", residual, RESIDUALS)
    check_option("shortfall", shortfall, SHORTFALLS)
    check_n_clusters(n_clusters)


def auto_n_clusters(n_rows: int, n_instances: int) -> int:
    """The rule behind ``n_clusters="auto"``: a third of the batch, within bounds.

    - A third, since the published runs used between about two and five picks a cluster:
      Eq. 6 rounds down, and with more clusters than picks nearly every budget is 0.
    - At least 20, so that a small batch (modAL's default is one) still sees clusters that
      are local, not the whole pool's majority class.
    - At most a tenth of the rows, so that a cluster has ten members on average: the
      majority of two or three means nothing.
    """
    third = -(-n_instances // 3)
    return max(1, min(max(third, 20), n_rows // 10))


@dataclass(frozen=True)
class Options:
    """The options of `select`, checked."""

    variant: str
    n_clusters: int | str
    residual: str
    shortfall: str

    def __post_init__(self) -> None:
        check_options(self.variant, self.n_clusters, self.residual, self.shortfall)


class Pool(Protocol):
    """The parts of a pool, in their order, wherever they are."""

    def run(
        self, step: Step, source: Source, *shared: Any, each: Sequence[Any] | None = None
    ) -> list[Any]:
        """Run a step of `parts` on every part, and return what each of them tells.

        A step gets the part's `source`, what the step before kept, its own entry of
        `each` (if there is one) and all of `shared`.
        """

    def assignment(self, sizes: Sequence[int]) -> Any:
        """The cluster of every row, as kept by the steps; `sizes` are the parts' rows."""


class PoolHere:
    """A pool whose parts are read in this process, one after the other."""

    def __init__(self, probabilities: Sequence[Rows], embeddings: Sequence[Rows]) -> None:
        nothing = [None] * len(probabilities)
        self._sources = {"probabilities": probabilities, "embeddings": embeddings, None: nothing}
        self._kept: list[Any] = [None] * len(probabilities)

    def run(
        self, step: Step, source: Source, *shared: Any, each: Sequence[Any] | None = None
    ) -> list[Any]:
        told = []
        for number, rows in enumerate(self._sources[source]):
            own = [] if each is None else [each[number]]
            self._kept[number], answer = step(rows, self._kept[number], *own, *shared)
            told.append(answer)
        return told

    def assignment(self, sizes: Sequence[int]) -> NDArray[np.int32]:
        kept = [kept.assignment for kept in self._kept]
        return kept[0] if len(kept) == 1 else np.concatenate(kept)


def select_from(pool: Pool, n_instances: Any, options: Options, seed: int) -> Selection:
    """Algorithm 1 on a pool in parts."""
    is_soft = options.variant == "soft"
    seen = pool.run(parts.look, "probabilities", is_soft)
    whole = parts.join_probabilities(seen)
    starts = [0, *np.cumsum([part.n_rows for part in seen]).tolist()]
    batch = check_n_instances(n_instances, whole.n_rows)
    is_cold = whole.are_all_same
    K = _n_clusters(whole, batch, options)

    if is_soft and not is_cold:
        centroids = _train_on_doubt(pool, starts, K, seed)
    else:
        rows = training_rows(whole.n_rows, K, seed)
        centroids = train(_gather(pool, starts, rows), min(K, whole.n_rows), seed)
    told = pool.run(parts.count, "embeddings", centroids, whole.n_classes, is_soft)
    votes, inertia = (sum(column) for column in zip(*told, strict=True))
    pseudo_label = votes.argmax(axis=1)  # Eq. 3; argmax breaks ties to the lowest class
    if is_soft:
        pseudo_errors = votes.sum(axis=1) - votes.max(axis=1)
        density = sum(pool.run(soft.weigh, None, len(votes)))
    else:
        with_entropy = options.variant == "entropy" and not is_cold
        told = pool.run(parts.measure, "probabilities", pseudo_label, with_entropy)
        pseudo_errors, density = (sum(column) for column in zip(*told, strict=True))
    clusters = Clusters(
        size=votes.sum(axis=1),
        pseudo_errors=pseudo_errors,
        density=density / UNITS,
        budget=np.ones(len(votes), dtype=np.int64),
        pseudo_label=pseudo_label,
    )
    if is_cold:
        picks = _nearest(pool, starts, centroids, clusters, batch)
        source = np.full(batch, COLD_START)
    else:
        clusters.budget[:] = _budgets(pseudo_errors, density, batch, options)
        plan = Plan(options.variant, options.shortfall, batch, seed, pseudo_label, clusters.budget)
        nominate = soft.nominate if is_soft else parts.nominate
        told = pool.run(nominate, None, plan, each=starts[:-1])
        picks, source = _draw(Finalists.join(told, plan), plan)
    return Selection(
        indices=picks.row,
        cluster=picks.cluster,
        predicted=picks.predicted,
        pseudo_label=pseudo_label[picks.cluster],
        epsilon=picks.epsilon,
        source=source,
        clusters=clusters,
        assignment=pool.assignment([part.n_rows for part in seen]),
        inertia=inertia,
        n_clusters=len(clusters),
        variant=options.variant,
        random_state=seed,
    )


def _train_on_doubt(pool: Pool, starts: list[int], K: int, seed: int) -> NDArray[np.float32]:
    """Centroids of rows that count by their doubt."""
    count = training_size(starts[-1], K)
    told = pool.run(soft.draw, None, count, seed, each=starts[:-1])
    sample = soft.PrioritySample.join(told, count)
    return train(
        _gather(pool, starts, sample.row[:count]), min(K, starts[-1]), seed, sample.weights
    )


def _gather(pool: Pool, starts: list[int], rows: IntArray) -> NDArray[np.float32]:
    """The embeddings of some rows of the pool, in the order of `rows`."""
    part_of = np.searchsorted(starts, rows, side="right") - 1
    positions = [np.flatnonzero(part_of == part) for part in range(len(starts) - 1)]
    local = [rows[where] - start for where, start in zip(positions, starts, strict=False)]
    return parts.join_samples(pool.run(parts.gather, "embeddings", each=local), positions)


def _reduced(P: Rows, matrix: Any, n_instances: Any, options: Options, seed: int) -> ArrayRows:
    """Sparse embeddings as dense ones of few columns, learnt from the rows that train k-means."""
    E = ArrayRows("embeddings", check_matrix("embeddings", matrix.tocsr()))
    whole = parts.join_probabilities(PoolHere([P], [E]).run(parts.look, "probabilities"))
    parts.check_same_rows(E, whole.n_rows)
    K = _n_clusters(whole, check_n_instances(n_instances, whole.n_rows), options)
    rows = training_rows(whole.n_rows, K, seed)
    return ArrayRows("embeddings", reduce_sparse(E.values, rows, seed))


def _n_clusters(whole: parts.Probabilities, batch: int, options: Options) -> int:
    if whole.are_all_same:
        return batch
    if isinstance(options.n_clusters, str):
        auto = auto_n_clusters(whole.n_rows, batch)
        return max(batch, auto) if options.variant == "soft" else auto
    return int(options.n_clusters)


def _budgets(pseudo_errors: IntArray, density: IntArray, batch: int, options: Options) -> IntArray:
    if options.variant == "pool":
        return np.zeros_like(density)
    if options.variant == "uniform":
        return uniform_budgets(pseudo_errors, batch)
    if options.variant == "soft":
        return uniform_budgets(density, batch)
    return density_budgets(density, batch, options.residual)


def uniform_budgets(mass: IntArray, batch: int) -> IntArray:
    """The same for every cluster; the remainder goes where most of `mass` is."""
    each, remainder = divmod(batch, len(mass))
    budget = np.full(len(mass), each, dtype=np.int64)
    budget[np.argsort(-mass, kind="stable")[:remainder]] += 1
    return budget


def density_budgets(density: IntArray, batch: int, residual: str) -> IntArray:
    """Eq. 6 and the residual of Algorithm 1, from densities in any integer unit."""
    total = int(density.sum())
    budget = np.zeros(len(density), dtype=np.int64)
    if total == 0:
        return budget
    # A share within a millionth below an integer is that integer: probabilities are not
    # known better than that, and 0.1 + 0.2 should be 0.3. Python's integers are exact.
    slack = total // 10**6
    budget[:] = [(batch * int(d) + slack) // total for d in density]  # Eq. 6
    left = batch - int(budget.sum())
    order = np.argsort(-density, kind="stable")  # the largest density has the largest budget
    if residual == "paper":
        order = order[budget[order] > 0]
    budget[order[:left]] += 1
    return budget


def _draw(finalists: Finalists, plan: Plan) -> tuple[Candidates, NDArray[np.str_]]:
    """Spend the budgets, then complete the batch; the picks in order, and their source."""
    drawn = finalists.top if plan.variant == "pool" else finalists.drawn
    unspent = plan.budget - np.bincount(drawn.cluster, minlength=len(plan.budget))
    filled = finalists.fill.without(drawn).first_of_each_cluster(unspent)
    picks = Candidates.concatenate([drawn, filled])
    completing = finalists.top.without(picks)[: plan.batch - len(picks)]
    picks = Candidates.concatenate([picks, completing])
    source = np.full(plan.batch, COMPLEMENT, dtype=f"<U{len(REPRESENTATIVE)}")
    if plan.variant == "soft":
        source[: len(drawn)] = REPRESENTATIVE
    else:
        is_error = drawn.predicted != plan.pseudo_label[drawn.cluster]
        source[: len(drawn)][is_error] = PSEUDO_ERROR
    return picks, source


def _nearest(
    pool: Pool, starts: list[int], centroids: NDArray[np.float32], clusters: Clusters, batch: int
) -> Candidates:
    """The rows nearest to the centres: the nearest of every cluster, then the second ..."""
    depth = 1
    while np.minimum(clusters.size, depth).sum() < batch:
        depth += 1
    budget = np.full(len(clusters), depth)
    told = pool.run(parts.nominate_nearest, "embeddings", centroids, budget, each=starts[:-1])
    nearest = Candidates.concatenate(told).first_of_each_cluster(budget)
    return nearest[nearest_to_centres(nearest.priority, nearest.cluster, batch)]
