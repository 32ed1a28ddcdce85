"""TransformerClassifier inside modAL and scikit-activeml: one pass, no change, warm start."""

import numpy as np
import pytest

pytest.importorskip("skactiveml")
from modAL.models import ActiveLearner, DeepActiveLearner
from skactiveml.pool import Badge, ContrastiveAL
from skactiveml.utils import MISSING_LABEL

from real_plugin import real_query, select
from real_plugin.skactiveml import EmbeddingClassifier, Real

FLAG = "return_embeddings"


def counted(module, rows):
    return module.encoder.register_forward_hook(
        lambda module, args, output: rows.append(len(output.last_hidden_state))
    )


@pytest.mark.parametrize("form", [list, np.array])
def test_active_learner_queries_in_one_pass_and_goes_on(form, make, data):
    (X, y), (pool, truth) = data
    clf = make(max_epochs=2, later_epochs=1)
    learner = ActiveLearner(clf, real_query, X_training=form(X), y_training=form(y))
    P, E = clf.predict_proba(pool, return_embeddings=True)
    rows = []
    hook = counted(clf.module_, rows)
    indices, instances = learner.query(form(pool), n_instances=10, random_state=0)
    hook.remove()
    assert sum(rows) == len(pool)
    np.testing.assert_array_equal(indices, select(P, E, 10, random_state=0).indices)
    learner.teach(instances, form([truth[i] for i in indices]))
    assert clf.rounds_ == 2
    assert len(clf.history) == 3


def test_deep_active_learner(make, data):
    (X, y), (pool, _) = data
    learner = DeepActiveLearner(make(max_epochs=2, classes=sorted(set(y))), real_query)
    learner.teach(np.array(X), np.array(y))
    indices, instances = learner.query(np.array(pool), n_instances=2)
    assert indices.shape == (2,)
    assert len(instances) == 2


def test_cold_start_on_pretrained_embeddings(make, data):
    pool = data[1][0]
    clf = make()
    learner = ActiveLearner(clf, real_query)
    indices, _ = learner.query(pool, n_instances=10, embeddings=clf.embed, random_state=0)
    assert len(set(indices.tolist())) == 10


@pytest.fixture
def numbers(make, data):
    """Token ids, labels (most missing) and a trained scikit-activeml classifier."""
    (X, y), (pool, truth) = data
    coded = np.unique(y + truth, return_inverse=True)[1]
    clf = EmbeddingClassifier(make(max_epochs=3, classes=[0, 1, 2]), classes=range(3))
    tokens = clf.estimator.tokenize(X + pool)
    labels = np.full(len(tokens), MISSING_LABEL)
    labels[: len(y)] = coded[: len(y)]
    return tokens, labels, clf.partial_fit(tokens, labels), coded


@pytest.mark.parametrize("strategy", [Real, Badge, ContrastiveAL])
def test_strategies_of_scikit_activeml(strategy, numbers):
    tokens, labels, clf, _ = numbers
    rows = []
    hook = counted(clf.estimator_.module_, rows)
    strategy = strategy(clf_embedding_flag_name=FLAG, random_state=0)
    indices = strategy.query(tokens, labels, clf, fit_clf=False, batch_size=10)
    hook.remove()
    assert len(set(np.asarray(indices).tolist())) == 10
    labelled = np.isfinite(labels).sum() if isinstance(strategy, ContrastiveAL) else 0
    assert sum(rows) == np.isnan(labels).sum() + labelled


def test_partial_fit_goes_on_and_fit_begins_anew(numbers):
    tokens, labels, clf, _ = numbers
    assert clf.estimator_.rounds_ == 1
    clf.partial_fit(tokens, labels)
    assert clf.estimator_.rounds_ == 2
    clf.fit(tokens, labels)
    assert clf.estimator_.rounds_ == 1
    assert not clf.estimator.initialized_


def test_classes_without_a_label_yet_get_probability_zero(make, numbers):
    tokens, labels, _, _ = numbers
    two = np.where(labels == 1, MISSING_LABEL, labels)
    clf = EmbeddingClassifier(make(max_epochs=1), classes=range(3)).fit(tokens, two)
    P, E = clf.predict_proba(tokens, return_embeddings=True)
    assert P.shape == (len(tokens), 3)
    assert (P[:, 1] == 0).all()
    np.testing.assert_allclose(P, clf.predict_proba(tokens), atol=1e-6)
    assert E.shape == (len(tokens), 32)


@pytest.mark.filterwarnings("ignore:.*'base_estimator' could not be fitted")
def test_no_label_at_all_is_a_cold_start(make, numbers):
    tokens, labels, _, _ = numbers
    nothing = np.full_like(labels, MISSING_LABEL)
    clf = EmbeddingClassifier(make(classes=[0, 1, 2]), classes=range(3)).fit(tokens, nothing)
    strategy = Real(clf_embedding_flag_name=FLAG, random_state=0)
    strategy.query(tokens, nothing, clf, fit_clf=False, batch_size=5)
    assert set(strategy.selection_.source) == {"cold-start"}
