"""REAL and its variants as modAL query strategies.

A strategy is a function of the learner and the pool that returns positions in the pool.
modAL itself is never imported: whatever has `predict_proba` will do.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

from real_plugin._validation import at_least_two_classes
from real_plugin.result import Selection
from real_plugin.selection import select


def real_query(
    classifier: Any,
    X_pool: Any,
    n_instances: int = 1,
    *,
    embeddings: Any = None,
    variant: str = "real",
    n_clusters: int | str = "auto",
    residual: str = "paper",
    shortfall: str = "pool",
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
    random_tie_break: bool = False,
    **predict_proba_kwargs: Any,
) -> Any:
    """Query strategy REAL: the rows of the pool to label next.

    Parameters
    ----------
    classifier : modAL learner or committee, or a fitted classifier
        Whatever has `predict_proba`. It is called once and never changed. If it is not
        fitted yet, or knows one class only, the batch is a cold start: rows near the
        centres of clusters.
    X_pool : array, sparse matrix, DataFrame, Series, tensor or list
        The unlabelled pool, in the form the classifier takes.
    n_instances : int, default=1
        How many rows to select.
    embeddings : array of shape (n, d), callable or None, default=None
        The vectors to cluster: an array with a row for every row of the pool, or a
        function of the pool that returns one. None takes, in this order, what the
        estimator offers (``predict_proba(X, return_embeddings=True)``), the output of
        all steps but the last of a scikit-learn Pipeline, or the pool itself if it is
        numeric.
    variant, n_clusters, residual, shortfall, random_state
        As in `real_plugin.select`.
    random_tie_break : bool
        Has no effect: calls written for modAL's own strategies run unchanged.
    **predict_proba_kwargs
        Passed on to `predict_proba`.

    Returns
    -------
    indices : ndarray of int
        Positions in the pool, whatever index a DataFrame or Series has.
    epsilon : ndarray of float
        The erroneous probability of every pick. Only for learners whose `query` takes
        ``return_metrics`` (modAL-python 0.4.2 and later), which expect such a pair.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from real_plugin import real_query
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LogisticRegression(max_iter=500).fit(X[::30], y[::30])
    >>> len(real_query(clf, X, n_instances=5, random_state=0))
    5
    """
    P, E = score_pool(classifier, X_pool, embeddings, **predict_proba_kwargs)
    selection = select(
        P,
        E,
        n_instances,
        variant=variant,
        n_clusters=n_clusters,
        residual=residual,
        shortfall=shortfall,
        random_state=random_state,
    )
    return _as_modal_result(classifier, selection)


def real_pool_query(classifier: Any, X_pool: Any, n_instances: int = 1, **options: Any) -> Any:
    """Query strategy REAL pool: the largest epsilon of the pool; options of `real_query`."""
    return real_query(classifier, X_pool, n_instances, variant="pool", **options)


def real_uniform_query(classifier: Any, X_pool: Any, n_instances: int = 1, **options: Any) -> Any:
    """Query strategy REAL uniform: equal budgets; options of `real_query`."""
    return real_query(classifier, X_pool, n_instances, variant="uniform", **options)


def real_cluster_query(classifier: Any, X_pool: Any, n_instances: int = 1, **options: Any) -> Any:
    """Query strategy REAL cluster: each cluster's largest epsilon; options of `real_query`."""
    return real_query(classifier, X_pool, n_instances, variant="cluster", **options)


def real_entropy_query(classifier: Any, X_pool: Any, n_instances: int = 1, **options: Any) -> Any:
    """Query strategy REAL entropy: the most uncertain pseudo errors; options of `real_query`."""
    return real_query(classifier, X_pool, n_instances, variant="entropy", **options)


def real_soft_query(classifier: Any, X_pool: Any, n_instances: int = 1, **options: Any) -> Any:
    """Query strategy REAL soft: rows that represent the model's doubt; options of `real_query`.

    Experimental: docs/successor.md has the evidence.
    """
    return real_query(classifier, X_pool, n_instances, variant="soft", **options)


#: The strategies by the name of their variant.
STRATEGIES: dict[str, Callable[..., Any]] = {
    "real": real_query,
    "pool": real_pool_query,
    "uniform": real_uniform_query,
    "cluster": real_cluster_query,
    "entropy": real_entropy_query,
    "soft": real_soft_query,
}


def score_pool(
    classifier: Any, X_pool: Any, embeddings: Any = None, **predict_proba_kwargs: Any
) -> tuple[Any, Any]:
    """Probabilities and embeddings of a pool, in one pass, as `real_query` takes them.

    `select` on the two gives the batch of `real_query`, with its explanation.
    """
    try:
        P, offered = _score(classifier, X_pool, predict_proba_kwargs)
    except NotFittedError as error:
        P, offered = np.full((_n_rows(X_pool), 2), 0.5), None
        if embeddings is None and not _is_numeric(X_pool):
            raise NotFittedError(
                f"{error} For a cold start on a pool that is not numeric, pass embeddings=."
            ) from error
    P = at_least_two_classes(P)
    if callable(embeddings):
        return P, embeddings(X_pool)
    if embeddings is not None:
        return P, embeddings
    source = X_pool if offered is None else offered
    if not _is_numeric(source):
        raise TypeError(
            f"There is nothing to cluster: {_estimator_of(classifier)!r} has no "
            "predict_proba(..., return_embeddings=True), and neither the pool nor what the "
            f"steps before the classifier make of it is numeric (got {_describe(source)}). "
            "Pass embeddings=, an array with a row for every row of the pool, or a function "
            "of the pool that returns one."
        )
    return P, _as_vectors(source)


def _score(classifier: Any, X: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Probabilities, and the embeddings that come with them or None if there are none."""
    if hasattr(classifier, "learner_list"):
        return _score_committee(classifier, X, kwargs)
    estimator = _estimator_of(classifier)
    if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
        features = estimator[:-1].transform(X)
        P, offered = _score(estimator.steps[-1][1], features, kwargs)
        return P, features if offered is None else offered
    try:
        predict_proba = estimator.predict_proba
    except AttributeError as error:
        raise TypeError(
            f"{estimator!r} has no predict_proba, and REAL needs class probabilities; use a "
            "classifier that gives them, or wrap it in CalibratedClassifierCV."
        ) from error
    if "return_embeddings" in inspect.signature(predict_proba).parameters:
        P, offered = predict_proba(X, return_embeddings=True, **kwargs)
        return P, offered
    return predict_proba(X, **kwargs), None


def _score_committee(committee: Any, X: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The mean of the members' probabilities; their embeddings side by side."""
    total: Any = 0.0
    offers = []
    for learner in committee.learner_list:
        member_P, offered = _score(learner, X, kwargs)
        P = np.zeros((len(member_P), len(committee.classes_)))
        P[:, np.searchsorted(committee.classes_, learner.estimator.classes_)] = member_P
        total = total + P
        if offered is not None:
            offers.append(offered)
    stack = sparse.hstack if any(map(sparse.issparse, offers)) else np.hstack
    return total / len(committee.learner_list), stack(offers) if offers else None


def _estimator_of(classifier: Any) -> Any:
    """The estimator inside a modAL learner; anything else is one itself."""
    return classifier.estimator if hasattr(classifier, "teach") else classifier


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _is_numeric(X: Any) -> bool:
    if sparse.issparse(X):
        return True
    if isinstance(X, dict) or (isinstance(X, list) and X and isinstance(X[0], str)):
        return False
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        return all(getattr(dtype, "kind", "O") in "fiub" for dtype in X.dtypes)
    try:
        return _to_array(X).dtype.kind in "fiub"
    except (TypeError, ValueError):  # ragged, or nothing that numpy knows
        return False


def _as_vectors(X: Any) -> Any:
    """A numeric pool as a matrix: images and other rows of many axes are laid flat."""
    if sparse.issparse(X):
        return X
    X = _to_array(X)
    return X.reshape(len(X), -1)


def _to_array(X: Any) -> NDArray[Any]:
    if hasattr(X, "detach"):  # a tensor, perhaps on another device
        X = X.detach().cpu()
    return np.asarray(X)


def _describe(X: Any) -> str:
    kind = f"{type(X).__name__} of {type(X[0]).__name__}" if isinstance(X, list) and X else None
    return kind or type(X).__name__


def _as_modal_result(classifier: Any, selection: Selection) -> Any:
    """Indices and metrics where the learner's `query` unpacks them, else indices.

    modAL-python 0.4.2 calls a strategy a second time unless it returns such a pair, and
    takes two bare indices for one; 0.4.1 would hand out the metrics as instances.
    """
    query = getattr(type(classifier), "query", None)
    if query is not None and "return_metrics" in inspect.signature(query).parameters:
        return selection.indices, selection.epsilon
    return selection.indices
