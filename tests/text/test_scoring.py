"""Scoring: one pass, any order of lengths, any size of pool."""

import copy
import pickle
import platform
import tracemalloc

import numpy as np
import pytest
import torch
from sklearn.exceptions import NotFittedError

from real_plugin.text import inference
from real_plugin.text.tokens import batches_by_length
from tests.tiny import topical_texts


def one_by_one(clf, X):
    """Probabilities and [CLS] vectors from one text at a time, by transformers alone."""
    clf.module_.eval()
    P, E = [], []
    with torch.inference_mode():
        for text in X:
            batch = clf.tokens_.tokenizer(
                text, return_tensors="pt", truncation=True, max_length=16
            )
            ids, mask = batch["input_ids"], batch["attention_mask"]
            hidden = clf.module_.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
            E.append(hidden[0, 0])
            P.append(torch.softmax(clf.module_.head(hidden[:, 0])[0], dim=-1))
    return torch.stack(P).numpy(), torch.stack(E).numpy()


@pytest.mark.parametrize("tokens_per_batch", [None, 1, 40, 10**6])
def test_scores_are_those_of_one_text_at_a_time(tokens_per_batch, trained, data):
    _, (X, _) = data
    clf = copy.deepcopy(trained)
    clf.set_params(precision="float32", tokens_per_batch=tokens_per_batch)
    P, E = clf.predict_proba(X, return_embeddings=True)
    expected_P, expected_E = one_by_one(clf, X)
    np.testing.assert_allclose(P, expected_P, atol=1e-5)
    np.testing.assert_allclose(E, expected_E, atol=1e-4)
    assert E.dtype == np.float32
    np.testing.assert_allclose(clf.embed(X), expected_E, atol=1e-4)
    np.testing.assert_array_equal(clf.predict(X), clf.classes_[P.argmax(axis=1)])


def test_a_pool_is_passed_once(trained, data):
    _, (X, _) = data
    rows = []
    hook = trained.module_.encoder.register_forward_hook(
        lambda module, args, output: rows.append(len(output.last_hidden_state))
    )
    trained.predict_proba(X, return_embeddings=True)
    hook.remove()
    assert sum(rows) == len(X)


def test_bfloat16_agrees(trained, data):
    _, (X, _) = data
    clf = copy.deepcopy(trained)
    exact = clf.set_params(precision="float32").predict_proba(X)
    P, E = clf.set_params(precision="bfloat16").predict_proba(X, return_embeddings=True)
    assert (P.argmax(axis=1) == exact.argmax(axis=1)).mean() >= 0.99
    assert 0 < np.abs(P - exact).max() < 0.1
    assert E.dtype == P.dtype == np.float32


@pytest.mark.parametrize("has_instructions", [True, False])
def test_auto_takes_bfloat16_only_where_it_is_fast(has_instructions, monkeypatch):
    """Torch supports it on any processor with AVX-512, and on most it is slower than float32."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has_instructions)
    used = {"auto": has_instructions, "float32": False, "bfloat16": True}
    for precision, is_used in used.items():
        with inference.autocast(torch.device("cpu"), precision):
            assert torch.is_autocast_enabled("cpu") == is_used


def test_blocks_do_not_show(trained, data, monkeypatch):
    _, (X, _) = data
    clf = copy.deepcopy(trained).set_params(precision="float32")
    whole = clf.predict_proba(X)
    monkeypatch.setattr(inference, "BLOCK", 7)
    np.testing.assert_allclose(clf.predict_proba(X), whole, atol=1e-5)


def test_memory_does_not_grow_with_the_tokenised_pool(trained, monkeypatch):
    """Ten times the texts, the same peak besides what is returned."""
    monkeypatch.setattr(inference, "BLOCK", 64)

    def peak(n_rows):
        X = [text for text in topical_texts(64)[0] for _ in range(n_rows // 64)]
        tracemalloc.start()
        P = trained.predict_proba(X)
        size = tracemalloc.get_traced_memory()[1] - P.nbytes
        tracemalloc.stop()
        return size

    peak(64)
    assert peak(3200) < 1.5 * peak(320)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_embeddings_are_written_where_asked(dtype, trained, data, tmp_path):
    _, (X, _) = data
    out = np.memmap(tmp_path / "E", dtype=dtype, mode="w+", shape=(len(X), 32))
    P, E = trained.predict_proba(X, embeddings_out=out)
    assert E is out
    np.testing.assert_allclose(out, trained.embed(X), rtol=2e-3, atol=2e-3)
    assert trained.embed(X, out=out) is out
    with pytest.raises(ValueError, match=r"shape \(300, 31\).*\(300, 32\)"):
        trained.embed(X, out=np.empty((300, 31)))
    assert P.shape == (300, 3)


def test_out_of_memory_halves_the_batches(trained, data):
    _, (X, _) = data
    clf = copy.deepcopy(trained).set_params(precision="float32", tokens_per_batch=640)
    expected = clf.predict_proba(X)
    sizes = []

    def fail_if_large(module, args, kwargs):
        sizes.append(kwargs["input_ids"].numel())
        if sizes[-1] > 100:
            raise torch.cuda.OutOfMemoryError("simulated")

    clf.module_.register_forward_pre_hook(fail_if_large, with_kwargs=True)
    np.testing.assert_allclose(clf.predict_proba(X), expected, atol=1e-5)
    assert sum(size > 100 for size in sizes) == 3  # 640, 320, 160, then small enough


def test_out_of_memory_with_one_text_is_an_error(trained):
    clf = copy.deepcopy(trained)

    def fail(module, args, kwargs):
        raise torch.cuda.OutOfMemoryError("simulated")

    clf.module_.register_forward_pre_hook(fail, with_kwargs=True)
    with pytest.raises(torch.cuda.OutOfMemoryError):
        clf.predict_proba(["goal"])


def test_batches_keep_to_the_budget():
    rng = np.random.default_rng(0)
    rows = [np.zeros(length) for length in rng.integers(1, 30, size=200)]
    batches = list(batches_by_length(rows, 100))
    assert sorted(np.concatenate(batches).tolist()) == list(range(200))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(len(rows[i]) for i in batch) <= 100


# Texts and token ids


def test_the_id_matrix_stands_for_the_texts(trained, data):
    _, (X, _) = data
    matrix = trained.tokenize(X)
    assert matrix.dtype == np.int64
    assert matrix.shape[0] == len(X)
    clf = copy.deepcopy(trained).set_params(precision="float32")
    np.testing.assert_allclose(clf.predict_proba(matrix), clf.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(
        clf.predict_proba(matrix.astype(float)), clf.predict_proba(X), atol=1e-5
    )
    wider = np.pad(matrix, ((0, 0), (0, 9)), constant_values=1)
    np.testing.assert_allclose(clf.predict_proba(wider[:, :16]), clf.predict_proba(X), atol=1e-5)


def test_training_on_the_id_matrix_is_training_on_the_texts(make, data):
    (X, y), _ = data
    clf = make(max_epochs=1)
    by_id = clf.fit(clf.tokenize(X), y).predict_proba(X)
    np.testing.assert_allclose(make(max_epochs=1).fit(X, y).predict_proba(X), by_id, atol=1e-6)


def test_empty_texts_and_pools(trained):
    P, E = trained.predict_proba(["", "goal"], return_embeddings=True)
    assert np.isfinite(P).all()
    assert trained.predict_proba([]).shape == (0, 3)
    assert trained.embed([]).shape == (0, 32)
    assert trained.tokenize([]).shape == (0, 1)
    assert len(E) == 2


def test_long_texts_are_cut_off_and_that_is_said_once(make, data):
    (X, y), _ = data
    clf = make(max_length=6, max_epochs=1)
    with pytest.warns(UserWarning, match="max_length=6 tokens are cut off.*Said once"):
        clf.fit(X, y)
    assert clf.tokenize(X).shape[1] == 6  # pytest turns a second warning into an error
    short = ["goal match team cup"]
    longer = ["goal match team cup vote"]
    np.testing.assert_array_equal(clf.predict_proba(short), clf.predict_proba(longer))


@pytest.mark.parametrize(
    "bad", ["a text", [None], [3], {"a": 1}, np.zeros((2, 2, 2)), iter(["a"])]
)
def test_bad_pools(bad, trained):
    with pytest.raises((TypeError, ValueError), match="X"):
        trained.predict_proba(bad)


def test_not_fitted(make):
    for method in ("predict", "predict_proba", "predict_proba_mc"):
        with pytest.raises(NotFittedError, match="not fitted yet; call fit"):
            getattr(make(), method)(["goal"])


def test_an_untrained_classifier_embeds_with_the_pretrained_encoder(make, data):
    _, (X, _) = data
    clf = make()
    E = clf.embed(X)
    assert E.shape == (300, 32)
    assert not clf.initialized_
    trained = make(max_epochs=1).fit(*data[0])
    assert np.abs(trained.embed(X) - E).max() > 0.01


# Monte-Carlo dropout and surprisal


def test_monte_carlo_dropout(trained, data):
    _, (X, _) = data
    state = torch.get_rng_state()
    passes = trained.predict_proba_mc(X, n_passes=5, random_state=0)
    assert passes.shape == (5, 300, 3)
    np.testing.assert_allclose(passes.sum(axis=2), 1, rtol=1e-5)
    assert passes.std(axis=0).mean() > 1e-4
    np.testing.assert_array_equal(trained.predict_proba_mc(X, 5, random_state=0), passes)
    assert torch.equal(torch.get_rng_state(), state)
    assert not trained.module_.training
    once = trained.predict_proba(X)
    np.testing.assert_array_equal(trained.predict_proba(X), once)


def test_surprisal_is_the_cross_entropy_of_the_tokens(tiny_masked_lm, data):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    from real_plugin.text import TransformerClassifier

    X = data[1][0][:20]
    clf = TransformerClassifier(tiny_masked_lm, max_length=16, precision="float32")
    vectors = clf.surprisal(X, mlm_probability=1.0, random_state=0)
    assert vectors.shape == (20, 16)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)

    tokenizer = AutoTokenizer.from_pretrained(tiny_masked_lm)
    network = AutoModelForMaskedLM.from_pretrained(tiny_masked_lm).eval()
    for text, vector in zip(X, vectors, strict=True):
        batch = tokenizer(text, return_tensors="pt")
        with torch.inference_mode():
            logits = network(batch["input_ids"], attention_mask=batch["attention_mask"]).logits[0]
        losses = torch.nn.functional.cross_entropy(logits, batch["input_ids"][0], reduction="none")
        losses[0] = losses[-1] = 0
        expected = np.zeros(16)
        expected[: len(losses)] = (losses / losses.norm()).numpy()
        np.testing.assert_allclose(vector, expected, atol=1e-4)

    sampled = clf.surprisal(X, random_state=0)
    share = (sampled > 0).sum() / (vectors > 0).sum()
    assert 0.05 < share < 0.3
    np.testing.assert_array_equal(clf.surprisal(X, random_state=0), sampled)


def test_surprisal_needs_the_head(make):
    with pytest.raises(ValueError, match="no masked-language head"):
        make().surprisal(["goal"])


# Copies


@pytest.mark.parametrize("copier", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_score_alike_and_go_on(copier, trained, data):
    (X, y), (X_test, _) = data
    twin = copier(trained)
    expected = trained.predict_proba(X_test)
    np.testing.assert_array_equal(twin.predict_proba(X_test), expected)
    twin.fit(X, y)
    assert twin.rounds_ == trained.rounds_ + 1
    np.testing.assert_array_equal(trained.predict_proba(X_test), expected)
