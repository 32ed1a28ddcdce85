"""Every built-in strategy keeps the contract, or the harness says which one doesn't."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("skactiveml")
pytest.importorskip("modAL")

from benchmarks.strategies import BUILT_IN, StrategyError, find
from tests.benchmarks.learners import SoftmaxLearner, generator_states, make_learner, with_copies

#: k-means of few different rows warns; warnings are no failures of a strategy.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

OURS = [name for name in BUILT_IN if ":" not in name]


def query(name, learner, batch, seed=0):
    picks = find(name).query(learner, learner.X_pool, batch, random_state=seed)
    assert picks.indices.dtype == np.int64
    assert picks.indices.shape == (batch,)
    assert len(np.unique(picks.indices)) == batch
    assert picks.indices.min() >= 0
    assert picks.indices.max() < len(learner.X_pool)
    return picks


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_seed_repeats_the_batch(name):
    for learner_seed in (0, 1):  # another round, other data
        learner = make_learner(seed=learner_seed)
        one, other = (query(name, learner, 10, seed=5).indices for _ in range(2))
        assert_array_equal(one, other)


RANDOM = ["random", "badge", "plm-km", "alps", "bald", "real"]
RANDOM += [
    f"skactiveml:{n}" for n in ("RandomSampling", "Badge", "Clue", "DropQuery", "GreedyBALD")
]


@pytest.mark.parametrize("name", RANDOM)
def test_another_seed_gives_another_batch(name):
    learner = make_learner()
    batches = {tuple(sorted(query(name, learner, 10, seed=seed).indices)) for seed in range(5)}
    assert len(batches) > 1


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("batch", [1, 2, 40])
def test_batches_of_one_of_two_and_of_the_whole_pool(name, batch):
    learner = make_learner(n_pool=40)
    query(name, learner, batch)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("n_labelled", [1, 3])
def test_few_labelled_rows(name, n_labelled):
    query(name, make_learner(n_labelled=n_labelled), 10)


@pytest.mark.parametrize("name", BUILT_IN)
def test_inputs_are_read_only_and_global_generators_untouched(name):
    learner = make_learner()
    for array in (learner.X_pool, learner.X_training, learner.y_training):
        array.flags.writeable = False
    states = generator_states()
    query(name, learner, 10)
    assert generator_states() == states


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("n_copies", [50, 60])
def test_copies_are_different_rows(name, n_copies):
    query(name, with_copies(make_learner(n_pool=60), n_copies), 30)


@pytest.mark.parametrize("name", OURS)
def test_a_model_that_knows_nothing_or_is_certain(name):
    learner = make_learner(steps=0)
    assert np.ptp(learner.predict_proba(learner.X_pool)) == 0
    query(name, learner, 10)
    certain = SoftmaxLearner(1e6 * learner.X_pool, learner.X_training, learner.y_training, 3)
    assert set(np.unique(certain.predict_proba(certain.X_pool))) == {0, 1}
    query(name, certain, 10)


@pytest.mark.parametrize("name", [name for name in BUILT_IN if ":" in name])
@pytest.mark.parametrize("kind", ["copies", "identical", "constant"])
def test_toolkits_on_degenerate_pools_keep_the_contract_or_are_named(name, kind):
    learner = {
        "copies": lambda: with_copies(make_learner(n_pool=60), 50),
        "identical": lambda: with_copies(make_learner(n_pool=60), 60),
        "constant": lambda: make_learner(steps=0),
    }[kind]()
    breaks = {
        ("skactiveml:Badge", "copies"),
        ("skactiveml:TypiClust", "copies"),
        ("skactiveml:TypiClust", "identical"),
        ("skactiveml:BatchBALD", "constant"),
    }
    if (name, kind) not in breaks:
        query(name, learner, 20)
        return
    with pytest.raises(StrategyError, match=rf"^Strategy {name} returned only \d+ different"):
        find(name).query(learner, learner.X_pool, 20, random_state=0)


def test_pool_probabilities_are_taken_from_the_cache():
    learner = make_learner()
    for name in BUILT_IN:
        learner.n_computed = 0
        query(name, learner, 5)
        expected = {
            "cal": len(learner.X_training),
            "skactiveml:ContrastiveAL": len(learner.X_training),
            "skactiveml:DropQuery": 5 * len(learner.X_pool),  # of vectors with dropout
        }
        assert learner.n_computed == expected.get(name, 0), name
