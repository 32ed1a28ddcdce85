"""Files are read as they are written, and what is wrong with them is said with its place."""

import csv
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.data.rows import Columns, read_rows
from benchmarks.errors import UsageError

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
LABELS = st.sampled_from(["a", "b", "NA", "ü"])


def write(file, content):
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def error_of(file, content, **columns):
    with pytest.raises(UsageError) as caught:
        read_rows(write(file, content), Columns(**columns))
    message = str(caught.value)
    assert str(file) in message
    assert "\n" not in message
    return message.replace(str(file), "FILE")


@given(rows=st.lists(st.tuples(TEXTS, LABELS), min_size=1))
def test_jsonl_is_read_as_it_was_written(rows, tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "texts.jsonl"
    lines = (json.dumps({"text": t, "label": y}, ensure_ascii=False) for t, y in rows)
    read = read_rows(write(file, "\n".join(lines)))
    assert list(zip(read.texts, read.labels, strict=True)) == rows
    assert read.numbers == list(range(1, len(rows) + 1))


@given(rows=st.lists(st.tuples(TEXTS, LABELS), min_size=1))
def test_csv_is_read_as_it_was_written(rows, tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "texts.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("text", "label"), *rows])
    read = read_rows(file)
    assert list(zip(read.texts, read.labels, strict=True)) == rows


def test_nothing_in_csv_is_a_number_or_missing_but_an_empty_label(tmp_path):
    file = write(tmp_path / "t.csv", "text,label\n123,1\nNA,2\nnull,nan\n,True\n007,NA\n")
    rows = read_rows(file)
    assert rows.texts == ["123", "NA", "null", "", "007"]
    assert rows.labels == ["1", "2", "nan", "True", "NA"]


def test_labels_of_json_become_strings(tmp_path):
    lines = [
        '{"text": "", "label": 3}',
        '{"text": " ", "label": true}',
        '{"text": "NaN", "label": "x"}',
    ]
    rows = read_rows(write(tmp_path / "t.jsonl", "\n".join(lines)))
    assert rows.texts == ["", " ", "NaN"]
    assert rows.labels == ["3", "True", "x"]


def test_other_columns_are_left_alone(tmp_path):
    file = write(tmp_path / "t.csv", 'id,body,kind,text\n1,"a, ""b""",x,no\n')
    rows = read_rows(file, Columns("body", "kind"))
    assert (rows.texts, rows.labels) == (['a, "b"'], ["x"])


def test_lines_are_counted_where_fields_and_gaps_take_several(tmp_path):
    file = write(tmp_path / "t.csv", 'text,label\r\n"a\r\nb\r\nc",x\r\n\r\nd,y\r\n')
    rows = read_rows(file)
    assert (rows.texts, rows.numbers) == (["a\r\nb\r\nc", "d"], [2, 6])
    lines = '\n{"text": "a", "label": 0}\r\n\n{"text": "b", "label": 0}\n\n'
    assert read_rows(write(tmp_path / "t.jsonl", lines)).numbers == [2, 4]


def test_line_separators_of_unicode_end_no_line(tmp_path):
    line = '{"text": "a\u2028b\x85c", "label": "x"}\n'
    assert read_rows(write(tmp_path / "t.jsonl", line * 2)).texts == ["a\u2028b\x85c"] * 2


def test_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    content = "\ufefftext,label\na,x\n"
    assert read_rows(write(tmp_path / "t.CSV", content)).texts == ["a"]


def test_long_texts_are_read_and_the_limit_is_left_as_it_was(tmp_path):
    limit = csv.field_size_limit()
    file = write(tmp_path / "t.csv", f"text,label\n{'a' * 200_000},x\n")
    assert len(read_rows(file).texts[0]) == 200_000 > limit
    error_of(tmp_path / "u.csv", "text,label\na\n")
    assert csv.field_size_limit() == limit


GOOD = '{"text": "a", "label": "x"}\n'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"text": null, "label": 1}', 'line 2: the text ("text") is missing'),
        ('{"text": NaN, "label": 1}', 'line 2: the text ("text") is missing'),
        ('{"label": 1}', 'line 2 has no column "text", only "label"'),
        ('{"text": 5, "label": 1}', 'the text ("text") is 5, of type int; it must be a string'),
        ('{"text": "\\ud83d!", "label": 1}', "half of a surrogate pair at character 1"),
        ('{"text": "a", "label": null}', 'line 2: the label ("label") is missing'),
        ('{"text": "a", "label": NaN}', 'line 2: the label ("label") is missing'),
        ('{"text": "a", "label": " "}', 'line 2: the label ("label") is missing'),
        ('{"text": "a", "label": 0.5}', "is 0.5, of type float; it must be a string, an integer"),
        ('{"text": "a", "label": ["x"]}', "of type list"),
        ("{'text': 'a'}", "line 2 is not JSON"),
        ("[1, 2]", "line 2 is not an object but '[1, 2]'; write"),
        ("null", "line 2 is not an object but 'null'"),
    ],
)
def test_bad_json_lines(content, expected, tmp_path):
    assert expected in error_of(tmp_path / "t.jsonl", GOOD + content)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("text,label\na,x\nb,\n", 'FILE, line 3: the label ("label") is missing'),
        ('text,label\n"a\nb",x\nc,d,e\n', "FILE, line 4 has 3 field(s), but the header has 2"),
        ("text,label\na,x\nb\n", "FILE, line 3 has 1 field(s), but the header has 2"),
        ('text,label\na,x\n"b,y\nc,z\n', "FILE, line 3 is not valid CSV"),
        ('text,label\n"a" b,x\n', "FILE, line 2 is not valid CSV"),
        ("text;label\na;x\n", 'FILE, line 2 has no column "text", only "text;label"'),
        ("text,label\n", "FILE has no rows"),
    ],
)
def test_bad_csv_lines(content, expected, tmp_path):
    assert expected in error_of(tmp_path / "t.csv", content)


def test_missing_column_names_the_others_and_the_options(tmp_path):
    message = error_of(tmp_path / "t.csv", "body,kind\na,x\n", text="body")
    assert 'no column "label", only "body", "kind"' in message
    assert "--text-column" in message
    assert "--label-column" in message


@pytest.mark.parametrize("name", ["t.jsonl", "t.csv"])
@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_empty_files(name, content, tmp_path):
    assert "FILE has no rows; give a file" in error_of(tmp_path / name, content)


def test_other_encodings_are_named_with_their_line(tmp_path):
    content = "text,label\na,x\ncafé,y\n".encode("latin-1")
    assert "FILE, line 3 is not UTF-8 (byte 0xe9)" in error_of(tmp_path / "t.csv", content)


def test_other_kinds_of_files(tmp_path):
    assert "is neither .jsonl nor .csv" in error_of(tmp_path / "t.tsv", "text\tlabel\n")


@pytest.mark.skipif(sys.platform == "win32", reason="folders can't be opened there either")
def test_what_cannot_be_read_is_said(tmp_path):
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(UsageError, match=r"t.csv can't be read: Is a directory"):
        read_rows(tmp_path / "t.csv")
