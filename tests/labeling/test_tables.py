"""Tables in all formats, in and out, and files that are none."""

import json

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from real_plugin._errors import UsageError
from real_plugin.labeling import tables
from real_plugin.labeling.tables import FORMATS, read_table, write_table

# What every format can hold: Excel and CSV have no lone carriage returns and surrogates.
TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)
ROWS = st.lists(
    st.fixed_dictionaries({"id": TEXTS, "text": TEXTS, "label": TEXTS}), min_size=1, max_size=8
)


@settings(max_examples=30)
@pytest.mark.parametrize("kind", FORMATS)
@given(rows=ROWS)
def test_what_is_written_is_read_again(kind, rows, tmp_path_factory):
    file = tmp_path_factory.mktemp("tables") / f"table.{kind}"
    write_table(file, rows, kind)
    table = read_table(file)
    assert table.columns == list(rows[0])
    assert table.records == rows
    assert table.unit == ("line" if kind in ("csv", "tsv", "jsonl") else "row")


@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_rows_know_their_line(kind, tmp_path):
    file = tmp_path / f"table.{kind}"
    write_table(file, [{"id": "1", "text": "two\nlines"}, {"id": "2", "text": "b"}], kind)
    table = read_table(file)
    assert table.numbers == [2, 4]
    assert table.place(1) == f"{file}, line 4"


def test_a_text_is_no_formula_in_excel(tmp_path):
    write_table(tmp_path / "a.xlsx", [{"text": "=1+1"}, {"text": "bell \x07"}], "xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").worksheets[0]
    assert [sheet["A2"].value, sheet["A2"].data_type] == ["=1+1", "s"]
    assert sheet["A3"].value == "bell \ufffd"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marks_of_byte_order_are_understood(encoding, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,text\n1,grüße\n", encoding=encoding)
    assert read_table(file).records == [{"id": "1", "text": "grüße"}]


def test_another_encoding_has_to_be_named(tmp_path):
    file = tmp_path / "a.csv"
    file.write_bytes("id,text\n1,a\n2,grüße\n".encode("latin-1"))
    with pytest.raises(UsageError, match=r"a\.csv, line 3 is not UTF-8.*--encoding latin-1"):
        read_table(file)
    assert read_table(file, "latin-1").records[1]["text"] == "grüße"
    with pytest.raises(UsageError, match="--encoding klingon is not known"):
        read_table(file, "klingon")


BAD = {
    "empty.csv": (b"", "is empty"),
    "header.csv": (b"id,text\n", "has no rows under its header"),
    "ragged.csv": (b"id,text\n1,a,b\n", r"line 2 has 3 field\(s\), but the header has 2"),
    "cut.csv": (b'id,text\n1,a\n2,"b', "line 3 .*perhaps it is still being written"),
    "cut.jsonl": (b'{"text": "a"}\n{"text": "b', "line 2 is not JSON.*still being written"),
    "cut.parquet": (b"PAR1 and no more", "not a whole .parquet file"),
    "cut.xlsx": (b"PK and no more", "not a whole .xlsx file"),
    "a.docx": (b"x", "doesn't end in one of .csv"),
}


@pytest.mark.parametrize("name", BAD)
def test_files_that_are_no_tables(name, tmp_path):
    content, message = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=message) as error:
        read_table(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)


def test_a_file_that_is_being_written_to(tmp_path, monkeypatch):
    file = tmp_path / "a.csv"
    file.write_text("id,text\n1,a\n")

    def somebody_else_writes(_):
        with file.open("a") as stream:
            stream.write("2,b\n")

    monkeypatch.setattr(tables.time, "sleep", somebody_else_writes)
    with pytest.raises(UsageError, match="is being written to"):
        read_table(file)


def test_records_of_json_may_lack_columns(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps({"text": "a"}) + "\n\n" + json.dumps({"text": "b", "id": 3}) + "\n")
    table = read_table(file)
    assert table.columns == ["text", "id"]
    assert table.numbers == [1, 3]


def test_excel_counts_its_rows(tmp_path):
    book = openpyxl.Workbook()
    for row in (["id", None, "text"], [1, None, "a"], [None, None, None], [2.0, None, "b"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    table = read_table(tmp_path / "a.xlsx")
    assert table.records == [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]
    assert table.place(1).endswith("a.xlsx, row 4")
