"""REAL and its variants as a scikit-activeml query strategy."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from real_plugin._validation import at_least_two_classes
from real_plugin.parts import doubt
from real_plugin.result import Selection
from real_plugin.selection import check_options, select

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
    from skactiveml.classifier import SklearnClassifier
    from skactiveml.utils import (
        MISSING_LABEL,
        check_equal_missing_label,
        check_scalar,
        check_type,
    )
except ImportError as error:
    raise ImportError(
        "real_plugin.skactiveml needs scikit-activeml: pip install 'real-plugin[skactiveml]'"
    ) from error


class Real(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc]
    """Representative Errors for Active Learning (REAL).

    Clusters the candidates by their embeddings, takes the predictions that differ from
    their cluster's majority as pseudo errors, and spends the batch where these are dense.

    Parameters
    ----------
    variant : {"real", "pool", "uniform", "cluster", "entropy", "soft"}, default="real"
        REAL itself, one of the ablations, or the experimental "soft", see
        `real_plugin.select`.
    n_clusters : int or "auto", default="auto"
        K; "auto" follows the batch and the number of candidates.
    residual : {"paper", "density"}, default="paper"
        Who gets what rounding down the budgets leaves over.
    shortfall : {"pool", "cluster"}, default="pool"
        Where a cluster with too few pseudo errors is filled up from.
    clf_embedding_flag_name : str, dict or None, default=None
        How to ask ``clf.predict_proba`` for embeddings: a str `s` calls
        ``predict_proba(X, **{s: True})``, a dict `d` calls ``predict_proba(X, **d)``; both
        must return (probabilities, embeddings). None clusters X itself, unless
        `predict_proba` returns such a pair anyway.
    missing_label : scalar, default=MISSING_LABEL
        Value that marks an unlabelled sample.
    random_state : int, RandomState or None, default=None
        An integer repeats the query.

    Attributes
    ----------
    selection_ : real_plugin.Selection
        Why the last batch was picked. Its rows are counted among the candidates; without
        `candidates`, these are the unlabelled rows of `X` in their order.

    References
    ----------
    .. [1] C. Chen, Y. Wang, L. Liao, Y. Chen, X. Du. REAL: A Representative Error-Driven
       Approach for Active Learning. ECML-PKDD 2023.
    """

    def __init__(
        self,
        variant: str = "real",
        n_clusters: int | str = "auto",
        residual: str = "paper",
        shortfall: str = "pool",
        clf_embedding_flag_name: str | dict[str, Any] | None = None,
        missing_label: Any = MISSING_LABEL,
        random_state: Any = None,
    ) -> None:
        self.variant = variant
        self.n_clusters = n_clusters
        self.residual = residual
        self.shortfall = shortfall
        self.clf_embedding_flag_name = clf_embedding_flag_name
        super().__init__(missing_label=missing_label, random_state=random_state)

    def query(
        self,
        X: Any,
        y: Any,
        clf: Any,
        fit_clf: bool = True,
        sample_weight: Any = None,
        candidates: Any = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> Any:
        """Determine which candidates to label next.

        Parameters
        ----------
        X : array-like of shape (n_samples, ...)
            The data set, labelled and unlabelled.
        y : array-like of shape (n_samples,)
            Its labels, `missing_label` where there is none.
        clf : skactiveml.base.SkactivemlClassifier
            Gives the probabilities, in one call of `predict_proba`; never changed.
        fit_clf : bool, default=True
            Fit a clone of `clf` on `X` and `y` first. A network that is already trained
            needs False, since a clone is untrained.
        sample_weight : array-like of shape (n_samples,), optional
            Weights for that fit.
        candidates : None, array-like of int, or array-like of samples, default=None
            The unlabelled samples of `X`; these rows of `X`; or these samples themselves.
        batch_size : int, default=1
            How many to select.
        return_utilities : bool, default=False
            Also return the utilities.

        Returns
        -------
        query_indices : ndarray of shape (batch_size,)
            Rows of `X`, or of `candidates` if these are samples, by falling utility.
        utilities : ndarray of shape (batch_size, n_samples) or (batch_size, n_candidates)
            Epsilon of every candidate (1 - P(majority class of its cluster), or 1 - margin
            with the variant "soft"), plus 1 for the batch: the largest utility of each row
            is that row's pick. What is no candidate, or was picked in an earlier row, is
            NaN.
        """
        if isinstance(batch_size, Integral) and not isinstance(batch_size, bool):
            batch_size = int(batch_size)  # numpy's integers are refused otherwise
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        X_cand, mapping = self._transform_candidates(candidates, X, y)
        check_type(clf, "clf", SkactivemlClassifier)
        check_equal_missing_label(clf.missing_label, self.missing_label_)
        check_scalar(fit_clf, "fit_clf", bool)
        check_options(self.variant, self.n_clusters, self.residual, self.shortfall)
        predict_proba_kwargs = _embedding_kwargs(self.clf_embedding_flag_name)

        if fit_clf:
            weights = () if sample_weight is None else (sample_weight,)
            clf = clone(clf).fit(X, y, *weights)
        scores = clf.predict_proba(X_cand, **predict_proba_kwargs)
        P, E = scores if isinstance(scores, tuple) else (scores, X_cand)
        P = at_least_two_classes(P)

        self.selection_ = select(
            P,
            np.asarray(E).reshape(len(E), -1),
            batch_size,
            variant=self.variant,
            n_clusters=self.n_clusters,
            residual=self.residual,
            shortfall=self.shortfall,
            random_state=self.random_state_,
        )
        utilities = _utilities(P, self.selection_)
        if mapping is not None:
            in_X = np.full(len(X), np.nan)
            in_X[mapping] = utilities
            utilities = in_X
        query_indices = np.argsort(-utilities, kind="stable")[:batch_size]
        if not return_utilities:
            return query_indices
        rows = np.tile(utilities, (batch_size, 1))
        for pick, row in enumerate(rows):
            row[query_indices[:pick]] = np.nan
        return query_indices, rows


def _embedding_kwargs(flag: str | dict[str, Any] | None) -> dict[str, Any]:
    if flag is None:
        return {}
    check_type(flag, "clf_embedding_flag_name", str, dict)
    return {flag: True} if isinstance(flag, str) else flag


def _utilities(P: NDArray[np.floating], selection: Selection) -> NDArray[np.float64]:
    """Epsilon of every candidate, plus 1 for the batch."""
    utilities: NDArray[np.float64]
    if selection.variant == "soft":
        utilities = doubt(P).astype(np.float64)
    else:
        majority = selection.clusters.pseudo_label[selection.assignment]
        utilities = 1.0 - P[np.arange(len(P)), majority].astype(np.float64)
    utilities[selection.indices] += 1.0
    return utilities


class EmbeddingClassifier(SklearnClassifier):  # type: ignore[misc]
    """scikit-activeml's wrapper for classifiers that give embeddings with probabilities.

    It takes an estimator such as `real_plugin.text.TransformerClassifier`, whose
    ``predict_proba(X, return_embeddings=True)`` returns (probabilities, embeddings), and
    hands both to strategies with ``clf_embedding_flag_name="return_embeddings"``: Real,
    Badge, ContrastiveAL. Give the texts as the integer matrix of the estimator's `tokenize`,
    and train it outside of the strategy (``fit_clf=False``).

    `fit` trains a fresh copy of the estimator; `partial_fit` goes on with the trained one.
    Without any label the probabilities are uniform, and the embeddings those of the
    estimator's `embed`, so a query becomes a cold start.
    """

    def predict_proba(self, X: Any, return_embeddings: bool = False) -> Any:
        """Probabilities by the columns of `classes_`, and embeddings if asked for."""
        if not return_embeddings:
            return super().predict_proba(X)
        check_is_fitted(self)
        X = np.asarray(X)
        if not self.is_fitted_:
            return super().predict_proba(X), self.estimator_.embed(X)
        member_P, E = self.estimator_.predict_proba(X, return_embeddings=True)
        P = np.zeros((len(member_P), len(self.classes_)))
        P[:, np.searchsorted(self.classes_, self.estimator_.classes_)] = member_P
        return P, E
