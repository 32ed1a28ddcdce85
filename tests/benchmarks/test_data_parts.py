"""Cuts and samples are fair, repeatable and independent of each other."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.data import parts
from benchmarks.data.dataset import Part
from benchmarks.data.rows import Rows
from benchmarks.errors import UsageError


def make_rows(labels):
    numbers = list(range(1, len(labels) + 1))
    return Rows("file", [f"text {i}" for i in numbers], list(labels), numbers)


def make_part(n):
    return Part([str(i) for i in range(n)], np.arange(n, dtype=np.int64))


@given(labels=st.lists(st.sampled_from("aaabc"), min_size=1, max_size=80), seed=st.integers())
def test_cut_divides_the_rows_and_every_class(labels, seed):
    rows = make_rows(labels)
    left, taken = parts.cut(rows, {"test": 0.2, "validation": 0.1}, seed)
    pieces = [left, taken["test"], taken["validation"]]
    assert sorted(n for piece in pieces for n in piece.numbers) == rows.numbers
    for piece in pieces:
        assert piece.numbers == sorted(piece.numbers)
        assert piece.texts == [rows.texts[n - 1] for n in piece.numbers]
        assert piece.labels == [rows.labels[n - 1] for n in piece.numbers]
    counts = [Counter(piece.labels) for piece in pieces]
    for label, n in Counter(labels).items():
        assert counts[0][label] >= 1
        assert abs(counts[1][label] - 0.2 * n) <= 0.5 + 1e-9
        assert abs(counts[1][label] + counts[2][label] - 0.3 * n) <= 0.5 + 1e-9


def test_cut_repeats_with_its_seed_only():
    rows = make_rows("ab" * 100)
    one, same, other = (parts.cut(rows, {"test": 0.2}, seed)[1]["test"] for seed in (0, 0, 1))
    assert one.numbers == same.numbers != other.numbers
    assert one.numbers != rows.numbers[:40]


def test_limit_keeps_a_random_sample_in_order():
    part = make_part(1000)
    kept = parts.limit(part, 100, 0, "train")
    assert [int(text) for text in kept.texts] == kept.labels.tolist() == sorted(kept.labels)
    assert len(set(kept.texts)) == 100
    assert 350 < kept.labels.mean() < 650
    assert parts.limit(part, 100, 0, "train").texts == kept.texts
    for seed, what in ((1, "train"), (0, "validation")):
        assert parts.limit(part, 100, seed, what).texts != kept.texts
    for most in (None, 1000, 2000):
        assert parts.limit(part, most, 0, "train") is part


@pytest.mark.parametrize("most", [0, -5])
def test_train_limit_must_leave_something(most):
    with pytest.raises(UsageError, match=f"limited to {most} rows; give a limit of at least 1"):
        parts.limit_asked(make_part(10), most, 0, "train")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["10", "9", "9", "-1"], ("-1", "9", "10")),
        (["10", "9", "b"], ("10", "9", "b")),
        (["2.5", "1e1", "3"], ("2.5", "3", "1e1")),
        (["1", "01", "1.0"], ("01", "1", "1.0")),
        (["2", "10", "nan"], ("10", "2", "nan")),
        (["True", "False"], ("False", "True")),
    ],
)
def test_classes_are_sorted(labels, expected):
    assert parts.find_classes(labels) == expected


def test_labels_number_the_classes_of_train():
    rows = {"train": make_rows(["10", "9", "10"]), "test": make_rows(["9"])}
    classes, made = parts.number(rows)
    assert classes == ("9", "10")
    assert made["train"].labels.tolist() == [1, 0, 1]
    assert made["test"].labels.tolist() == [0]
    assert made["train"].labels.dtype == np.int64


def test_a_label_that_train_lacks_is_named_with_its_line():
    with pytest.raises(
        UsageError, match=r'file, line 2: train has no .* "c", only "a", "b"; corr'
    ):
        parts.number({"train": make_rows("ab"), "test": make_rows("acc")})
    many = make_rows([f"c{i:02}" for i in range(30)])
    with pytest.raises(UsageError, match='"c09" and 20 more;'):
        parts.number({"train": many, "test": make_rows("a")})


def test_one_class_is_no_task():
    with pytest.raises(UsageError, match='file has one class only, "a"; give'):
        parts.number({"train": make_rows("aaa")})
