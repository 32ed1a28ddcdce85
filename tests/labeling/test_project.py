"""A project's folder: rounds, the journal, interruptions, locks."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from real_plugin.labeling import load_model
from tests.labeling.conftest import journal, read_csv, write_csv


def picked(project):
    files = sorted((project / "rounds").glob("*/batch.jsonl"))
    return [[json.loads(line)["id"] for line in file.read_text().splitlines()] for file in files]


def test_three_rounds(rounds, truth, place):
    project = rounds(3)
    batches = picked(project)
    assert len(batches) == 3
    assert len({key for batch in batches for key in batch}) == 45
    assert journal(project) == [{key: truth[key][1] for key in batch} for batch in batches]
    curve = read_csv(project / "curve.csv")
    assert [row["labels"] for row in curve] == ["0", "15", "30"]
    assert [row["batch_labelled"] for row in curve] == ["", "15", "15"]
    assert 0 < float(curve[2]["accuracy_on_pool"]) <= 1
    assert -1 <= float(curve[2]["kappa"]) <= 1


def test_vectors_are_computed_once(rounds, run, monkeypatch):
    from real_plugin.labeling import vectors

    project = rounds(1)
    monkeypatch.setattr(vectors, "load_classifier", None)  # can't be called
    assert run("suggest", "--project", project, "-n", 5, "-o", "b.csv")[0] == 0
    assert run("stop", "--project", project)[0] == 5


def test_the_model_is_kept_and_predicts(rounds, run, truth, vectors):
    project = rounds(3, n=30)
    assert run("suggest", "--project", project, "-n", 5, "-o", "b.csv")[0] == 0
    model = load_model(project / "model")
    assert model.classes == ["politics", "science", "sport"]
    texts, labels = zip(*truth.values(), strict=True)
    predicted = model.predict(texts, vectors)
    assert np.mean([p == t for p, t in zip(predicted, labels, strict=True)]) > 0.6


def test_what_was_suggested_is_not_suggested_again(run, project, place):
    for name in ("a.csv", "b.csv"):
        assert run("suggest", "--project", project, "-n", 20, "-o", name)[0] == 0
    a, b = ({row["id"] for row in read_csv(place / name)} for name in ("a.csv", "b.csv"))
    assert not a & b
    assert run("suggest", "--project", project, "-n", 20, "-o", "c.csv", "--again")[0] == 0
    assert {row["id"] for row in read_csv(place / "c.csv")} == a


def test_new_rows_of_the_pool_are_seen(rounds, run, pool):
    project = rounds(1)
    write_csv(pool, [*read_csv(pool), {"id": "new", "text": "a new goal in the cup"}])
    code, said, _ = run("suggest", "--project", project, "-n", 300, "-o", "rest.csv")
    assert code == 0
    assert "encoding 1 text" in said
    assert "new" in {row["id"] for row in read_csv(Path("rest.csv"))}


def test_labels_of_rows_that_left_the_pool_still_train(rounds, run, pool):
    project = rounds(2)
    gone = set(journal(project)[0])
    write_csv(pool, [row for row in read_csv(pool) if row["id"] not in gone])
    code, said, _ = run("suggest", "--project", project, "-n", 5, "-o", "b.csv")
    assert code == 0
    assert "30 labels of" in said


def test_labels_that_were_never_suggested_are_welcome(rounds, run, truth, place):
    project = rounds(1)
    others = [key for key in truth if key not in journal(project)[0]][:4]
    write_csv(place / "own.csv", [{"id": key, "label": truth[key][1]} for key in others])
    code, said, _ = run("merge", "own.csv", "--project", project)
    assert code == 0
    assert "4 new labels" in said
    assert "4 rows of them had not been suggested" in said
    assert journal(project)[1] == {key: truth[key][1] for key in others}


def test_a_conflict_is_listed_and_nothing_is_written(rounds, run, truth, place):
    project = rounds(1)
    before = journal(project)
    key = next(iter(before[0]))
    new = next(key for key in truth if key not in before[0])
    write_csv(place / "o.csv", [{"id": key, "label": "other"}, {"id": new, "label": "sport"}])
    code, said, _ = run("merge", "o.csv", "--project", project)
    assert code == 3
    assert f"{key}: {truth[key][1]!r} (labels/000001.json), 'other' (o.csv, line 2)" in said
    assert journal(project) == before
    code, said, _ = run("merge", "o.csv", "--project", project, "--correct")
    assert code == 0
    assert "1 new label, 1 corrected" in said
    assert journal(project) == [*before, {new: "sport", key: "other"}]
    _, _, out = run("labels", "--project", project)
    assert f"{key},{truth[key][0]},other" in out.splitlines()


def test_merging_again_changes_nothing(rounds, run, place):
    project = rounds(1)
    before = journal(project)
    code, said, _ = run("merge", place / "batch.csv", "--project", project)
    assert (code, journal(project)) == (0, before)
    assert "0 new labels, 15 were known" in said


def test_labels_of_the_pool_go_into_the_journal(run, place, truth):
    rows = [
        {"id": key, "text": text, "label": label if i < 12 else ""}
        for i, (key, (text, label)) in enumerate(truth.items())
    ]
    pool = write_csv(place / "p.csv", rows)
    assert run("init", "p", "--pool", pool)[0] == 0
    project = place / "p"
    assert len(journal(project)[0]) == 12
    write_csv(pool, [{**row, "label": ""} for row in rows])  # and nothing is lost
    assert run("suggest", "--project", project, "-n", 5, "-o", "b.csv")[0] == 0
    assert not {row["id"] for row in read_csv(place / "b.csv")} & set(journal(project)[0])
    write_csv(pool, [{**row, "label": "other" if row["id"] == "t0" else ""} for row in rows])
    assert run("suggest", "--project", project, "-n", 5, "-o", "b2.csv")[0] == 3


def state(folder):
    """All that a project holds, but times and the cache."""
    files = [
        file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix != ".npz"
    ]
    return {
        str(file.relative_to(folder)): [
            line for line in file.read_text(encoding="utf-8").splitlines() if '"time"' not in line
        ]
        for file in files
        if "cache" not in file.parts and file.name != ".lock"
    }


@pytest.mark.parametrize("command", ["suggest", "merge"])
def test_it_can_be_interrupted_at_any_point(command, rounds, run, answer, place, monkeypatch):
    """Whatever write an interruption hits, the same command then ends where it would have."""
    project = rounds(2)
    next_batch = place / "next.csv"
    suggest = ("suggest", "--project", project, "-n", 10, "-o", next_batch)
    if command == "merge":
        assert run(*suggest)[0] == 0
        answer(next_batch)
        arguments = ("merge", next_batch, "--project", project)
    else:
        arguments = suggest
    saved = place / "saved"
    shutil.copytree(project, saved)
    assert run(*arguments)[0] == 0
    expected = state(project)
    before = state(saved)

    replace, moves = Path.replace, []

    def counted(self, target):
        moves.append(target)
        if len(moves) == last:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", counted)
    for last in range(1, 10):
        shutil.rmtree(project)
        shutil.copytree(saved, project)
        moves.clear()
        code = run(*arguments)[0]
        kept = state(project)
        assert all(kept.get(name) == lines for name, lines in before.items() if "labels/" in name)
        if code == 0:
            break
        assert code == 130
        moves.clear()
        if command == "suggest" and any(name.startswith("rounds/0003") for name in kept):
            continue  # it was kept: the same command would go on to a fourth
        last = 0
        assert run(*arguments)[0] == 0
        assert state(project) == expected
    assert last > 2, "nothing was interrupted"


def test_one_process_at_a_time(project, run):
    with FileLock(project / ".lock"):
        for command in (["suggest"], ["stop"], ["merge", "a.csv"]):
            code, said, _ = run(*command, "--project", project)
            assert code == 4
            assert "in use by another real-plugin" in said


def test_a_project_is_not_made_twice(project, run, pool):
    before = (project / "real-plugin.json").read_bytes()
    code, said, _ = run("init", "project", "--pool", pool)
    assert code == 2
    assert "is a project already" in said
    assert (project / "real-plugin.json").read_bytes() == before


def test_the_current_folder_can_be_the_project(project, run, monkeypatch):
    from real_plugin.labeling.cli import main

    monkeypatch.chdir(project)
    assert main(["suggest", "-n", "4", "-o", "b.csv"]) == 0
    assert len(read_csv(Path("b.csv"))) == 4
    code, said, _ = run("merge", "b.csv")
    assert code == 0
    assert "0 new labels" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["suggest", "--project", "nowhere"], "nowhere is no project"),
        (["stop"], "there is no project here"),
        (["explain"], "there is no project here"),
        (["merge", "x.csv"], "there is no project here"),
        (["suggest", "--project", "project", "--encoder", "x"], "--encoder is fixed"),
        (["suggest", "--project", "project", "--labels", "x"], "real-plugin merge FILE"),
        (["suggest", "pool.csv", "--project", "project"], "either a POOL or --project"),
        (["merge", "a", "b.csv", "--project", "project"], "either LABELS or --project"),
        (["explain", "--project", "project"], "has 0 batches"),
        (["labels", "--project", "project"], "has no labels yet"),
    ],
)
def test_options_that_make_no_sense(arguments, message, project, capsys):
    from real_plugin.labeling.cli import main

    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_broken_journal_is_named(rounds, run):
    project = rounds(1)
    file = project / "labels" / "000001.json"
    file.write_text(file.read_text()[:50])
    code, said, _ = run("suggest", "--project", project)
    assert code == 2
    assert f"{file} is not valid JSON" in said
