"""The paper's datasets, from folders and from repositories in the hub's layout."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

pytest.importorskip("datasets")

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.data import NAMES, Protocol, load, paper
from benchmarks.data.remote import HubSplit
from benchmarks.errors import UsageError

PARTS = ("train", "validation", "test")


def write_folder(folder, labels, sizes=(40, 10, 20)):
    folder.mkdir(parents=True, exist_ok=True)
    for part, n in zip(PARTS, sizes, strict=True):
        rows = ({"text": f"{part} {i}", "label": labels[i % len(labels)]} for i in range(n))
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def write_repository(folder, names=None, **splits):
    """A dataset as the hub stores it: Parquet files, and a card that tells the features."""
    (folder / "data").mkdir(parents=True)
    card = ["---", "configs:", "- config_name: default", "  data_files:"]
    for split, columns in splits.items():
        file = f"data/{split}-00000-of-00001.parquet"
        pq.write_table(pa.table(columns), folder / file)
        card += [f"  - split: {split}", f"    path: {file}"]
    if names:
        text, label = next(iter(splits.values()))
        card += ["dataset_info:", "  features:", f"  - name: {text}", "    dtype: string"]
        card += [f"  - name: {label}", "    dtype:", "      class_label:", "        names:"]
        card += [f"          '{i}': {name}" for i, name in enumerate(names)]
    (folder / "README.md").write_text("\n".join([*card, "---", ""]), encoding="utf-8")
    return str(folder)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)


@pytest.fixture
def point(monkeypatch):
    """Lets a recipe read its parts from other places."""

    def change(name, **repositories):
        recipe = paper.RECIPES[name]
        parts = {
            part: replace(getattr(recipe, part), repository=repository)
            for part, repository in repositories.items()
        }
        monkeypatch.setitem(paper.RECIPES, name, replace(recipe, **parts))

    return change


def labels_of(part, dataset):
    return [dataset.classes[i] for i in part.labels]


def test_settings_are_those_of_the_published_runs():
    assert NAMES == ("sst2", "agnews", "pubmed", "snips", "stov", "pydocs")
    # Batches are an eighth of what the published budgets leave after the warm-up.
    published = {
        "sst2": (70, 800, 32),
        "agnews": (100, 1300, 96),
        "pubmed": (200, 1500, 96),
        "snips": (80, 700, 32),
        "stov": (200, 900, 32),
    }
    for name, (warm_up, total, tokens) in published.items():
        expected = Protocol(warm_up, (total - warm_up) // 8, rounds=8, max_length=tokens)
        assert paper.RECIPES[name].protocol == expected


# Folders


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("name", list(paper.RECIPES))
def test_from_a_folder(name, nested, tmp_path):
    folder = tmp_path / name if nested else tmp_path
    write_folder(folder, ["b", "a"])
    dataset = load(name, data_dir=tmp_path)
    assert dataset.name == name
    assert dataset.classes == ("a", "b")
    assert dataset.protocol == paper.RECIPES[name].protocol
    assert dataset.train.texts == [f"train {i}" for i in range(40)]
    assert dataset.validation.labels.tolist() == [1, 0] * 5
    assert dataset.test.texts == [f"test {i}" for i in range(20)]
    assert dataset.source == f"the folder {folder.name}"


def test_a_folder_must_have_all_parts(tmp_path):
    write_folder(tmp_path, ["a", "b"])
    (tmp_path / "test.jsonl").unlink()
    with pytest.raises(UsageError, match=r"snips needs .*, which lacks test; add"):
        load("snips", data_dir=tmp_path)
    with pytest.raises(UsageError, match="lacks train and validation and test; add"):
        load("snips", data_dir=tmp_path / "nowhere")


def test_large_parts_are_sampled(tmp_path):
    write_folder(tmp_path, ["a", "b"], sizes=(40_500, 3_500, 20))
    dataset, other = (load("sst2", data_dir=tmp_path, split_seed=seed) for seed in (0, 1))
    assert [len(part) for part in dataset.parts().values()] == [40_000, 3_000, 20]
    for part, whole in ((dataset.train, 40_500), (dataset.validation, 3_500)):
        numbers = [int(text.split()[1]) for text in part.texts]
        assert numbers == sorted(set(numbers))
        assert abs(sum(numbers) / len(numbers) / whole - 0.5) < 0.02
    assert dataset.train.texts != other.train.texts
    assert dataset.validation.texts != other.validation.texts
    assert dataset.fingerprint == load("sst2", data_dir=tmp_path).fingerprint
    limited = load("sst2", data_dir=tmp_path, train_limit=50)
    assert len(limited.train) == 50
    assert set(limited.train.texts) < set(dataset.train.texts)
    assert limited.validation.texts == dataset.validation.texts


# Repositories


def test_sst2(tmp_path, point):
    sentences = [f"sentence {i}" for i in range(200)]
    train = write_repository(
        tmp_path / "glue",
        ["negative", "positive"],
        train={"sentence": sentences, "label": [i % 2 for i in range(200)]},
        test={"sentence": ["hidden"], "label": [-1]},
    )
    columns = {"text": ["good", "bad"], "label": [1, 0], "label_text": ["positive", "negative"]}
    point("sst2", train=train, test=write_repository(tmp_path / "other", test=columns))
    dataset = load("sst2")
    assert dataset.classes == ("negative", "positive")
    assert [len(part) for part in dataset.parts().values()] == [180, 20, 2]
    assert labels_of(dataset.test, dataset) == ["positive", "negative"]
    assert sorted(dataset.train.texts + dataset.validation.texts) == sorted(sentences)
    for part in (dataset.train, dataset.validation):
        assert part.labels.tolist() == [int(text.split()[1]) % 2 for text in part.texts]
    assert dataset.fingerprint == load("sst2").fingerprint
    assert load("sst2", split_seed=1).validation.texts != dataset.validation.texts


def test_agnews(tmp_path, point):
    names = ["World", "Sports", "Business", "Sci/Tech"]
    columns = {"text": [f"{i}" for i in range(800)], "label": [i % 4 for i in range(800)]}
    test = {"text": ["a", "b"], "label": [3, 0]}
    folder = write_repository(tmp_path / "ag_news", names, train=columns, test=test)
    point("agnews", train=folder, test=folder)
    dataset = load("agnews")
    assert dataset.classes == ("Business", "Sci/Tech", "Sports", "World")
    assert [len(part) for part in dataset.parts().values()] == [780, 20, 2]
    assert labels_of(dataset.test, dataset) == ["Sci/Tech", "World"]
    found = labels_of(dataset.train, dataset)
    assert found == [names[int(text) % 4] for text in dataset.train.texts]


def test_pubmed(tmp_path, point):
    splits = {
        part: {
            "text": [f"{part} {i}" for i in range(n)],
            "label": ["METHODS", "RESULTS"] * (n // 2),
        }
        for part, n in zip(PARTS, (20, 6, 8), strict=True)
    }
    folder = write_repository(tmp_path / "pubmed", **splits)
    point("pubmed", train=folder, validation=folder, test=folder)
    dataset = load("pubmed")
    for part, made in dataset.parts().items():
        assert made.texts == splits[part]["text"]
        assert labels_of(made, dataset) == splits[part]["label"]


def test_snips(tmp_path, point):
    train = {"text": [f"{i}" for i in range(60)], "category": ["AddToPlaylist", "GetWeather"] * 30}
    test = {"text": [f"t{i}" for i in range(40)], "category": ["AddToPlaylist", "GetWeather"] * 20}
    folder = write_repository(tmp_path / "snips", train=train, test=test)
    point("snips", train=folder, test=folder)
    dataset = load("snips")
    assert [len(part) for part in dataset.parts().values()] == [60, 20, 20]
    assert sorted(dataset.validation.texts + dataset.test.texts) == sorted(test["text"])
    assert Counter(dataset.test.labels.tolist()) == {0: 10, 1: 10}


def write_stov(folder, monkeypatch, labels, n_titles=None):
    titles = [f"title {i} \u2028é" for i in range(n_titles or len(labels))]
    (folder / "titles.txt").write_bytes(("\n".join(titles) + "\n").encode())
    (folder / "labels.txt").write_bytes("".join(f"{label}\r\n" for label in labels).encode())
    recipe = paper.RECIPES["stov"]
    files = {"texts": folder / "titles.txt", "labels": folder / "labels.txt"}
    files = replace(recipe.train, **{key: file.as_uri() for key, file in files.items()})
    monkeypatch.setitem(paper.RECIPES, "stov", replace(recipe, train=files))


def test_stov(tmp_path, monkeypatch):
    write_stov(tmp_path, monkeypatch, [i % 20 + 1 for i in range(400)])
    dataset = load("stov")
    first = ["wordpress", "oracle", "svn", "apache", "excel"]
    names = [*first, "matlab", "visual-studio", "cocoa", "osx", "bash"]
    assert dataset.classes == tuple(sorted(names))
    assert [len(part) for part in dataset.parts().values()] == [160, 20, 20]
    for part in dataset.parts().values():
        numbers = [int(text.split()[1]) % 20 for text in part.texts]
        assert labels_of(part, dataset) == [names[i] for i in numbers]
        assert all(text.endswith(" \u2028é") for text in part.texts)


def test_stov_of_another_shape(tmp_path, monkeypatch):
    write_stov(tmp_path, monkeypatch, [1, 2, 3], n_titles=4)
    with pytest.raises(
        UsageError, match=r"titles.txt has 4 lines, but .*labels.txt has 3.*--data"
    ):
        load("stov")
    write_stov(tmp_path, monkeypatch, ["<html>", "not found"])
    with pytest.raises(UsageError, match=r"labels.txt has no line that is a number from 1 to 10"):
        load("stov")


# What can go wrong


def test_other_columns_are_named(tmp_path, point):
    columns = {"tokens": ["a", "b"], "label": ["x", "y"]}
    folder = write_repository(tmp_path / "pubmed", train=columns)
    point("pubmed", train=folder)
    with pytest.raises(UsageError, match=r'no column "text", only "tokens", "label".*--data-dir'):
        load("pubmed")


def test_hidden_and_missing_values_are_named(tmp_path, point):
    folder = write_repository(
        tmp_path / "sst2",
        ["negative", "positive"],
        train={"sentence": ["a", "b"], "label": [1, -1]},
    )
    point("sst2", train=folder)
    with pytest.raises(UsageError, match=r'train, row 1: the label \("label"\) is missing'):
        load("sst2")
    columns = {"text": ["a", None], "label": ["x", "y"]}
    point("pubmed", train=write_repository(tmp_path / "pubmed", train=columns))
    with pytest.raises(UsageError, match=r'train, row 1: the text \("text"\) is missing'):
        load("pubmed")


def test_a_split_that_is_not_there(tmp_path):
    folder = write_repository(tmp_path / "repository", train={"text": ["a"], "label": ["x"]})
    with pytest.raises(
        UsageError, match=r"repository, dev can't be loaded .*\(ValueError: .*--data"
    ):
        HubSplit(folder, "dev", "text", "label").read()


def test_bars_and_logging_are_as_before(tmp_path, capfd):
    from huggingface_hub import utils as hub

    def state():
        return [
            (library.are_progress_bars_disabled(), library.logging.get_verbosity())
            for library in (datasets, hub)
        ]

    before = state()
    folder = write_repository(tmp_path / "repository", train={"text": ["a"], "label": ["x"]})
    assert HubSplit(folder, "train", "text", "label").read().texts == ["a"]
    with pytest.raises(UsageError):
        HubSplit(folder, "dev", "text", "label").read()
    assert capfd.readouterr() == ("", "")
    assert state() == before


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UsageError, match=r"package datasets: pip install \"\.\[bench\]\", or"):
        load("agnews")


# huggingface_hub waits up to 8 seconds between its tries; nothing will change meanwhile.
UNREACHABLE = """
import time
time.sleep = lambda seconds: None
import sys
from benchmarks.data import load
from benchmarks.errors import UsageError
assert "datasets" not in sys.modules
try:
    load(sys.argv[1])
except UsageError as error:
    print(error)
"""


@pytest.mark.parametrize(
    "variables",
    [{"HF_HUB_OFFLINE": "1"}, {"HF_DATASETS_OFFLINE": "1"}, {"HF_ENDPOINT": "http://127.0.0.1:9"}],
    ids=lambda variables: next(iter(variables)),
)
def test_the_hub_cannot_be_reached(variables, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", UNREACHABLE, "sst2"],
        env={**os.environ, "HF_HOME": str(tmp_path), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
    assert "stanfordnlp/sst2, train can't be loaded from the Hugging Face hub" in done.stdout
    assert "--data-dir" in done.stdout


def test_the_files_of_stov_cannot_be_reached(monkeypatch):
    recipe = paper.RECIPES["stov"]
    nowhere = replace(recipe.train, texts="http://127.0.0.1:9/titles.txt")
    monkeypatch.setitem(paper.RECIPES, "stov", replace(recipe, train=nowhere))
    with pytest.raises(UsageError, match=r"127.0.0.1:9/titles.txt can't be loaded .*--data-dir"):
        load("stov")
