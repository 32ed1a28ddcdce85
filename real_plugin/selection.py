"""REAL (Algorithm 1 of the paper) and its ablation variants, on plain arrays.

Equation numbers are those of Chen et al., "REAL: A Representative Error-Driven Approach
for Active Learning", ECML-PKDD 2023. Besides the clustering, the algorithm needs only
small reductions over the pool: the (K, Y) counts of predictions, the K densities, and the
best few rows of every cluster. Each of them is exact, so none depends on the order in
which the rows come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from real_plugin._keys import instance_keys
from real_plugin._validation import (
    check_embeddings,
    check_n_clusters,
    check_n_instances,
    check_option,
    check_probabilities,
    check_seed,
)
from real_plugin.clustering import (
    CHUNK_ROWS,
    Clustering,
    cluster,
    nearest_to_centres,
    rank_in_cluster,
)
from real_plugin.result import COLD_START, COMPLEMENT, PSEUDO_ERROR, Clusters, Selection

VARIANTS = ("real", "pool", "uniform", "cluster", "entropy")
RESIDUALS = ("paper", "density")
SHORTFALLS = ("pool", "cluster")

#: Densities are summed as integers, in units of 2**-32: integer sums don't depend on the
#: order, float sums do.
_UNITS = 2**32
#: Two rows of probabilities are the same if no entry differs by more.
_SAME = 1e-6

IntArray = NDArray[np.int64]


def select(
    probabilities: Any,
    embeddings: Any,
    n_instances: int,
    *,
    variant: str = "real",
    n_clusters: int | str = "auto",
    residual: str = "paper",
    shortfall: str = "pool",
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Selection:
    """Select the `n_instances` rows of a pool to label next.

    Parameters
    ----------
    probabilities : array-like of shape (n, Y)
        The model's class probabilities for every row of the unlabelled pool.
    embeddings : array-like or sparse matrix of shape (n, d)
        The model's representation of the same rows, such as the last layer's [CLS]
        vectors. Neither array is changed or copied as a whole.
    n_instances : int
        The size of the batch, b in the paper.
    variant : {"real", "pool", "uniform", "cluster", "entropy"}, default="real"
        - ``"real"``: budgets by the density of pseudo errors, drawn at random from each
          cluster's pseudo errors (Algorithm 1).
        - ``"pool"``: the largest epsilon of the whole pool.
        - ``"uniform"``: the same budget for every cluster.
        - ``"cluster"``: budgets as in "real", the members with the largest epsilon.
        - ``"entropy"``: budgets as in "real", the pseudo errors with the largest
          prediction entropy.
    n_clusters : int or "auto", default="auto"
        K. "auto" follows the batch and the pool, see `auto_n_clusters`. More clusters
        than rows are clipped.
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
    P = check_probabilities(probabilities)
    n_rows = len(P)
    E = check_embeddings(embeddings, n_rows)
    batch = check_n_instances(n_instances, n_rows)
    check_options(variant, n_clusters, residual, shortfall)
    k = auto_n_clusters(n_rows, batch) if isinstance(n_clusters, str) else int(n_clusters)
    seed = check_seed(random_state)

    if _all_rows_same(P):
        clustering = cluster(E, batch, seed)
        pool = _read_pool(P, clustering)
        budget = np.ones_like(pool.size)
        picks = nearest_to_centres(clustering, batch)
        source = np.full(batch, COLD_START)
    else:
        clustering = cluster(E, k, seed)
        pool = _read_pool(P, clustering)
        budget = _budgets(pool, batch, variant, residual)
        picks, source = _draw(P, pool, budget, batch, variant, shortfall, seed)
    return _selection(picks, source, pool, budget, clustering, variant, seed)


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


def _all_rows_same(P: NDArray[np.floating]) -> bool:
    chunks = (P[start : start + CHUNK_ROWS] for start in range(0, len(P), CHUNK_ROWS))
    return all((np.abs(chunk - P[0]) <= _SAME).all() for chunk in chunks)


@dataclass(frozen=True, eq=False)
class _Pool:
    """The pool as Algorithm 1 sees it: per row, then per cluster."""

    assignment: NDArray[np.int32]
    predicted: IntArray
    epsilon: NDArray[np.float64]
    is_error: NDArray[np.bool_]
    size: IntArray
    pseudo_label: IntArray
    pseudo_errors: IntArray
    density: IntArray  # in 1 / _UNITS


def _read_pool(P: NDArray[np.floating], clustering: Clustering) -> _Pool:
    n_rows, n_classes = P.shape
    K = len(clustering.centroids)
    c = clustering.assignment
    predicted = P.argmax(axis=1)  # Eq. 2
    counts = np.bincount(c.astype(np.int64) * n_classes + predicted, minlength=K * n_classes)
    counts = counts.reshape(K, n_classes)
    pseudo_label = counts.argmax(axis=1)  # Eq. 3; argmax breaks ties to the lowest class
    majority = pseudo_label[c]
    is_error = predicted != majority
    p_majority = P[np.arange(n_rows), majority].astype(np.float64)
    epsilon = np.clip(1.0 - p_majority, 0.0, 1.0)  # Eq. 5
    density = np.zeros(K, dtype=np.int64)
    np.add.at(density, c[is_error], np.rint(epsilon[is_error] * _UNITS).astype(np.int64))  # Eq. 4
    return _Pool(
        assignment=c,
        predicted=predicted,
        epsilon=epsilon,
        is_error=is_error,
        size=counts.sum(axis=1),
        pseudo_label=pseudo_label,
        pseudo_errors=np.bincount(c[is_error], minlength=K),
        density=density,
    )


def _budgets(pool: _Pool, batch: int, variant: str, residual: str) -> IntArray:
    if variant == "pool":
        return np.zeros_like(pool.size)
    if variant == "uniform":
        return uniform_budgets(pool.pseudo_errors, batch)
    return density_budgets(pool.density, batch, residual)


def uniform_budgets(pseudo_errors: IntArray, batch: int) -> IntArray:
    """The same for every cluster; the remainder goes where most pseudo errors are."""
    each, remainder = divmod(batch, len(pseudo_errors))
    budget = np.full(len(pseudo_errors), each, dtype=np.int64)
    budget[np.argsort(-pseudo_errors, kind="stable")[:remainder]] += 1
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


def _draw(
    P: NDArray[np.floating],
    pool: _Pool,
    budget: IntArray,
    batch: int,
    variant: str,
    shortfall: str,
    seed: int,
) -> tuple[IntArray, NDArray[np.str_]]:
    """Spend the budgets, then complete the batch; the picks in order, and their source."""
    errors = np.flatnonzero(pool.is_error)
    if variant == "pool":
        drawn = _largest(pool.epsilon, batch)
    elif variant == "cluster":
        drawn = _first_of_each_cluster(np.arange(len(P)), -pool.epsilon, pool, budget)
    elif variant == "entropy":
        drawn = _first_of_each_cluster(errors, -_entropy(P[errors]), pool, budget)
    else:
        keys = instance_keys(seed, 0, len(P))[errors]
        drawn = _first_of_each_cluster(errors, keys, pool, budget)
    picked = np.zeros(len(P), dtype=bool)
    picked[drawn] = True
    batches = [drawn]

    if shortfall == "cluster" and len(drawn) < batch:
        unspent = budget - np.bincount(pool.assignment[drawn], minlength=len(budget))
        rest = np.flatnonzero(~picked)
        filled = _first_of_each_cluster(rest, -pool.epsilon[rest], pool, unspent)
        picked[filled] = True
        batches.append(filled)

    missing = batch - int(picked.sum())
    batches.append(_largest(np.where(picked, -1.0, pool.epsilon), missing))
    picks = np.concatenate(batches)
    source = np.full(batch, COMPLEMENT, dtype=f"<U{len(PSEUDO_ERROR)}")
    source[: len(drawn)][pool.is_error[drawn]] = PSEUDO_ERROR
    return picks, source


def _first_of_each_cluster(
    rows: IntArray, priority: NDArray[Any], pool: _Pool, budget: IntArray
) -> IntArray:
    """Of `rows`, the first `budget` of every cluster: lowest priority, then lowest row."""
    cluster_of = pool.assignment[rows]
    wanted = budget[cluster_of] > 0
    rows, cluster_of = rows[wanted], cluster_of[wanted]
    order, rank = rank_in_cluster(priority[wanted], cluster_of)
    kept = order[rank < budget[cluster_of[order]]]
    return rows[kept]


def _largest(values: NDArray[np.float64], count: int) -> IntArray:
    """Positions of the `count` largest values in falling order; ties to the lower."""
    if count == 0:
        return np.empty(0, dtype=np.int64)
    threshold = np.partition(values, len(values) - count)[len(values) - count]
    rows = np.flatnonzero(values >= threshold)
    return rows[np.argsort(-values[rows], kind="stable")[:count]]


def _entropy(P: NDArray[np.floating]) -> NDArray[np.float64]:
    P = P.astype(np.float64)
    return np.asarray(-xlogy(P, P).sum(axis=1))


def _selection(
    picks: IntArray,
    source: NDArray[np.str_],
    pool: _Pool,
    budget: IntArray,
    clustering: Clustering,
    variant: str,
    seed: int,
) -> Selection:
    return Selection(
        indices=picks.astype(np.int64, copy=False),
        cluster=pool.assignment[picks],
        predicted=pool.predicted[picks],
        pseudo_label=pool.pseudo_label[pool.assignment[picks]],
        epsilon=pool.epsilon[picks],
        source=source,
        clusters=Clusters(
            size=pool.size,
            pseudo_errors=pool.pseudo_errors,
            density=pool.density / _UNITS,
            budget=budget,
            pseudo_label=pool.pseudo_label,
        ),
        assignment=pool.assignment,
        inertia=clustering.inertia,
        n_clusters=len(pool.size),
        variant=variant,
        random_state=seed,
    )
