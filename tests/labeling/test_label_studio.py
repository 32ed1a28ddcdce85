"""Label Studio: tasks out and labels in, checked by its own SDK where that is installed."""

import json
import subprocess
from pathlib import Path

import pytest

from real_plugin.labeling.label_studio import interface, read_export
from tests.labeling.conftest import journal, read_csv, write_csv

ROOT = Path(__file__).parents[2]
SDK = ROOT / ".venv-label-studio" / "bin" / "python"
ODD = ['<b>"A" & B</b>', "ümläut", "two words", "x"]


@pytest.fixture
def tasks(run, pool, labels, place):
    arguments = ["suggest", pool, "--labels", labels, "-n", 8, "--format", "label-studio"]
    assert run(*arguments, "-o", "tasks.json", "--classes", *ODD)[0] == 0
    return json.loads((place / "tasks.json").read_text())


def test_tasks_have_predictions_and_reasons(tasks, truth):
    assert len(tasks) == 8
    for task in tasks:
        assert truth[task["data"]["real_plugin_id"]][0] == task["data"]["text"]
        assert len(task["meta"]["reason"]) > 20
        (prediction,) = task["predictions"]
        assert 0 < prediction["score"] <= 1
        assert prediction["result"][0]["value"]["choices"][0] in {"sport", "politics", "science"}


def test_a_cold_start_has_no_predictions(run, pool, place):
    code, said, _ = run("suggest", pool, "-n", 4, "-o", "tasks.json")
    assert code == 0
    assert "no class is known yet" in said
    assert not (place / "tasks.xml").exists()
    tasks = json.loads((place / "tasks.json").read_text())
    assert all("predictions" not in task for task in tasks)
    assert run("suggest", pool, "-n", 4, "-o", "tasks.json")[0] == 0  # ours: written over


@pytest.mark.skipif(
    not SDK.exists(), reason="needs label-studio-sdk: make .venv-label-studio/ready"
)
@pytest.mark.parametrize("kind", ["JSON", "JSON_MIN", "CSV", "TSV"])
def test_the_sdk_takes_our_tasks_and_we_its_exports(kind, tasks, exports, run, place, project):
    answers = json.loads((exports / "answers.json").read_text())
    file = next((exports / kind).iterdir())
    expected = {key: label for key, label in answers.items() if label is not None}
    assert len(expected) == 7
    code, said, _ = run("merge", file, "collected.csv")
    assert code == 0
    assert "7 new labels" in said
    assert {row["id"]: row["label"] for row in read_csv(place / "collected.csv")} == expected
    assert run("merge", file, "--project", project)[0] == 0
    assert journal(project) == [expected]


@pytest.fixture
def exports(tasks, place):
    """A folder with what the SDK's converter made of our tasks and some answers."""
    keys = [task["data"]["real_plugin_id"] for task in tasks]
    answers = dict(zip(keys, [*ODD, "sport", "politics", "sport", None], strict=True))
    out = place / "out"
    out.mkdir()
    (out / "answers.json").write_text(json.dumps(answers))
    script = ROOT / "tests" / "label_studio_check.py"
    command = [SDK, script, "tasks.json", "tasks.xml", out / "answers.json", out]
    subprocess.run(command, check=True, cwd=place, capture_output=True)
    return out


def task(number, *names, **annotation):
    """A task of the JSON export with one annotation."""
    result = [
        {
            "from_name": "label",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": [*names]},
        }
    ]
    annotations = [{"result": result if names else [], **annotation}]
    return {
        "id": number,
        "data": {"text": f"text {number}", "real_plugin_id": f"t{number}"},
        "annotations": annotations,
    }


def exported(*tasks):
    return json.dumps(tasks).encode()


def test_skipped_and_empty_annotations_are_no_labels():
    data = exported(task(1, "a"), task(2, "b", was_cancelled=True), task(3))
    (found,) = read_export(Path("e.json"), data)
    assert (found.id, found.label, found.place) == ("t1", "a", "e.json, task 1")


def test_annotators_who_disagree_are_a_conflict(run, place):
    both = task(1, "a")
    both["annotations"] += task(1, "b")["annotations"]
    (place / "e.json").write_bytes(exported(both, task(2, "a")))
    code, said, _ = run("merge", "e.json", "l.csv")
    assert code == 3
    assert "t1: 'a' (e.json, task 1), 'b' (e.json, task 1)" in said
    assert not (place / "l.csv").exists()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (exported(task(7, "a", "b")), "e.json, task 7 has 2 choices.*not supported"),
        (b"{", "is not JSON"),
        (b"{}", "is not a list of tasks"),
        (exported({"id": 3, "data": {}, "annotations": []}), "task 3 has neither"),
        (exported({"id": 3, "label": "a"}), "task 3 has neither"),
        (exported({"id": 3, "text": "a", "label": {"choices": ["a", "b"]}}), "not supported"),
    ],
)
def test_exports_that_cannot_be_used(data, message):
    with pytest.raises(ValueError, match=message):
        read_export(Path("e.json"), data)


def test_the_interface_escapes_names():
    text = interface(["<&>", 'a "b"'])
    assert 'value="&lt;&amp;&gt;"' in text
    assert "&quot;b&quot;" in text


# Merging into files


def test_what_is_in_the_file_stays_byte_by_byte(run, place):
    before = b'id,who,label\r\n"t1",me,"a"\r\nt2,you,'
    (place / "l.csv").write_bytes(before)
    (place / "e.json").write_bytes(exported(task(1, "a"), task(2, "b"), task(3, "c")))
    assert run("merge", "e.json", "l.csv")[0] == 0
    after = (place / "l.csv").read_bytes()
    assert after.startswith(before)
    assert after[len(before) :] == b"\nt2,,b\nt3,,c\n"
    assert run("merge", "e.json", "l.csv")[0] == 0
    assert (place / "l.csv").read_bytes() == after


@pytest.mark.parametrize("name", ["l.csv", "l.tsv", "l.jsonl"])
def test_conflicts_leave_the_file_alone(name, run, place):
    (place / "e.json").write_bytes(exported(task(1, "a"), task(2, "b")))
    assert run("merge", "e.json", name)[0] == 0
    before = (place / name).read_bytes()
    (place / "f.json").write_bytes(exported(task(2, "other"), task(3, "c")))
    code, said, _ = run("merge", "f.json", name)
    assert code == 3
    assert "t2: 'b'" in said
    assert (place / name).read_bytes() == before


def test_a_file_that_labels_cannot_be_added_to(run, place):
    (place / "e.json").write_bytes(exported(task(1, "a")))
    code, said, _ = run("merge", "e.json", "l.xlsx")
    assert code == 2
    assert "collected in a .csv, .tsv or .jsonl file" in said
    write_csv(place / "texts.csv", [{"text": "a", "label": "b"}])
    assert run("merge", "e.json", "texts.csv")[0] == 0  # rows are known by their texts there
    assert read_csv(place / "texts.csv")[1] == {"text": "text 1", "label": "a"}


def test_labels_without_ids_are_collected_by_text(run, place):
    write_csv(place / "some.csv", [{"text": "a goal", "label": "sport"}])
    assert run("merge", "some.csv", "l.csv")[0] == 0
    assert read_csv(place / "l.csv") == [{"text": "a goal", "label": "sport"}]
    write_csv(place / "ids.csv", [{"id": "t1", "label": "sport"}])
    code, said, _ = run("merge", "ids.csv", "l.csv")
    assert code == 2
    assert 'ids.csv, line 2: the file to merge into knows rows by "text"' in said


def test_a_file_in_utf_16_is_not_mixed_with_utf_8(run, place):
    (place / "l.csv").write_text("id,label\nt9,a\n", encoding="utf-16")
    before = (place / "l.csv").read_bytes()
    (place / "e.json").write_bytes(exported(task(1, "a")))
    code, said, _ = run("merge", "e.json", "l.csv")
    assert code == 2
    assert "save it as UTF-8" in said
    assert (place / "l.csv").read_bytes() == before
