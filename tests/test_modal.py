"""real_query and its variants in modAL's own learners, on every modAL that is installed.

`make test` runs this file three times: with modAL-python 0.4.2.1 on current libraries, with
0.4.1, and in the environment of an old project (see legacy-requirements.txt).
"""

import inspect
import pickle
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from modAL.models import ActiveLearner, Committee
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from real_plugin import STRATEGIES, real_query, select
from real_plugin.modal import score_pool

GIVES_METRICS = "return_metrics" in inspect.signature(ActiveLearner.query).parameters
all_strategies = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)


class CountingClassifier(LogisticRegression):
    """A logistic regression that counts the passes over the pool."""

    passes = 0

    def predict_proba(self, X):
        type(self).passes += 1
        return super().predict_proba(X)


class EmbeddingClassifier(LogisticRegression):
    """A classifier with a representation of its own, as TransformerClassifier has."""

    passes = 0

    def predict_proba(self, X, return_embeddings=False):
        type(self).passes += 1
        P = super().predict_proba(X)
        return (P, self.decision_function(X)) if return_embeddings else P


class CountingVectorizer(TfidfVectorizer):
    passes = 0

    def transform(self, raw_documents):
        type(self).passes += 1
        return super().transform(raw_documents)


@pytest.fixture(autouse=True)
def _reset_counters():
    CountingClassifier.passes = EmbeddingClassifier.passes = CountingVectorizer.passes = 0


@pytest.fixture
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.fixture
def texts():
    """Three topics in 240 short texts, and their labels."""
    rng = np.random.default_rng(0)
    topics = [
        "goal match team player league score coach",
        "vote law party senate court reform budget",
        "cell gene virus protein vaccine trial dose",
    ]
    words = [topic.split() for topic in topics]
    y = np.arange(240) % 3
    sentences = []
    for label in y:
        other = words[rng.integers(3)]
        sentences.append(" ".join([*rng.choice(words[label], 4), *rng.choice(other, 2)]))
    return sentences, np.array(["sport", "politics", "science"])[y]


def counted(strategy, calls):
    def query_strategy(*args, **kwargs):
        calls.append(kwargs)
        return strategy(*args, **kwargs)

    return query_strategy


@all_strategies
@pytest.mark.parametrize("n_instances", [1, 2, 3, 100])
def test_the_contract(strategy, n_instances, digits):
    """The right rows, from one call of the strategy and one pass over the pool."""
    X, y = digits
    calls = []
    learner = ActiveLearner(
        CountingClassifier(max_iter=500),
        counted(strategy, calls),
        X_training=X[:50],
        y_training=y[:50],
    )
    indices, instances = learner.query(X[50:], n_instances=n_instances, random_state=0)
    assert indices.shape == (n_instances,)
    assert np.issubdtype(indices.dtype, np.integer)
    assert len(set(indices.tolist())) == n_instances
    np.testing.assert_array_equal(instances, X[50:][indices])
    assert len(calls) == CountingClassifier.passes == 1

    variant = next(name for name, s in STRATEGIES.items() if s is strategy)
    P = learner.predict_proba(X[50:])
    expected = select(P, X[50:], n_instances, variant=variant, random_state=0)
    np.testing.assert_array_equal(indices, expected.indices)


@pytest.mark.skipif(not GIVES_METRICS, reason="modAL-python before 0.4.2 has no return_metrics")
@pytest.mark.parametrize("n_instances", [1, 2, 3])
def test_metrics_are_the_epsilon_of_the_picks(n_instances, digits):
    X, y = digits
    learner = ActiveLearner(
        LogisticRegression(max_iter=500), real_query, X_training=X[:50], y_training=y[:50]
    )
    indices, _, metrics = learner.query(
        X[50:], n_instances=n_instances, random_state=0, return_metrics=True
    )
    selection = select(*score_pool(learner, X[50:]), n_instances, random_state=0)
    np.testing.assert_array_equal(metrics, selection.epsilon)
    np.testing.assert_array_equal(indices, selection.indices)


def test_the_first_argument_may_be_a_plain_classifier(digits):
    X, y = digits
    clf = LogisticRegression(max_iter=500).fit(X[:50], y[:50])
    indices = real_query(clf, X[50:], 7, random_state=0)
    assert isinstance(indices, np.ndarray)
    assert len(indices) == 7


def test_importing_the_package_imports_no_toolkit():
    code = (
        "import sys, real_plugin;"
        "print(sorted({'modAL', 'skactiveml', 'torch', 'skorch'} & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


# Pools


def pool_forms():
    X, _ = load_digits(return_X_y=True)
    X = X[50:350] / 16
    forms = {
        "float32 array": X.astype(np.float32),
        "list of lists": X.tolist(),
        "CSR matrix": sparse.csr_matrix(X),
        "CSC matrix": sparse.csc_matrix(X),
        "COO matrix": sparse.coo_matrix(X),
    }
    if hasattr(sparse, "csr_array"):
        forms["CSR array"] = sparse.csr_array(X)
    return forms


@pytest.mark.parametrize("form", pool_forms())
def test_forms_of_numeric_pools(form, digits):
    X, y = digits
    pool = pool_forms()[form]
    learner = ActiveLearner(
        LogisticRegression(max_iter=500), real_query, X_training=X[:50], y_training=y[:50]
    )
    indices, instances = learner.query(pool, n_instances=10, random_state=0)
    expected = real_query(learner.estimator, X[50:350], 10, random_state=0)
    np.testing.assert_array_equal(indices, expected)
    rows = instances.toarray() if sparse.issparse(instances) else np.asarray(instances)
    np.testing.assert_allclose(rows, X[50:350][expected], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_indices_into_frames_are_positions(digits):
    pd = pytest.importorskip("pandas")
    X, y = digits
    names = [f"pixel {i}" for i in range(64)]
    shuffled = np.random.default_rng(0).permutation(300)
    frame = pd.DataFrame(X[50:350], columns=names, index=shuffled)
    learner = ActiveLearner(
        LogisticRegression(max_iter=500), real_query, X_training=X[:50], y_training=y[:50]
    )
    indices, instances = learner.query(frame, n_instances=5, random_state=0)
    np.testing.assert_array_equal(
        indices, real_query(learner.estimator, X[50:350], 5, random_state=0)
    )
    np.testing.assert_array_equal(instances.to_numpy(), X[50:350][indices])


@pytest.mark.parametrize("form", ["list", "object array", "str array", "Series"])
def test_text_pools_with_a_pipeline(form, texts):
    sentences, y = texts
    pool = {
        "list": list,
        "object array": lambda x: np.array(x, dtype=object),
        "str array": np.array,
        "Series": shuffled_series,
    }[form](sentences)
    pipeline = make_pipeline(CountingVectorizer(), CountingClassifier())
    learner = ActiveLearner(pipeline, real_query, X_training=sentences[:12], y_training=y[:12])
    CountingVectorizer.passes = 0
    if form == "Series":  # modAL itself looks up rows of a Series by label
        indices = np.asarray(real_query(learner.estimator, pool, 10, random_state=0))
    else:
        indices, instances = learner.query(pool, n_instances=10, random_state=0)
        assert list(instances) == [sentences[i] for i in indices]
    assert CountingVectorizer.passes == CountingClassifier.passes == 1
    features = learner.estimator[0].transform(sentences)
    expected = select(pipeline[-1].predict_proba(features), features, 10, random_state=0)
    np.testing.assert_array_equal(indices, expected.indices)


def shuffled_series(values):
    pd = pytest.importorskip("pandas")
    return pd.Series(values, index=np.random.default_rng(0).permutation(len(values)))


def test_images_are_laid_flat(digits):
    X, y = digits
    clf = LogisticRegression(max_iter=500).fit(X[:50], y[:50])

    class ImageClassifier:
        def predict_proba(self, images):
            return clf.predict_proba(images.reshape(len(images), -1))

    images = X[50:350].reshape(-1, 1, 8, 8)
    np.testing.assert_array_equal(
        real_query(ImageClassifier(), images, 10, random_state=0),
        real_query(clf, X[50:350], 10, random_state=0),
    )


# Embeddings


def test_embeddings_that_the_estimator_offers(digits):
    X, y = digits
    learner = ActiveLearner(
        EmbeddingClassifier(max_iter=500), real_query, X_training=X[:50], y_training=y[:50]
    )
    indices, _ = learner.query(X[50:], n_instances=20, random_state=0)
    assert EmbeddingClassifier.passes == 1
    P, E = learner.estimator.predict_proba(X[50:], return_embeddings=True)
    np.testing.assert_array_equal(indices, select(P, E, 20, random_state=0).indices)


def test_embeddings_that_the_last_step_of_a_pipeline_offers(texts):
    sentences, y = texts
    pipeline = make_pipeline(CountingVectorizer(), EmbeddingClassifier())
    pipeline.fit(sentences[:12], y[:12])
    CountingVectorizer.passes = 0
    indices = real_query(pipeline, sentences, 10, random_state=0)
    assert CountingVectorizer.passes == EmbeddingClassifier.passes == 1
    P, E = pipeline.predict_proba(sentences, return_embeddings=True)
    np.testing.assert_array_equal(indices, select(P, E, 10, random_state=0).indices)


@pytest.mark.parametrize("form", ["array", "callable"])
def test_embeddings_that_the_caller_gives(form, texts):
    sentences, y = texts
    E = np.random.default_rng(0).normal(size=(240, 5))
    given = {"array": E, "callable": lambda pool: E[: len(pool)]}[form]
    learner = ActiveLearner(
        make_pipeline(TfidfVectorizer(), MultinomialNB()),
        real_query,
        X_training=sentences[:12],
        y_training=y[:12],
    )
    indices, _ = learner.query(sentences, n_instances=10, embeddings=given, random_state=0)
    P = learner.predict_proba(sentences)
    np.testing.assert_array_equal(indices, select(P, E, 10, random_state=0).indices)


# Committees


def test_committee(digits):
    X, y = digits
    members = [
        ActiveLearner(CountingClassifier(max_iter=500), X_training=X[s], y_training=y[s])
        for s in (slice(0, 30), slice(30, 60), slice(60, 90))
    ]
    committee = Committee(members, query_strategy=real_query)
    indices, instances = committee.query(X[90:], n_instances=2, random_state=0)
    assert indices.shape == (2,)
    np.testing.assert_array_equal(instances, X[90:][indices])
    assert CountingClassifier.passes == 3  # one for each member
    expected = select(committee.predict_proba(X[90:]), X[90:], 2, random_state=0)
    np.testing.assert_array_equal(indices, expected.indices)


def test_committee_whose_members_know_different_classes(digits):
    X, y = digits
    members = [
        ActiveLearner(
            LogisticRegression(max_iter=500), X_training=X[y < 6][:40], y_training=y[y < 6][:40]
        ),
        ActiveLearner(
            LogisticRegression(max_iter=500), X_training=X[y > 3][:40], y_training=y[y > 3][:40]
        ),
    ]
    committee = Committee(members, query_strategy=real_query)
    P, _ = score_pool(committee, X)
    np.testing.assert_allclose(P, committee.predict_proba(X))
    assert len(committee.query(X, n_instances=3)[0]) == 3


def test_committee_of_text_pipelines(texts):
    sentences, y = texts
    members = [
        ActiveLearner(
            make_pipeline(TfidfVectorizer(ngram_range=(1, n)), MultinomialNB()),
            X_training=sentences[:12],
            y_training=y[:12],
        )
        for n in (1, 2)
    ]
    committee = Committee(members, query_strategy=real_query)
    P, E = score_pool(committee, sentences)
    assert P.shape == (240, 3)
    assert E.shape[1] == sum(len(m.estimator[0].vocabulary_) for m in members)
    indices, _ = committee.query(sentences, n_instances=5)
    assert len(set(indices.tolist())) == 5


# Cold start


def test_an_unfitted_learner_gets_a_cold_start(digits):
    X, _ = digits
    learner = ActiveLearner(LogisticRegression(), query_strategy=real_query)
    indices, _ = learner.query(X, n_instances=10, random_state=0)
    expected = select(np.full((len(X), 2), 0.5), X, 10, random_state=0)
    assert set(expected.source) == {"cold-start"}
    np.testing.assert_array_equal(indices, expected.indices)


def test_a_learner_that_knows_one_class_gets_a_cold_start(digits):
    X, _ = digits
    learner = ActiveLearner(
        KNeighborsClassifier(1), real_query, X_training=X[:3], y_training=np.zeros(3, dtype=int)
    )
    indices, _ = learner.query(X, n_instances=10, random_state=0)
    expected = select(np.full((len(X), 2), 0.5), X, 10, random_state=0)
    np.testing.assert_array_equal(indices, expected.indices)


def test_an_unfitted_text_learner_needs_embeddings(texts):
    sentences, _ = texts
    learner = ActiveLearner(make_pipeline(TfidfVectorizer(), MultinomialNB()), real_query)
    with pytest.raises(NotFittedError, match=r"cold start.*pass embeddings="):
        learner.query(sentences, n_instances=5)
    E = np.random.default_rng(0).normal(size=(240, 5))
    assert len(learner.query(sentences, n_instances=5, embeddings=E)[0]) == 5


# Errors


def test_texts_without_embeddings_say_what_to_pass(texts):
    sentences, _ = texts

    class TextClassifier:
        def predict_proba(self, X):
            return np.random.default_rng(0).dirichlet([1, 1], size=len(X))

    with pytest.raises(TypeError, match=r"got list of str.*Pass embeddings="):
        real_query(TextClassifier(), sentences, 5)
    with pytest.raises(TypeError, match=r"got dict.*Pass embeddings="):
        real_query(TextClassifier(), {"input_ids": np.zeros((5, 3))}, 5)


def test_embeddings_of_another_pool_are_refused(digits):
    X, y = digits
    clf = LogisticRegression(max_iter=500).fit(X[:50], y[:50])
    with pytest.raises(ValueError, match="embeddings has 1797 rows, but there are 100 rows"):
        real_query(clf, X[:100], 5, embeddings=X)


def test_a_classifier_without_probabilities_is_refused(digits):
    X, y = digits
    with pytest.raises(TypeError, match=r"RidgeClassifier\(\) has no predict_proba.*Calibrated"):
        real_query(RidgeClassifier().fit(X[:50], y[:50]), X, 5)


@pytest.mark.parametrize("n_instances", [0, -1, 1798])
def test_a_wrong_batch_size_is_refused(n_instances, digits):
    X, y = digits
    learner = ActiveLearner(
        LogisticRegression(max_iter=500), real_query, X_training=X[:50], y_training=y[:50]
    )
    with pytest.raises(ValueError, match=f"n_instances is {n_instances}"):
        learner.query(X, n_instances=n_instances)


# Habits of modAL's users


def test_learners_pickle_and_options_are_partial(digits):
    X, y = digits
    strategy = partial(real_query, n_clusters=7, random_state=1)
    learner = ActiveLearner(
        LogisticRegression(max_iter=500), strategy, X_training=X[:50], y_training=y[:50]
    )
    copy = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(copy.query(X, 5)[0], learner.query(X, 5)[0])


def test_calls_for_other_strategies_run_unchanged(digits):
    X, y = digits
    learner = ActiveLearner(
        LogisticRegression(max_iter=500), real_query, X_training=X[:50], y_training=y[:50]
    )
    indices, _ = learner.query(X, n_instances=3, random_tie_break=True)
    assert len(indices) == 3


def test_keywords_reach_predict_proba(digits):
    X, y = digits

    class Tempered(LogisticRegression):
        def predict_proba(self, X, temperature=1.0):
            P = super().predict_proba(X) ** (1 / temperature)
            return P / P.sum(axis=1, keepdims=True)

    clf = Tempered(max_iter=500).fit(X[:50], y[:50])
    P, _ = score_pool(clf, X, temperature=3.0)
    np.testing.assert_allclose(P, clf.predict_proba(X, temperature=3.0))
    assert len(real_query(clf, X, 3, temperature=3.0)) == 3


def test_numpys_global_seed_repeats_a_query(digits):
    X, y = digits
    clf = LogisticRegression(max_iter=500).fit(X[:50], y[:50])
    np.random.seed(3)  # noqa: NPY002 as modAL's users do
    first = real_query(clf, X, 20)
    np.random.seed(3)  # noqa: NPY002
    np.testing.assert_array_equal(real_query(clf, X, 20), first)


# modAL's example workflows, with only the strategy swapped


@all_strategies
def test_workflow_pool_based_sampling_on_iris(strategy):
    X, y = load_iris(return_X_y=True)
    start = [0, 60, 120]  # one of every class
    X_pool, y_pool = np.delete(X, start, axis=0), np.delete(y, start, axis=0)
    learner = ActiveLearner(
        estimator=KNeighborsClassifier(n_neighbors=3),
        query_strategy=strategy,
        X_training=X[start],
        y_training=y[start],
    )
    for _ in range(20):
        query_index, _ = learner.query(X_pool)
        learner.teach(X=X_pool[query_index].reshape(1, -1), y=y_pool[query_index].reshape(1))
        X_pool = np.delete(X_pool, query_index, axis=0)
        y_pool = np.delete(y_pool, query_index)
    assert learner.X_training.shape == (23, 4)
    assert learner.score(X, y) > 0.85


@all_strategies
def test_workflow_text_with_a_tfidf_pipeline(strategy, texts):
    sentences, y = texts
    X = np.array(sentences, dtype=object)
    learner = ActiveLearner(
        estimator=make_pipeline(TfidfVectorizer(), LogisticRegression()),
        query_strategy=strategy,
        X_training=X[:6],
        y_training=y[:6],
    )
    X_pool, y_pool = X[6:], y[6:]
    for _ in range(4):
        query_idx, query_inst = learner.query(X_pool, n_instances=20)
        learner.teach(query_inst, y_pool[query_idx])
        X_pool, y_pool = np.delete(X_pool, query_idx), np.delete(y_pool, query_idx)
    assert len(learner.y_training) == 86
    assert learner.score(X, y) > 0.9


@all_strategies
def test_workflow_batches_of_digits(strategy, digits):
    X, y = digits
    learner = ActiveLearner(
        estimator=RandomForestClassifier(n_estimators=30, random_state=0),
        query_strategy=strategy,
        X_training=X[:20],
        y_training=y[:20],
    )
    before = learner.score(X, y)
    X_pool, y_pool = X[20:], y[20:]
    for _ in range(5):
        query_idx, query_inst = learner.query(X_pool, n_instances=20)
        learner.teach(query_inst, y_pool[query_idx])
        X_pool = np.delete(X_pool, query_idx, axis=0)
        y_pool = np.delete(y_pool, query_idx)
    assert learner.score(X, y) > before + 0.15
