"""The numbers that describe a dataset, and their table."""

import json

import numpy as np
import pytest

from benchmarks.data import Dataset, Part, Protocol, describe, statistics, table
from benchmarks.data.description import HEADINGS


def make_part(texts, labels):
    return Part(texts, np.array(labels, dtype=np.int64))


@pytest.fixture
def dataset():
    return Dataset(
        name="mine",
        classes=("a", "b", "c"),
        train=make_part(["x y", "x y", "x y z", "", "x y"], [0, 1, 1, 2, 1]),
        validation=make_part([], []),
        test=make_part(["x y", "new", "x y", ""], [0, 0, 1, 2]),
        protocol=Protocol(2, 3, 4, 5),
        source="somewhere",
    )


def test_statistics(dataset):
    assert statistics(dataset) == {
        "name": "mine",
        "classes": 3,
        "train": 5,
        "validation": 0,
        "test": 4,
        "largest_class": 0.6,
        "median_words": 2,
        "repeated_in_train": 2,
        "test_in_train": 3,
        "warm_up": 2,
        "batch_size": 3,
        "rounds": 4,
        "max_length": 5,
        "source": "somewhere",
    }


def test_table_is_aligned(dataset):
    row = statistics(dataset)
    lines = table([row, {**row, "name": "a longer name", "train": 12345}]).splitlines()
    heading = lines[0]
    assert heading.split("  ")[0] == "dataset"
    assert all(text in heading for text in HEADINGS.values())
    for line, train in zip(lines[1:], ("5", "12,345"), strict=True):
        end = heading.index("train ") + len("train")
        assert line[:end].endswith(f" {train}")
        assert line[heading.index("source") :] == "somewhere"
        assert " 60.0% " in line


def test_nothing_to_show():
    assert table([]).startswith("dataset  classes")


def test_what_cannot_be_loaded_hides_no_other(tmp_path):
    good = tmp_path / "good.jsonl"
    rows = ({"text": f"text {i}", "label": i % 2} for i in range(40))
    good.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    bad = tmp_path / "bad.jsonl"
    bad.write_text("no JSON", encoding="utf-8")
    heading, first, second, third = describe([str(bad), str(good), "nothing"]).splitlines()
    assert first.startswith(str(bad))
    assert "bad.jsonl, line 1 is not JSON" in first
    assert second.startswith("good ")
    assert "good.jsonl in" in second
    assert "there is no dataset 'nothing'" in third
    starts = {second.index("good.jsonl in") - heading.index("source"), 0}
    assert starts == {0}


def test_options_are_those_of_load(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("body,kind\n" + "a,x\nb,y\n" * 20, encoding="utf-8")
    made = describe([str(file)], text_column="body", label_column="kind", train_limit=7)
    assert made.splitlines()[1].split()[:3] == ["t", "2", "7"]
