"""The toolkits' strategies are really theirs, seeded, and refused where they can't run."""

import inspect
import re
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("skactiveml")
pytest.importorskip("modAL")

import sklearn.cluster
from modAL import batch, disagreement, dropout, uncertainty
from skactiveml import pool as skactiveml_pool
from skactiveml.base import SingleAnnotatorPoolQueryStrategy
from skactiveml.classifier import SklearnClassifier
from sklearn.linear_model import LogisticRegression

from benchmarks.errors import UsageError
from benchmarks.strategies import find, toolkits
from benchmarks.strategies.options import split
from benchmarks.strategies.skactiveml import LearnerClassifier
from tests.benchmarks.learners import generator_states, make_learner


def indices(name, learner, batch, seed=0):
    return find(name).query(learner, learner.X_pool, batch, random_state=seed).indices


def in_the_library(strategy, learner, batch, **model):
    """A call of scikit-activeml with nothing of ours but the classifier."""
    X = np.concatenate([learner.X_pool, learner.X_training])
    y = np.concatenate([np.full(len(learner.X_pool), np.nan), learner.y_training])
    return np.asarray(strategy.query(X, y, batch_size=batch, **model))


def test_every_strategy_of_skactiveml_is_offered_or_excluded():
    classes = [
        name
        for name in skactiveml_pool.__all__
        if inspect.isclass(kind := getattr(skactiveml_pool, name))
        and issubclass(kind, SingleAnnotatorPoolQueryStrategy)
    ]
    offered = {split(name)[0] for name in toolkits.SKACTIVEML}
    assert not offered & toolkits.SKACTIVEML_EXCLUDED.keys()
    assert offered | toolkits.SKACTIVEML_EXCLUDED.keys() == set(classes)


def test_every_strategy_of_modal_is_offered_or_excluded():
    for module in (uncertainty, batch, disagreement, dropout):
        for name, function in vars(module).items():
            is_strategy = name.endswith("_sampling") or name.startswith("mc_dropout_")
            if inspect.isfunction(function) and is_strategy:
                assert (name in toolkits.MODAL) != (name in toolkits.MODAL_EXCLUDED), name


@pytest.mark.parametrize("name", toolkits.SKACTIVEML_EXCLUDED)
def test_excluded_names_of_skactiveml_say_why(name):
    with pytest.raises(UsageError) as caught:
        find(f"skactiveml:{name}")
    assert f"skactiveml:{name} can't be used here: it" in str(caught.value)


@pytest.mark.parametrize("name", toolkits.MODAL_EXCLUDED)
def test_excluded_names_of_modal_say_why(name):
    with pytest.raises(UsageError, match=f"modal:{name} can't be used here: (it|modAL)"):
        find(f"modal:{name}")


def test_what_to_use_instead_exists():
    reasons = [*toolkits.SKACTIVEML_EXCLUDED.values(), *toolkits.MODAL_EXCLUDED.values()]
    advice = {reason.partition("; use ")[2] for reason in reasons} - {""}
    names = {word for text in advice for word in re.findall(r"skactiveml:\w+|^\w+(?!\S)", text)}
    assert {"bald", "skactiveml:CoreSet", "skactiveml:QueryByCommittee"} <= names
    for name in names:
        assert find(name)


@pytest.mark.parametrize("name", ["Falcun", "ContrastiveAL", "Badge", "UncertaintySampling"])
def test_strategies_with_a_classifier_are_the_librarys(name):
    learner = make_learner()
    strategy = getattr(skactiveml_pool, name)(random_state=4)
    model = LearnerClassifier(learner, learner.X_pool)
    expected = in_the_library(strategy, learner, 12, clf=model, fit_clf=False)
    assert_array_equal(indices(f"skactiveml:{name}", learner, 12, seed=4), expected)


@pytest.mark.parametrize("name", ["CoreSet", "TypiClust", "RandomSampling"])
def test_strategies_without_a_model_are_the_librarys(name):
    learner = make_learner()
    expected = in_the_library(getattr(skactiveml_pool, name)(random_state=4), learner, 12)
    assert_array_equal(indices(f"skactiveml:{name}", learner, 12, seed=4), expected)


@pytest.mark.parametrize(("name", "argument"), [("Clue", "estimator"), ("DropQuery", "clf")])
def test_inner_clusterers_get_the_seed(name, argument):
    learner = make_learner()
    strategy = getattr(skactiveml_pool, name)(
        cluster_algo_dict={"random_state": 4, "n_init": 2}, random_state=4
    )
    model = {argument: LearnerClassifier(learner, learner.X_pool), f"fit_{argument}": False}
    expected = in_the_library(strategy, learner, 12, **model)
    ours = indices(f'skactiveml:{name}@cluster_algo_dict={{"n_init":2}}', learner, 12, seed=4)
    assert_array_equal(ours, expected)
    function = find(f"skactiveml:{name}").function  # without the seeded global generators
    one, other = (function(learner, learner.X_pool, 12, random_state=4) for _ in range(2))
    assert_array_equal(one, other)


def test_options_reach_the_library():
    learner = make_learner()
    model = LearnerClassifier(learner, learner.X_pool)
    strategy = skactiveml_pool.ContrastiveAL({"n_neighbors": 2}, random_state=0)
    expected = in_the_library(strategy, learner, 12, clf=model, fit_clf=False)
    name = 'skactiveml:ContrastiveAL@nearest_neighbors_dict={"n_neighbors":2}'
    assert_array_equal(indices(name, learner, 12), expected)
    assert set(expected) != set(indices("skactiveml:ContrastiveAL", learner, 12))


def test_a_clusterer_is_chosen_by_name():
    learner = make_learner(n_pool=400)
    name = "skactiveml:TypiClust@cluster_algo=MiniBatchKMeans"
    strategy = skactiveml_pool.TypiClust(
        cluster_algo=sklearn.cluster.MiniBatchKMeans, random_state=0
    )
    assert_array_equal(indices(name, learner, 12), in_the_library(strategy, learner, 12))
    with pytest.raises(UsageError, match="cluster_algo is 'DBSCAN'; it can be KMeans, Mini"):
        find("skactiveml:TypiClust@cluster_algo=DBSCAN")


def test_discriminative_al_fits_once_unless_told():
    learner = make_learner()
    discriminator = SklearnClassifier(LogisticRegression(max_iter=1000))
    for greedy in (True, False):
        strategy = skactiveml_pool.DiscriminativeAL(greedy_selection=greedy, random_state=0)
        expected = in_the_library(strategy, learner, 12, discriminator=discriminator)
        name = "skactiveml:DiscriminativeAL" + ("" if greedy else "@greedy_selection=false")
        assert_array_equal(indices(name, learner, 12), expected)


def test_committees_are_dropout_passes():
    learner = make_learner()
    passes = learner.predict_proba_mc(7, random_state=0)
    votes = passes.argmax(axis=2)
    minority = 1 - np.array([np.bincount(v).max() for v in votes.T]) / 7
    picks = indices("skactiveml:QueryByCommittee@method=variation_ratios,n_passes=7", learner, 9)
    assert_array_equal(np.sort(minority[picks]), np.sort(minority)[-9:])


def test_the_classifier_computes_what_is_not_the_pool():
    learner = make_learner()
    model = LearnerClassifier(learner, learner.X_pool)
    changed = learner.X_pool.copy()
    changed[-1, -1] += 1
    assert_array_equal(model.predict_proba(changed), learner.predict_proba(changed))
    assert learner.n_computed == 2 * len(changed)
    P = model.predict_proba(learner.X_pool.copy())
    assert learner.n_computed == 2 * len(changed)
    P[:] = 0  # a copy: the learner keeps its own
    assert learner.predict_proba(learner.X_pool).sum() > 1
    assert_array_equal(model.predict(changed), learner.predict_proba(changed).argmax(axis=1))
    with pytest.raises(NotImplementedError, match="pool only"):
        model.predict_proba_mc(changed, 3, 0)
    with pytest.raises(NotImplementedError, match="never by a strategy"):
        model.fit(changed, None)


def test_slow_values_are_refused_at_once():
    with pytest.raises(UsageError, match=r"n\^3"):
        find("skactiveml:UncertaintySampling@method=expected_average_precision")
    with pytest.raises(UsageError, match="n_passes is 0"):
        find("skactiveml:GreedyBALD@n_passes=0")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("skactiveml:Clue@predict_dict=1", "cluster_algo, cluster_algo_dict, method"),
        ("skactiveml:RandomSampling@seed=1", "it takes none"),
        ("skactiveml:GreedyBALD@k=1", "eps, n_MC_samples, n_passes"),
        ("modal:margin_sampling@k=1", "random_tie_break"),
        ("modal:uncertainty_batch_sampling@k=1", "metric, n_jobs"),
    ],
)
def test_unknown_options_of_toolkits(name, options):
    with pytest.raises(UsageError, match="has no option") as caught:
        find(name)
    assert str(caught.value).endswith(f"{options}.")


# modAL


def test_modal_breaks_ties_by_our_seed_and_leaves_the_callers_generator():
    learner = make_learner(steps=0)
    name = "modal:margin_sampling@random_tie_break=true"
    states = generator_states()
    batches = [tuple(indices(name, learner, 10, seed)) for seed in (1, 1, 2)]
    assert generator_states() == states
    assert batches[0] == batches[1] != batches[2]


def test_ranked_batch_of_modal_by_hand():
    learner = make_learner(n_pool=40, n_labelled=10)
    uncertainty = 1 - learner.predict_proba(learner.X_pool).max(axis=1)
    labelled, left, expected = list(learner.X_training), list(range(40)), []
    for _ in range(6):
        alpha = len(left) / (len(left) + len(labelled))
        distance = [min(np.linalg.norm(learner.X_pool[i] - x) for x in labelled) for i in left]
        scores = alpha * (1 - 1 / (1 + np.array(distance))) + (1 - alpha) * uncertainty[left]
        best = left.pop(int(scores.argmax()))
        expected.append(best)
        labelled.append(learner.X_pool[best])
    assert_array_equal(indices("modal:uncertainty_batch_sampling", learner, 6), expected)


def test_functions_of_modal_run_as_they_are():
    """They hand all keyword arguments on to `predict_proba`, the seed included."""
    learner = make_learner()
    ours = indices("modAL.uncertainty:margin_sampling", learner, 10)
    assert_array_equal(ours, indices("modal:margin_sampling", learner, 10))


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("skactiveml:Badge", "skactiveml", "skactiveml"),
        ("modal:margin_sampling", "modAL", "modal"),
    ],
)
def test_a_missing_toolkit_names_its_extra(name, module, extra, monkeypatch):
    loaded = [m for m in sys.modules if m == module or m.startswith(f"{module}.")]
    for loaded_module in [*loaded, f"benchmarks.strategies.{extra}"]:
        monkeypatch.delitem(sys.modules, loaded_module, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError) as caught:
        find(name)
    assert f'pip install ".[{extra}]"' in str(caught.value)
