"""The cache of vectors: new texts cost themselves only, and nothing done is lost."""

import numpy as np
import pytest

from real_plugin._errors import UsageError
from real_plugin.labeling import vectors
from real_plugin.labeling.vectors import VectorStore, encoder_hash
from real_plugin.text import TransformerClassifier
from tests.tiny import save_roberta, topical_texts


@pytest.fixture
def store(tiny_roberta, tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "BLOCK", 8)
    return VectorStore(tmp_path, str(tiny_roberta), 32)


@pytest.fixture
def encoded(monkeypatch):
    """Texts that went through the encoder."""
    seen = []
    embed = TransformerClassifier.embed

    def record(self, X, out=None):
        seen.extend(X)
        return embed(self, X, out)

    monkeypatch.setattr(TransformerClassifier, "embed", record)
    return seen


TEXTS = list(dict.fromkeys(topical_texts(40)[0]))


def test_vectors_are_the_encoders(store, tiny_roberta):
    E = TransformerClassifier(str(tiny_roberta), max_length=32).embed(TEXTS)
    np.testing.assert_allclose(store.vectors(TEXTS), E, atol=2e-2)
    np.testing.assert_array_equal(store.vectors(TEXTS[::-1]), store.vectors(TEXTS)[::-1])


def test_new_texts_cost_themselves_only(store, encoded):
    store.vectors(TEXTS[:20])
    assert encoded == TEXTS[:20]
    found = store.vectors([*TEXTS[10:30], TEXTS[0], TEXTS[0]])
    assert encoded == TEXTS[:30]
    np.testing.assert_array_equal(found[-1], found[-2])


def test_an_interruption_keeps_the_blocks_that_are_done(store, encoded, monkeypatch):
    embed = TransformerClassifier.embed

    def interrupted(self, X, out=None):
        if len(encoded) >= 16:
            raise KeyboardInterrupt
        return embed(self, X, out)

    with monkeypatch.context() as patch:
        patch.setattr(TransformerClassifier, "embed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.vectors(TEXTS)
    assert encoded == TEXTS[:16]
    store.vectors(TEXTS)
    assert encoded == TEXTS


def test_a_broken_block_is_encoded_again(store, encoded, capsys):
    expected = store.vectors(TEXTS)
    block = sorted(store.folder.iterdir())[0]
    block.write_bytes(block.read_bytes()[:100])
    np.testing.assert_allclose(store.vectors(TEXTS), expected, atol=2e-2)
    assert len(encoded) == len(TEXTS) + 8 or len(encoded) == len(TEXTS) + len(TEXTS) % 8
    assert "can't be read; its texts are encoded again" in capsys.readouterr().err


def test_models_and_lengths_are_kept_apart(tiny_roberta, tiny_masked_lm, tmp_path):
    one, other = (VectorStore(tmp_path, str(tiny_roberta), length) for length in (32, 64))
    third = VectorStore(tmp_path, str(tiny_masked_lm), 32)
    assert len({one.folder, other.folder, third.folder}) == 3


def test_the_hash_is_of_the_weights(tmp_path):
    import torch
    from safetensors.torch import load_file, save_file

    folder = save_roberta(tmp_path / "model", head=False)
    before = encoder_hash(str(folder))
    assert encoder_hash(str(folder)) == before
    weights = load_file(folder / "model.safetensors")
    name = next(iter(weights))
    save_file({**weights, name: weights[name] + torch.tensor(1e-3)}, folder / "model.safetensors")
    assert encoder_hash(str(folder)) != before


def test_an_encoder_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"--encoder \./nowhere can't be used: .*is no folder"):
        VectorStore(tmp_path, "./nowhere", 32)


def test_long_texts_are_said_to_be_cut_off(tiny_roberta, tmp_path, capsys):
    VectorStore(tmp_path, str(tiny_roberta), 8).vectors(["a match of the team on the cup was old"])
    assert "more than 8 tokens are cut off (--max-length)" in capsys.readouterr().err


def test_the_time_to_go_is_said_without_a_terminal(store, capsys):
    store.vectors(TEXTS)
    said = capsys.readouterr().err
    assert f"encoding {len(TEXTS)} texts with" in said
    assert " to go" in said
