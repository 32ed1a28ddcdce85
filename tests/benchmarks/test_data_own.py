"""Folders and files of the user's own."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.data import Protocol, load
from benchmarks.data.own import protocol
from benchmarks.errors import UsageError


def write_jsonl(file, labels, start=0):
    rows = ({"text": f"text {i}", "label": y} for i, y in enumerate(labels, start))
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


def write_csv(file, labels, start=0):
    lines = [f"text {i},{y}" for i, y in enumerate(labels, start)]
    file.write_text("\n".join(["text,label", *lines]), encoding="utf-8")
    return file


def texts_of(dataset):
    return [text for part in dataset.parts().values() for text in part.texts]


@pytest.mark.parametrize("write", [write_jsonl, write_csv])
def test_one_file_is_cut(write, tmp_path):
    suffix = ".jsonl" if write is write_jsonl else ".csv"
    labels = [i % 3 + 8 for i in range(300)]
    file = write(tmp_path / f"my.texts{suffix}", labels)
    dataset = load(str(file))
    assert dataset.name == "my.texts"
    assert dataset.classes == ("8", "9", "10")
    assert [len(part) for part in dataset.parts().values()] == [210, 30, 60]
    assert sorted(texts_of(dataset)) == sorted(f"text {i}" for i in range(300))
    for part in dataset.parts().values():
        assert set(Counter(part.labels.tolist()).values()) == {len(part) // 3}
        for text, label in zip(part.texts, part.labels, strict=True):
            assert dataset.classes[label] == str(labels[int(text.split()[1])])
    assert dataset.fingerprint == load(str(file)).fingerprint
    assert dataset.fingerprint != load(str(file), split_seed=1).fingerprint
    assert f"{file.name} in the folder {tmp_path.name}" in dataset.source
    assert "20% of train for test" in dataset.source


def test_a_complete_folder_is_taken_as_it_is(tmp_path):
    folder = tmp_path / "v1.2"
    folder.mkdir()
    write_jsonl(folder / "train.jsonl", "ab" * 50)
    write_csv(folder / "validation.csv", "ba", start=100)
    write_jsonl(folder / "test.jsonl", "abb", start=200)
    dataset = load(str(folder))
    assert dataset.name == "v1.2"
    assert [len(part) for part in dataset.parts().values()] == [100, 2, 3]
    assert dataset.train.texts[:2] == ["text 0", "text 1"]
    assert dataset.validation.labels.tolist() == [1, 0]
    assert dataset.test.texts == ["text 200", "text 201", "text 202"]
    assert "of train" not in dataset.source


@pytest.mark.parametrize(
    ("given_part", "sizes"), [("test", [90, 10, 2]), ("validation", [80, 2, 20])]
)
def test_what_a_folder_lacks_is_cut_out_of_train(given_part, sizes, tmp_path):
    write_jsonl(tmp_path / "train.jsonl", "ab" * 50)
    write_jsonl(tmp_path / f"{given_part}.jsonl", "ab", start=900)
    dataset = load(str(tmp_path))
    assert [len(part) for part in dataset.parts().values()] == sizes
    assert dataset.parts()[given_part].texts == ["text 900", "text 901"]
    assert len(set(texts_of(dataset))) == 102


def test_rare_classes_stay_in_train(tmp_path):
    dataset = load(str(write_jsonl(tmp_path / "t.jsonl", ["a"] * 20 + ["b"])))
    assert dataset.classes == ("a", "b")
    assert dataset.train.labels.tolist().count(1) == 1


def test_columns_by_name(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("body,kind\n" + "a,x\nb,y\n" * 20, encoding="utf-8")
    dataset = load(str(file), text_column="body", label_column="kind")
    assert dataset.classes == ("x", "y")
    with pytest.raises(UsageError, match="--text-column and --label-column"):
        load(str(file))


def test_train_limit_counts_in_the_protocol(tmp_path):
    file = write_jsonl(tmp_path / "t.jsonl", "ab" * 1000)
    whole, limited = load(str(file)), load(str(file), train_limit=90)
    assert len(limited.train) == 90
    assert set(limited.train.texts) < set(whole.train.texts)
    assert limited.test.texts == whole.test.texts
    assert whole.protocol == Protocol(20, 20, 8, 96)
    assert limited.protocol == Protocol(5, 5, 8, 96)
    assert load(str(file), train_limit=10**9).fingerprint == whole.fingerprint


def test_validation_limit(tmp_path):
    file = write_jsonl(tmp_path / "t.jsonl", "ab" * 1000)
    whole, limited = load(str(file)), load(str(file), validation_limit=30)
    assert len(limited.validation) == 30
    assert set(limited.validation.texts) < set(whole.validation.texts)
    assert limited.train.texts == whole.train.texts
    assert limited.fingerprint != whole.fingerprint
    assert load(str(file), validation_limit=10**9).fingerprint == whole.fingerprint


@given(n_classes=st.integers(2, 200), n_train=st.integers(2, 10**6))
def test_protocol_leaves_half_of_train(n_classes, n_train):
    made = protocol(n_classes, n_train)
    labels = made.warm_up + made.rounds * made.batch_size
    assert made.warm_up == made.batch_size >= 1
    assert labels <= max(9, n_train / 2)
    if n_train >= 18 * max(20, 10 * n_classes):
        assert made.batch_size == max(20, 10 * n_classes)


def test_repeated_texts_are_kept(tmp_path):
    file = tmp_path / "t.csv"
    file.write_text("text,label\n" + "same,x\nsame,y\n" * 20, encoding="utf-8")
    assert len(texts_of(load(str(file)))) == 40


def test_no_such_dataset(tmp_path):
    with pytest.raises(UsageError, match=r"no dataset 'sst3': give one of sst2, .*pydocs, or"):
        load("sst3")


def test_a_folder_without_train(tmp_path):
    write_jsonl(tmp_path / "training.jsonl", "ab")
    with pytest.raises(UsageError, match=r'no train.jsonl or train.csv, only "training.jsonl"'):
        load(str(tmp_path))


def test_a_part_in_two_files(tmp_path):
    write_jsonl(tmp_path / "train.jsonl", "ab")
    write_csv(tmp_path / "train.csv", "ab")
    with pytest.raises(UsageError, match=r"has both train.jsonl and train.csv; remove"):
        load(str(tmp_path))


def test_too_few_rows_a_class_to_test_on(tmp_path):
    file = write_jsonl(tmp_path / "t.jsonl", range(50))
    with pytest.raises(UsageError, match=r"50 rows of 50 classes, too few .*--label-column"):
        load(str(file))


def test_a_test_label_that_train_lacks(tmp_path):
    write_jsonl(tmp_path / "train.jsonl", "ab" * 20)
    file = write_csv(tmp_path / "test.csv", "abc")
    with pytest.raises(UsageError, match=f'{file}, line 4: train has no row with the label "c"'):
        load(str(tmp_path))


def test_saved_dataset_holds_all_rows(tmp_path):
    pd = pytest.importorskip("pandas")
    dataset = load(str(write_jsonl(tmp_path / "t.jsonl", "ab" * 20)))
    dataset.save(tmp_path / "saved.parquet")
    frame = pd.read_parquet(tmp_path / "saved.parquet")
    assert frame["text"].tolist() == texts_of(dataset)
    assert np.array_equal(frame["label"][frame["part"] == "test"], dataset.test.labels)


def test_the_current_folder_has_a_name(tmp_path, monkeypatch):
    write_jsonl(tmp_path / "train.jsonl", "ab" * 20)
    monkeypatch.chdir(tmp_path)
    assert load(".").name == Path.cwd().name
