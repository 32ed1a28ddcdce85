"""Pools and labels: guessed columns, ids, matching, and what can't be right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from real_plugin._errors import UsageError
from real_plugin.labeling.columns import Columns, label_columns, pool_columns
from real_plugin.labeling.errors import ConflictError
from real_plugin.labeling.labels import (
    Given,
    Label,
    check_classes,
    given_by_table,
    labels_of_pool,
    match,
    settle,
)
from real_plugin.labeling.pool import read_pool, text_id
from real_plugin.labeling.tables import Table
from tests.labeling.conftest import write_csv


def table(*rows):
    return Table("a.csv", list(rows[0]), list(rows), list(range(2, 2 + len(rows))), "line")


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": "1", "text": "a", "label": ""}, Columns("text", "label", "id")),
        ({"ID": "1", "Sentence": "a"}, Columns("Sentence", None, "ID")),
        ({"note": "a longer text", "n": "1"}, Columns("note", None, None)),
        ({"id": "1", "text": "a", "category": "b"}, Columns("text", None, "id")),
    ],
)
def test_columns_of_a_pool_are_guessed(row, expected):
    assert pool_columns(table(row), Columns()) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": "1", "label": "a"}, Columns(None, "label", "id")),
        ({"text": "a", "intent": "b"}, Columns("text", "intent", None)),
        ({"id": "1", "animal": "b"}, Columns(None, "animal", "id")),
        (  # Label Studio's own id is not ours
            {"id": "1", "real_plugin_id": "t7", "text": "a", "label": "b", "annotator": "c"},
            Columns("text", "label", "real_plugin_id"),
        ),
    ],
)
def test_columns_of_labels_are_guessed(row, expected):
    assert label_columns(table(row), Columns()) == expected


def test_columns_that_are_named_must_be_there():
    with pytest.raises(
        UsageError, match=r'a\.csv has no column "body", only "id", "text".*--text'
    ):
        pool_columns(table({"id": "1", "text": "a"}), Columns(text="body"))
    with pytest.raises(UsageError, match=r"no column of labels.*--label-column"):
        label_columns(table({"id": "1", "a": "x", "b": "y"}), Columns())
    with pytest.raises(UsageError, match="neither a column of ids nor one of texts"):
        label_columns(table({"label": "1"}), Columns())
    with pytest.raises(UsageError, match="no column of texts"):
        pool_columns(table({"id": 1, "n": 2}), Columns())


def test_rows_without_ids_are_known_by_their_text(tmp_path):
    rows = [{"text": "a b"}, {"text": ""}, {"text": "c"}, {"text": "a b"}]
    pool = read_pool(write_csv(tmp_path / "p.csv", rows), Columns())
    assert pool.ids == [text_id("a b"), text_id("c")]
    assert pool.notes == [
        f"1 row without a text left out, the first is {tmp_path}/p.csv, line 3",
        f"1 row with a text that came before left out, the first is {tmp_path}/p.csv, line 5",
    ]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ("1", r"line 3: the id '1' \(column \"id\"\) is that of line 2"),
        ("", "line 3: the id .* missing"),
    ],
)
def test_ids_are_there_once(second, message, tmp_path):
    rows = [{"id": "1", "text": "a"}, {"id": second, "text": "b"}]
    with pytest.raises(UsageError, match=message):
        read_pool(write_csv(tmp_path / "p.csv", rows), Columns())
    assert len(read_pool(tmp_path / "p.csv", Columns(id="-"))) == 2


@pytest.fixture
def pool(tmp_path):
    rows = [
        {"id": "1", "text": "a", "label": "x"},
        {"id": "2", "text": "b", "label": ""},
        {"id": "3", "text": "b", "label": ""},
    ]
    return read_pool(write_csv(tmp_path / "pool.csv", rows), Columns())


def test_labels_of_the_pool_itself(pool):
    assert [(label.id, label.label) for label in labels_of_pool(pool)] == [("1", "x")]


def test_labels_are_matched_by_id_or_by_text(pool):
    found = match(
        [Given("y", "p", id="2"), Given("z", "p", text="b"), Given("w", "p", text="n")], pool
    )
    assert [(label.id, label.text, label.label) for label in found] == [
        ("2", "b", "y"),
        ("2", "b", "z"),
        ("3", "b", "z"),
        (text_id("n"), "n", "w"),
    ]


def test_labels_for_unknown_ids_are_an_error(pool):
    given = [Given("y", "l.csv, line 2", id="8"), Given("y", "l.csv, line 9", id="9")]
    with pytest.raises(UsageError, match=r"l\.csv, line 2: the id '8' is not in .*1 other row"):
        match(given, pool)


def test_conflicts_are_all_listed():
    labels = [Label("1", "x", "a", "f, line 2"), Label("2", "x", "b", "f, line 3")]
    labels += [Label("1", "y", "a", "g, line 5"), Label("2", "z", "b", "g, line 6")]
    with pytest.raises(ConflictError) as error:
        settle(labels, "Do this.")
    assert str(error.value).splitlines() == [
        "2 rows with conflicting labels; nothing was written.",
        "  1: 'x' (f, line 2), 'y' (g, line 5)",
        "  2: 'x' (f, line 3), 'z' (g, line 6)",
        "Do this.",
    ]


@given(st.lists(st.tuples(st.sampled_from("123"), st.sampled_from("xy")), max_size=8))
def test_labels_settle_exactly_if_none_contradict(pairs):
    labels = [Label(key, name, "", "") for key, name in pairs]
    if len({key for key, _ in pairs}) < len(set(pairs)):
        with pytest.raises(ConflictError):
            settle(labels, "")
    else:
        assert {key: label.label for key, label in settle(labels, "").items()} == dict(pairs)


def test_too_many_classes_are_the_wrong_column():
    with pytest.raises(UsageError, match=r"10,000 labels of 10,000 classes.*--label-column"):
        check_classes([f"text {i}" for i in range(10_000)], "a.csv")
    with pytest.raises(UsageError, match="probably not the column of labels"):
        check_classes([f"{i}" for i in range(60)], "a.csv")
    check_classes([f"{i % 50}" for i in range(100)], "a.csv")
    check_classes([f"{i}" for i in range(20)], "a.csv")


@pytest.mark.parametrize(
    ("value", "message"),
    [(["x", "y"], "texts with several are not supported"), (2.5, "the number 2.5")],
)
def test_labels_that_are_no_classes(value, message):
    rows = table({"id": "1", "label": "x"}, {"id": "2", "label": value})
    with pytest.raises(UsageError, match=rf"a\.csv, line 3: .*{message}"):
        given_by_table(rows, Columns())


def test_labels_may_be_numbers_or_not_there_yet():
    rows = table(
        *({"id": str(i), "label": v} for i, v in enumerate([1.0, 2, True, " x ", "", None]))
    )
    found = given_by_table(rows, Columns())
    assert [item.label for item in found] == ["1", "2", "True", "x"]
