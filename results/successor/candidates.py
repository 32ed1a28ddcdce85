"""Candidates for a successor to REAL, as they were screened; see docs/successor.md.

Strategies for `python -m benchmarks run --strategy results/successor/candidates.py:NAME`.
"""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from real_plugin.clustering import cluster

Floats = NDArray[Any]
#: Draws that greedy k-means++ chooses each centre from.
DRAWS = 3
TINY = 1e-12


def shared(
    learner: Any,
    X_pool: Any,
    n_instances: int = 1,
    random_state: int | None = None,
    gamma: float = 3.0,
    per: float = 3.0,
    boost: float = 1.0,
    pick: str = "top",
    beta: float = 6.0,
    measure: str = "margin",
    temperature: float = 1.0,
    prefilter: float = 0.0,
    unit: bool = False,
    share: str = "sum",
    space: str = "representation",
) -> NDArray[np.int64]:
    """Clusters share the batch by the sum of u; the largest u of each are taken."""
    P = _probabilities(learner, X_pool, temperature)
    rng = np.random.default_rng(random_state)
    E = np.log(np.maximum(P, 1e-6)) if space == "logits" else X_pool
    E = _vectors(E, unit)
    unsure = _unsure(P, measure)
    rows = np.arange(len(P))
    if prefilter:
        rows = np.argsort(-unsure, kind="stable")[: int(prefilter * n_instances)]
    K = min(int(np.ceil(n_instances / per)), len(rows))
    c = cluster(E[rows], K, int(rng.integers(2**31))).assignment
    K = int(c.max()) + 1
    u = unsure[rows] ** gamma
    if boost != 1:
        u = np.where(_pseudo_errors(P[rows], c, K), boost * u, u)
    mass = np.bincount(c, weights=u, minlength=K)
    mass = np.sqrt(mass) if share == "sqrt" else mass
    budget = _largest_remainders(mass, n_instances, np.bincount(c, minlength=K))
    picks = []
    for k in np.flatnonzero(budget):
        members = np.flatnonzero(c == k)
        if pick == "gumbel":
            noise = rng.gumbel(size=len(members))
            value = beta * np.log(np.maximum(unsure[rows][members], TINY)) + noise
            order = np.argsort(-value)[: budget[k]]
        elif pick == "spread":
            order = _spread(E[rows][members], u[members], budget[k], int(beta * budget[k]))
        else:
            order = np.argsort(-u[members], kind="stable")[: budget[k]]
        picks.extend(rows[members[order]])
    return np.array(picks)


def power(
    learner: Any,
    X_pool: Any,
    n_instances: int = 1,
    random_state: int | None = None,
    beta: float = 6,
) -> NDArray[np.int64]:
    """No clusters: at random, in proportion to (1 - margin) ** beta (Kirsch et al. 2021)."""
    unsure = _unsure(_probabilities(learner, X_pool), "margin")
    noise = np.random.default_rng(random_state).gumbel(size=len(unsure))
    return np.argsort(-(beta * np.log(np.maximum(unsure, TINY)) + noise))[:n_instances]


def seeded(
    learner: Any,
    X_pool: Any,
    n_instances: int = 1,
    random_state: int | None = None,
    gamma: float = 3,
) -> NDArray[np.int64]:
    """No clusters: k-means++ seeding on rows weighted by u."""
    rng = np.random.default_rng(random_state)
    u = _unsure(_probabilities(learner, X_pool), "margin") ** gamma
    E = _vectors(X_pool)
    squares = (E**2).sum(axis=1)
    picks = [int(u.argmax())]
    distance = _distances(E, squares, picks[0])
    while len(picks) < n_instances:
        weight = distance * u
        weight[picks] = 0
        picks.append(int(rng.choice(len(weight), p=weight / weight.sum())))
        distance = np.minimum(distance, _distances(E, squares, picks[-1]))
    return np.array(picks)


def weighted(
    learner: Any,
    X_pool: Any,
    n_instances: int = 1,
    random_state: int | None = None,
    gamma: float = 1.0,
    pick: str = "centre",
    mix: float = 0.5,
    schedule: str = "none",
    p: float = 1.0,
    measure: str = "margin",
) -> NDArray[np.int64]:
    """As many clusters as picks, by k-means weighted by u; one row of each is taken.

    It is the nearest to the centre, the most unsure ("top"), or the first by a mean of both
    ranks ("mix"), in which the centre counts by `mix`, or with `schedule="share"` by
    2 `mix` b / (labels + b), or with "unsure" by `mix` times the mean of 1 - margin. With
    "ratio" it is the smallest squared distance divided by u to the power of `p`, or with
    "batches" of `p` labels / b.
    """
    rng = np.random.default_rng(random_state)
    unsure = _unsure(_probabilities(learner, X_pool), measure)
    x = _vectors(X_pool)
    w = np.maximum(unsure**gamma, TINY).astype(np.float32)
    centre_counts = mix
    if schedule == "share":
        known = len(learner.y_training)
        centre_counts = min(1.0, mix * 2 * n_instances / (known + n_instances))
    if schedule == "unsure":
        centre_counts = min(1.0, mix * float(unsure.mean()))
    if schedule == "batches":
        p = p * len(learner.y_training) / n_instances
    distance, c = _weighted_kmeans(x, w, n_instances, rng)
    picks = []
    for k in range(n_instances):
        members = np.flatnonzero(c == k)
        if not len(members):
            continue
        if pick == "centre":
            score = distance[members]
        elif pick == "top":
            score = -unsure[members]
        elif pick == "ratio":
            score = np.log(np.maximum(distance[members], TINY))
            score = score - p * np.log(np.maximum(unsure[members], TINY))
        else:
            score = centre_counts * _ranks(distance[members])
            score = score + (1 - centre_counts) * _ranks(-unsure[members])
        picks.append(int(members[np.argsort(score, kind="stable")[0]]))
    return _completed(picks, unsure, n_instances)


def parted(
    learner: Any,
    X_pool: Any,
    n_instances: int = 1,
    random_state: int | None = None,
    cover: float = 1.0,
) -> NDArray[np.int64]:
    """`weighted` for a part of the batch, `cover` b / (labels + b), and margin for the rest."""
    known = len(learner.y_training)
    part = round(min(1.0, cover * n_instances / (known + n_instances)) * n_instances)
    first = list(weighted(learner, X_pool, part, random_state)) if part else []
    unsure = _unsure(_probabilities(learner, X_pool), "margin")
    return _completed([int(row) for row in first], unsure, n_instances)


def _probabilities(learner: Any, X_pool: Any, temperature: float = 1.0) -> Floats:
    P = np.asarray(learner.predict_proba(X_pool), dtype=np.float64)
    if temperature == 1:
        return P
    logits = np.log(np.maximum(P, TINY)) / temperature
    logits -= logits.max(axis=1, keepdims=True)
    P = np.exp(logits)
    return P / P.sum(axis=1, keepdims=True)


def _vectors(E: Any, unit: bool = False) -> Floats:
    E = np.asarray(E, dtype=np.float32)
    return E / np.maximum(np.linalg.norm(E, axis=1, keepdims=True), 1e-9) if unit else E


def _unsure(P: Floats, measure: str) -> Floats:
    """1 - margin, 1 - the largest probability, or the entropy as a share of the largest."""
    if measure == "confidence":
        return 1 - P.max(axis=1)
    if measure == "entropy":
        return -(P * np.log(np.maximum(P, TINY))).sum(axis=1) / np.log(P.shape[1])
    two = np.partition(P, -2, axis=1)[:, -2:]
    return 1 - (two[:, 1] - two[:, 0])


def _pseudo_errors(P: Floats, c: NDArray[Any], K: int) -> NDArray[np.bool_]:
    predicted = P.argmax(axis=1)
    counts = np.zeros((K, P.shape[1]), dtype=int)
    np.add.at(counts, (c, predicted), 1)
    return predicted != counts.argmax(axis=1)[c]


def _largest_remainders(mass: Floats, batch: int, size: NDArray[Any]) -> NDArray[Any]:
    """`batch` in proportion to `mass`, at most `size` each."""
    budget = np.zeros(len(mass), dtype=int)
    while (left := batch - budget.sum()) > 0:
        has_room = budget < size
        weight = np.where(has_room, mass, 0.0)
        weight = weight if weight.sum() > 0 else has_room.astype(float)
        ideal = left * weight / weight.sum()
        give = np.minimum(np.floor(ideal).astype(int), size - budget)
        if give.sum() == 0:
            order = np.argsort(-(ideal - np.floor(ideal)), kind="stable")
            give[order[has_room[order]][:left]] = 1
        budget += give
    return budget


def _spread(x: Floats, u: Floats, count: int, most: int) -> NDArray[Any]:
    """Farthest first, weighted by u, among the `most` largest u."""
    top = np.argsort(-u, kind="stable")[: max(count, most)]
    chosen = [0]
    distance = ((x[top] - x[top[0]]) ** 2).sum(axis=1)
    while len(chosen) < count:
        score = distance * u[top]
        score[chosen] = -1
        chosen.append(int(score.argmax()))
        distance = np.minimum(distance, ((x[top] - x[top[chosen[-1]]]) ** 2).sum(axis=1))
    return top[chosen]


def _distances(x: Floats, squares: Floats, row: int) -> Floats:
    return np.maximum(squares + squares[row] - 2 * x @ x[row], 0)


def _weighted_kmeans(
    x: Floats, w: Floats, K: int, rng: np.random.Generator
) -> tuple[Floats, NDArray[Any]]:
    """Squared distance of every row to its centre, and the number of that."""
    seed = int(rng.integers(2**31 - 1))
    squares = (x**2).sum(axis=1)
    centres = [int(rng.choice(len(x), p=w / w.sum()))]
    distance = _distances(x, squares, centres[0])
    for _ in range(K - 1):
        chance = distance * w
        draws = rng.choice(len(x), size=DRAWS, p=chance / chance.sum())
        after = [np.minimum(distance, _distances(x, squares, int(row))) for row in draws]
        best = int(np.argmin([(d * w).sum() for d in after]))
        centres.append(int(draws[best]))
        distance = after[best]
    kmeans = faiss.Kmeans(
        x.shape[1],
        K,
        niter=15,
        seed=seed,
        min_points_per_centroid=1,
        max_points_per_centroid=len(x),
    )
    kmeans.train(x, weights=w, init_centroids=np.ascontiguousarray(x[centres]))
    found, nearest = kmeans.index.search(x, 1)
    return found[:, 0], nearest[:, 0]


def _ranks(values: Floats) -> Floats:
    return np.argsort(np.argsort(values)) / max(1, len(values) - 1)


def _completed(picks: list[int], unsure: Floats, batch: int) -> NDArray[np.int64]:
    """The picks, and the smallest margins of the rest."""
    rest = np.setdiff1d(np.argsort(-unsure, kind="stable"), picks, assume_unique=True)
    return np.array([*picks, *rest[: batch - len(picks)].tolist()])
