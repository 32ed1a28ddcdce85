"""What is measured: each case takes a pool and returns a function that is one query."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.linear_model import LogisticRegression

from benchmarks.speed.pools import N_CLASSES, N_LABELLED, Pool
from benchmarks.strategies.badge import badge
from benchmarks.strategies.cal import cal
from real_plugin import select

BATCH = 100
N_CLUSTERS = 50

Query = Callable[[], Any]


def real(pool: Pool) -> Query:
    """REAL as `select` runs it."""
    P, E = pool.probabilities(), pool.embeddings()
    return lambda: select(P, E, BATCH, n_clusters=N_CLUSTERS, random_state=0)


def soft(pool: Pool) -> Query:
    """The variant "soft", which has as many clusters as picks."""
    P, E = pool.probabilities(), pool.embeddings()
    return lambda: select(P, E, BATCH, variant="soft", random_state=0).indices


def published(pool: Pool) -> Query:
    """REAL on the path of the paper's published code, its k-means and its loops."""
    P, E = pool.probabilities(), pool.embeddings()
    kmeans = MiniBatchKMeans(N_CLUSTERS, random_state=0, n_init=3, max_iter=100)
    return lambda: _published_query(P, E, kmeans)


def lloyd(pool: Pool) -> Query:
    """REAL on the same path, with scikit-learn's full Lloyd iterations."""
    P, E = pool.probabilities(), pool.embeddings()
    kmeans = KMeans(N_CLUSTERS, random_state=0, n_init=1)
    return lambda: _published_query(P, E, kmeans)


def _published_query(P: NDArray[Any], E: NDArray[np.float32], kmeans: Any) -> float:
    """Returns the inertia."""
    centres = kmeans.fit(E).cluster_centers_
    index = faiss.IndexFlatL2(E.shape[1])
    index.add(np.ascontiguousarray(centres, dtype=np.float32))
    distance, nearest = index.search(E, 1)
    cluster = nearest[:, 0]
    predicted = P.argmax(axis=1)
    epsilon = np.zeros(len(P), dtype=np.float32)
    errors, density = [], np.zeros(N_CLUSTERS)
    for k in range(N_CLUSTERS):
        members = np.flatnonzero(cluster == k)
        majority = Counter(predicted[members].tolist()).most_common(1)[0][0] if len(members) else 0
        epsilon[members] = 1 - P[members, majority]
        errors.append(members[predicted[members] != majority])
        density[k] = epsilon[errors[k]].sum()
    budget = (density / density.sum() * BATCH).astype(int)
    budget[np.argsort(density)[::-1][: BATCH - budget.sum()]] += 1
    picks: list[int] = []
    for k in np.flatnonzero(budget):
        picks += random.sample(errors[k].tolist(), min(int(budget[k]), len(errors[k])))
    rank = np.argsort(epsilon)[::-1]
    picks += [i for i in rank[: 2 * BATCH] if i not in picks][: BATCH - len(picks)]
    return float(distance.sum(dtype=np.float64))


class Labelled:
    """The labelled rows of a pool and a model trained on them, as a strategy sees them."""

    def __init__(self, pool: Pool, X: NDArray[np.float32]) -> None:
        self.X_training = X[:N_LABELLED]
        self.y_training = pool.labels()[:N_LABELLED].astype(np.int64)
        model = LogisticRegression(max_iter=1000).fit(self.X_training, self.y_training)
        self._weights = model.coef_.T.astype(np.float32)
        self._bias = model.intercept_.astype(np.float32)

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.float32]:
        """Computed in the query, as in the toolkit's cases."""
        return softmax(X @ self._weights + self._bias, axis=1)


def our_badge(pool: Pool) -> Query:
    """BADGE as the benchmarks run it."""
    X = pool.embeddings()
    learner = Labelled(pool, X)
    return lambda: badge(learner, X[N_LABELLED:], BATCH, random_state=0)


def our_cal(pool: Pool) -> Query:
    """CAL as the benchmarks run it."""
    X = pool.embeddings()
    learner = Labelled(pool, X)
    return lambda: cal(learner, X[N_LABELLED:], BATCH)


def _in_skactiveml(make_strategy: Callable[[], Any], needs_classifier: bool = True) -> Any:
    def case(pool: Pool) -> Query:
        from skactiveml.classifier import SklearnClassifier

        X, y = pool.embeddings(), pool.labels()
        arguments = {"X": X, "y": y, "batch_size": BATCH}
        if needs_classifier:
            clf = SklearnClassifier(LogisticRegression(max_iter=1000), classes=range(N_CLASSES))
            arguments |= {"clf": clf.fit(X, y), "fit_clf": False}
        strategy = make_strategy()
        return lambda: strategy.query(**arguments)

    return case


def _real_strategy() -> Any:
    from real_plugin.skactiveml import Real

    return Real(n_clusters=N_CLUSTERS, random_state=0)


def _built_in(name: str) -> Callable[[], Any]:
    def make() -> Any:
        import skactiveml.pool

        return getattr(skactiveml.pool, name)(random_state=0)

    return make


CASES: dict[str, Callable[[Pool], Query]] = {
    "REAL": real,
    "soft REAL": soft,
    "published REAL": published,
    "full Lloyd": lloyd,
    "BADGE": our_badge,
    "CAL": our_cal,
    "skactiveml: Real": _in_skactiveml(_real_strategy),
    "skactiveml: Badge": _in_skactiveml(_built_in("Badge")),
    "skactiveml: TypiClust": _in_skactiveml(_built_in("TypiClust"), needs_classifier=False),
    "skactiveml: ContrastiveAL": _in_skactiveml(_built_in("ContrastiveAL")),
}
