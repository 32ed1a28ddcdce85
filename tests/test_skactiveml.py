"""Real in scikit-activeml: what the library's own template does not look at."""

import pickle
import sys
from copy import deepcopy

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.utils import estimator_checks

pytest.importorskip("skactiveml")

from skactiveml.classifier import ParzenWindowClassifier, SklearnClassifier
from skactiveml.pool import SubSamplingWrapper
from skactiveml.pool.multiannotator import SingleAnnotatorWrapper
from skactiveml.utils import MISSING_LABEL, is_labeled

from real_plugin import select
from real_plugin.skactiveml import Real

VARIANTS = ["real", "pool", "uniform", "cluster", "entropy", "soft"]
all_variants = pytest.mark.parametrize("variant", VARIANTS)


class EmbeddingClassifier(ParzenWindowClassifier):
    """A classifier that gives embeddings on request, and counts its calls."""

    calls = 0

    def predict_proba(self, X, return_embeddings=False, extra_outputs=None):
        type(self).calls += 1
        P = super().predict_proba(X)
        return (P, np.tanh(X[:, ::2])) if return_embeddings or extra_outputs == "emb" else P


@pytest.fixture
def data():
    X, truth = load_digits(return_X_y=True)
    X, truth = X[:400] / 16, truth[:400]
    y = np.full(400, MISSING_LABEL)
    y[:40] = truth[:40]
    return X, y, truth


def classifier(**options):
    return SklearnClassifier(LogisticRegression(max_iter=500), classes=range(10), **options)


@all_variants
def test_batches_are_distinct_and_repeatable(variant, data):
    X, y, _ = data
    strategy = Real(variant=variant, random_state=0)
    indices = strategy.query(X, y, classifier(), batch_size=50)
    assert isinstance(indices, np.ndarray)
    assert len(set(indices.tolist())) == 50
    assert not is_labeled(y)[indices].any()
    np.testing.assert_array_equal(strategy.query(X, y, classifier(), batch_size=50), indices)


@all_variants
def test_duplicate_rows_give_no_duplicate_indices(variant, data):
    X, y, _ = data
    X = X.copy()
    X[60:] = X[60]
    indices = Real(variant=variant, random_state=0).query(X, y, classifier(), batch_size=30)
    assert len(set(indices.tolist())) == 30


@all_variants
def test_utilities_mean_epsilon_and_point_at_the_picks(variant, data):
    X, y, _ = data
    strategy = Real(variant=variant, random_state=0)
    indices, utilities = strategy.query(X, y, classifier(), batch_size=20, return_utilities=True)
    assert utilities.shape == (20, 400)
    np.testing.assert_array_equal(np.nanargmax(utilities, axis=1), indices)
    for row, earlier in enumerate(range(20)):
        missing = np.flatnonzero(np.isnan(utilities[row]))
        expected = np.concatenate([np.arange(40), indices[:earlier]])
        np.testing.assert_array_equal(missing, np.sort(expected))
    selection = strategy.selection_
    P = classifier().fit(X, y).predict_proba(X[40:])
    if variant == "soft":
        epsilon = 1 + np.diff(np.sort(P, axis=1)[:, :-3:-1], axis=1)[:, 0]
    else:
        epsilon = 1 - P[np.arange(360), selection.clusters.pseudo_label[selection.assignment]]
    rest = np.setdiff1d(np.arange(360), indices - 40)
    np.testing.assert_allclose(utilities[0, 40:][rest], epsilon[rest], rtol=1e-6)
    np.testing.assert_allclose(utilities[0, indices], 1 + epsilon[indices - 40])


@pytest.mark.parametrize("fit_clf", [True, False])
def test_the_callers_classifier_and_data_are_not_changed(fit_clf, data):
    X, y, _ = data
    clf = classifier()
    if not fit_clf:
        clf.fit(X, y)
    before = pickle.dumps(clf)
    X_before, y_before = X.copy(), y.copy()
    Real(random_state=0).query(X, y, clf, fit_clf=fit_clf, batch_size=10)
    assert pickle.dumps(clf) == before
    assert hasattr(clf, "estimator_") is not fit_clf
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)


def test_fit_clf_false_uses_the_fitted_classifier(data):
    X, y, truth = data
    clf = classifier().fit(X, truth.astype(float))
    strategy = Real(random_state=0)
    indices = strategy.query(X, y, clf, fit_clf=False, batch_size=10)
    expected = select(
        clf.predict_proba(X[40:]), X[40:], 10, random_state=strategy.selection_.random_state
    )
    assert sorted(indices) == sorted(expected.indices + 40)


def test_sample_weights_reach_the_fit(data):
    X, y, _ = data
    weights = np.where(np.arange(400) < 20, 100.0, 0.01)
    query = {"X": X, "y": y, "clf": classifier(), "batch_size": 20}
    plain = Real(random_state=0).query(**query)
    weighted = Real(random_state=0).query(**query, sample_weight=weights)
    assert sorted(plain) != sorted(weighted)


@all_variants
def test_parameters_are_stored_as_given(variant):
    flag = {"extra_outputs": "emb"}
    given = {
        "variant": variant,
        "n_clusters": np.int64(7),
        "residual": "density",
        "shortfall": "cluster",
        "clf_embedding_flag_name": flag,
        "missing_label": -1,
        "random_state": np.random.RandomState(0),
    }
    strategy = Real(**given)
    for name, value in given.items():
        assert getattr(strategy, name) is value
    bad = Real(variant="reel", n_clusters=0, residual=None, shortfall=0)  # refused by query only
    assert bad.get_params()["n_clusters"] == 0
    assert clone(strategy).get_params()["n_clusters"] == 7
    assert deepcopy(strategy).variant == variant


@pytest.mark.parametrize("flag", ["return_embeddings", {"extra_outputs": "emb"}])
def test_embeddings_come_with_the_probabilities_in_one_call(flag, data):
    X, y, _ = data
    clf = EmbeddingClassifier(classes=range(10))
    EmbeddingClassifier.calls = 0
    strategy = Real(clf_embedding_flag_name=flag, random_state=0)
    indices = strategy.query(X, y, clf, batch_size=20)
    assert EmbeddingClassifier.calls == 1
    P, E = clf.fit(X, y).predict_proba(X[40:], return_embeddings=True)
    expected = select(P, E, 20, random_state=strategy.selection_.random_state)
    assert sorted(indices) == sorted(expected.indices + 40)


def test_the_three_forms_of_candidates(data):
    X, y, _ = data
    rows = np.arange(100, 300, 2)
    query = {"X": X, "y": y, "clf": classifier(), "batch_size": 10, "return_utilities": True}
    by_row, utilities = Real(random_state=0).query(**query, candidates=rows)
    assert set(by_row) <= set(rows)
    assert utilities.shape == (10, 400)
    by_sample, sample_utilities = Real(random_state=0).query(**query, candidates=X[rows])
    assert sample_utilities.shape == (10, 100)
    assert sorted(rows[by_sample]) == sorted(by_row)
    np.testing.assert_allclose(sample_utilities[0], utilities[0, rows])
    unlabelled = Real(random_state=0).query(**query, candidates=np.arange(40, 400))[0]
    np.testing.assert_array_equal(unlabelled, Real(random_state=0).query(**query)[0])


@pytest.mark.filterwarnings("ignore:.*'base_estimator' could not be fitted")
@all_variants
def test_cold_start_without_any_label(variant, data):
    X, _, truth = data
    y = np.full(400, MISSING_LABEL)
    strategy = Real(variant=variant, random_state=0)
    indices = strategy.query(X, y, classifier(), batch_size=40)
    assert set(strategy.selection_.source) == {"cold-start"}
    assert len(set(truth[indices].tolist())) == 10  # digits of every kind


def test_one_class_only_is_a_cold_start_too(data):
    X, y, _ = data
    y = np.where(is_labeled(y), 1.0, MISSING_LABEL)
    strategy = Real(random_state=0)
    clf = SklearnClassifier(LogisticRegression())
    with pytest.warns(UserWarning, match="estimator"):
        strategy.query(X, y, clf, batch_size=5)
    assert set(strategy.selection_.source) == {"cold-start"}


@pytest.mark.parametrize("batch_size", [np.int64(10), np.int32(10), np.uint8(10)])
def test_numpy_batch_sizes(batch_size, data):
    X, y, _ = data
    assert len(Real(random_state=0).query(X, y, classifier(), batch_size=batch_size)) == 10


def test_too_large_a_batch_is_clipped_with_a_warning(data):
    X, y, _ = data
    with pytest.warns(UserWarning, match="batch_size"):
        indices = Real(random_state=0).query(X, y, classifier(), batch_size=1000)
    assert sorted(indices) == list(range(40, 400))


def test_inside_the_subsampling_wrapper(data):
    X, y, _ = data
    wrapper = SubSamplingWrapper(Real(random_state=0), max_candidates=100, random_state=0)
    indices, utilities = wrapper.query(
        X=X, y=y, clf=classifier(), batch_size=10, return_utilities=True
    )
    assert len(set(indices.tolist())) == 10
    assert np.isfinite(utilities[0]).sum() == 100


def test_inside_the_multi_annotator_wrapper(data):
    X, _, truth = data
    y = np.full((400, 3), MISSING_LABEL)
    y[:40] = truth[:40, None]
    wrapper = SingleAnnotatorWrapper(Real(random_state=0), random_state=0)
    pairs = wrapper.query(
        X,
        y,
        clf=classifier(),
        batch_size=6,
        n_annotators_per_sample=2,
    )
    assert pairs.shape == (6, 2)
    assert len(np.unique(pairs, axis=0)) == 6
    assert len(np.unique(pairs[:, 0])) == 3


@all_variants
def test_a_whole_cycle_learns(variant, data):
    X, y, truth = data
    y = y.copy()
    strategy, clf = Real(variant=variant, random_state=0), classifier(random_state=0)
    before = clf.fit(X, y).score(X, truth)
    for _ in range(4):
        chosen = strategy.query(X, y, clf, batch_size=30)
        y[chosen] = truth[chosen]
    assert is_labeled(y).sum() == 160
    assert clf.fit(X, y).score(X, truth) > before + 0.05


def test_the_selection_explains_the_batch(data):
    X, y, _ = data
    strategy = Real(random_state=0)
    indices = strategy.query(X, y, classifier(), batch_size=10)
    explained = strategy.selection_.indices + 40
    assert sorted(explained) == sorted(indices)
    assert "was picked because" in strategy.selection_.explain(int(indices[0]) - 40)


CHECKS = [
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("check", CHECKS)
def test_scikit_learns_checks_that_need_no_fit(check):
    getattr(estimator_checks, check)("Real", Real())


def test_without_scikit_activeml_the_error_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "real_plugin.skactiveml")
    monkeypatch.setitem(sys.modules, "skactiveml.base", None)
    with pytest.raises(ImportError, match=r"pip install 'real-plugin\[skactiveml\]'"):
        import real_plugin.skactiveml  # noqa: F401
