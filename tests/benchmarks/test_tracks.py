"""Models score, save and load as the harness and the strategies rely on."""

import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.data import load
from benchmarks.tracks import TRACKS, TrackSettings, encodings, make_model
from benchmarks.tracks.learner import RoundLearner
from benchmarks.tracks.surprisal import MLM_PROBABILITY, surprisal
from real_plugin._hash import text_sha256
from real_plugin.text import TransformerClassifier

LABELLED = np.arange(0, 60)
POOL = np.arange(60, 160)


@pytest.fixture(scope="module")
def dataset(topics):
    return load(str(topics))


@pytest.fixture(scope="module")
def settings(tiny_roberta, encodings):
    from benchmarks.tracks.encodings import encoder_sha256

    name = str(tiny_roberta)
    return TrackSettings(name, encoder_sha256(name), max_length=16, cache=encodings)


@pytest.fixture(scope="module", params=TRACKS)
def model(request, dataset, settings):
    model = make_model(request.param, dataset, settings, seed=3)
    model.fit(LABELLED)
    return model


@pytest.fixture
def learner(model, dataset):
    train = dataset.train
    return RoundLearner(model.network(), POOL, LABELLED, train.labels, train.texts, 3)


def test_the_learner_gives_what_strategies_ask_for(learner, dataset):
    P = learner.predict_proba(learner.X_pool)
    assert P.shape == (100, 3)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert learner.X_pool.dtype == np.float32
    assert learner.texts == dataset.train.texts[60:160]
    assert (learner.y_training == dataset.train.labels[LABELLED]).all()
    assert learner.X_training.shape == (60, learner.X_pool.shape[1])
    assert (learner.classes_ == [0, 1, 2]).all()


def test_the_pool_is_scored_once_and_can_not_be_changed(learner):
    assert learner.predict_proba(learner.X_pool) is learner.predict_proba(learner.X_pool)
    with pytest.raises(ValueError, match="read-only"):
        learner.X_pool[0] = 0
    with pytest.raises(ValueError, match="read-only"):
        learner.predict_proba(learner.X_pool)[0] = 0


def test_the_last_layers_give_the_same_as_the_whole(learner):
    """Representation vectors contain all that the probabilities need."""
    np.testing.assert_allclose(
        learner.predict_proba(learner.X_pool.copy()), learner.probabilities, atol=2e-2
    )
    moved = learner.predict_proba(learner.X_pool + 1)
    assert np.abs(moved - learner.probabilities).max() > 1e-3


def test_monte_carlo_passes_differ_and_repeat(learner):
    one, again, other = (learner.predict_proba_mc(3, seed) for seed in (0, 0, 1))
    assert one.shape == (3, 100, 3)
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    assert (one[0] != one[1]).any()


def test_a_loaded_model_goes_on_as_the_saved_one(model, dataset, settings, tmp_path):
    model.save(tmp_path / "weights")
    track = "frozen" if hasattr(model, "head") else "finetune"
    loaded = make_model(track, dataset, settings, seed=3)
    loaded.load(tmp_path / "weights")
    for one, other in zip(model.network().score(POOL), loaded.network().score(POOL), strict=True):
        np.testing.assert_array_equal(one, other)
    loaded.fit(np.arange(80))
    again = make_model(track, dataset, settings, seed=3)
    again.load(tmp_path / "weights")
    again.fit(np.arange(80))
    np.testing.assert_array_equal(again.network().score(POOL)[0], loaded.network().score(POOL)[0])


def test_models_depend_on_their_seed(dataset, settings):
    one, same, other = (make_model("frozen", dataset, settings, seed) for seed in (0, 0, 1))
    for model in (one, same, other):
        model.fit(LABELLED)
    P = [model.network().score(POOL)[0] for model in (one, same, other)]
    np.testing.assert_array_equal(P[0], P[1])
    assert (P[0] != P[2]).any()


def test_the_head_is_as_good_as_logistic_regression(dataset, settings):
    """On vectors that a random encoder gives, which are enough to tell these topics apart."""
    model = make_model("frozen", dataset, settings, seed=0)
    model.fit(np.arange(160))
    accuracy = (model.predict_test() == dataset.test.labels).mean()
    train, test = (
        encodings.encode(p.texts, settings.encoder, settings.encoder_sha256, 16, settings.cache)
        for p in (dataset.train, dataset.test)
    )
    scaler = StandardScaler().fit(train)
    regression = LogisticRegression(max_iter=2000).fit(
        scaler.transform(train), dataset.train.labels
    )
    assert accuracy > regression.score(scaler.transform(test), dataset.test.labels) - 0.1
    assert accuracy > 0.6


def test_training_leaves_torch_as_it_was(dataset, settings):
    torch.manual_seed(5)
    expected = torch.rand(3)
    threads = torch.get_num_threads()
    torch.manual_seed(5)
    make_model("frozen", dataset, settings, seed=0).fit(LABELLED)
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


def test_encodings_are_those_of_the_encoder_and_computed_once(settings, tmp_path, monkeypatch):
    texts = ["the goal", "a new law", "the vaccine trial"]
    arguments = (texts, settings.encoder, settings.encoder_sha256, 16, tmp_path)
    vectors = encodings.encode(*arguments)
    expected = TransformerClassifier(settings.encoder, max_length=16).embed(texts)
    np.testing.assert_allclose(vectors, expected, atol=2e-2)

    def never(*_):
        raise AssertionError("it was encoded again")

    monkeypatch.setattr(TransformerClassifier, "embed", never)
    np.testing.assert_array_equal(encodings.encode(*arguments), vectors)
    for changed in (
        (texts[:2], *arguments[1:]),
        (*arguments[:2], "another encoder", *arguments[3:]),
        (*arguments[:3], 8, tmp_path),
    ):
        with pytest.raises(AssertionError, match="encoded again"):
            encodings.encode(*changed)


def test_texts_are_hashed_with_their_borders():
    assert text_sha256(["ab", "c"]) != text_sha256(["a", "bc"])


def test_encoders_are_told_apart_by_their_weights(tiny_roberta, tmp_path):
    same, changed = tmp_path / "same", tmp_path / "changed"
    shutil.copytree(tiny_roberta, same)
    shutil.copytree(tiny_roberta, changed)
    weights = load_file(changed / "model.safetensors")
    next(iter(weights.values())).view(-1)[0] += 1e-3
    save_file(weights, changed / "model.safetensors", metadata={"format": "pt"})
    digests = [encodings.encoder_sha256(str(f)) for f in (tiny_roberta, same, changed)]
    assert digests[0] == digests[1] != digests[2]


def test_surprisal_is_that_of_the_classifier(tiny_masked_lm, dataset, tmp_path):
    settings = TrackSettings(str(tiny_masked_lm), "sha", max_length=16, cache=tmp_path)
    texts = dataset.train.texts[:40]
    for seed in (0, 1):
        expected = TransformerClassifier(tiny_masked_lm, max_length=16).surprisal(
            texts, mlm_probability=MLM_PROBABILITY, random_state=seed
        )
        np.testing.assert_allclose(surprisal(texts, settings, seed), expected, atol=1e-5)


def test_alps_runs_where_there_is_a_language_head(command, tiny_masked_lm, tmp_path):
    from benchmarks.__main__ import main

    assert main(command(tmp_path, "--encoder", str(tiny_masked_lm), strategy=("alps",))) == 0


def test_alps_without_one_fails_with_the_reason(run, tmp_path, capsys):
    assert run(tmp_path, strategy=("alps", "random")) == 1
    printed = capsys.readouterr().out
    assert "has no masked-language head" in printed
    assert "2 cells: 1 done, 1 failed." in printed
