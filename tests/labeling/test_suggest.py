"""`real-plugin suggest` without a project, end to end on a tiny encoder."""

import importlib.util
import json
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import real_plugin.__main__
from real_plugin import select
from real_plugin.labeling.cli import main
from real_plugin.labeling.columns import Columns
from real_plugin.labeling.labels import match, settle
from real_plugin.labeling.merging import read_given
from real_plugin.labeling.model import MAX_ITER, C, load_model, train
from real_plugin.labeling.pool import read_pool
from real_plugin.labeling.strategies import STRATEGIES
from real_plugin.labeling.suggestion import frozen_scores
from real_plugin.labeling.tables import FORMATS, read_table
from real_plugin.labeling.vectors import VectorStore
from tests.labeling.conftest import read_csv, write_csv

FIELDS = ["id", "text", "label", "prediction", "probability", "reason"]


def test_a_first_batch_needs_no_labels(run, pool, place, truth):
    code, said, out = run("suggest", pool, "-n", 12, "-o", "batch.csv")
    assert (code, out) == (0, "")
    rows = read_csv(place / "batch.csv")
    assert list(rows[0]) == FIELDS
    assert len({row["id"] for row in rows}) == 12
    assert all(truth[row["id"]][0] == row["text"] for row in rows)
    assert all(row["label"] == row["prediction"] == row["probability"] == "" for row in rows)
    assert all("no labels of two classes yet" in row["reason"] for row in rows)
    assert 'texts in "text" (guessed), ids in "id" (guessed)' in said
    assert "a cold start" in said


def test_the_batch_is_reals_own(run, pool, labels, place, truth, tiny_roberta, vectors):
    code, said, _ = run(
        "suggest", pool, "--labels", labels, "-n", 12, "-o", "batch.csv", "--seed", 3
    )
    assert code == 0
    rows = read_csv(place / "batch.csv")
    known = {row["id"] for row in read_csv(labels)}
    assert not known & {row["id"] for row in rows}

    table = read_pool(pool, Columns())
    given = settle(match(read_given(labels, Columns()), table), "")
    scores = frozen_scores(table, given, VectorStore(vectors, str(tiny_roberta), 32))
    free = [i for i, key in enumerate(table.ids) if key not in known]
    selection = select(scores.P[free], scores.vectors[free], 12, random_state=3)
    assert [row["id"] for row in rows] == [table.ids[free[i]] for i in selection.indices]
    for row, i in zip(rows, selection.indices, strict=True):
        p = scores.P[free[i]]
        assert row["prediction"] == scores.classes[p.argmax()]
        assert float(row["probability"]) == pytest.approx(p.max(), abs=1e-4)
        sentence = selection.explain(int(i), scores.classes)
        assert sentence.endswith(row["reason"][1:])
    for part in ("24 labels of 3 classes", "cross-validation", "95 % interval", "pseudo error"):
        assert part in said


def test_the_head_is_scikit_learns():
    rng = np.random.default_rng(0)
    for names in (["a", "b"], ["a", "b", "c"]):
        Z = rng.normal(size=(40, 6)).astype(np.float32)
        y = [names[i % len(names)] for i in range(40)]
        from sklearn.preprocessing import StandardScaler

        model = train(Z, y, StandardScaler().fit(Z), "e", 8)
        expected = LogisticRegression(C=C, max_iter=MAX_ITER).fit(Z, y).predict_proba(Z)
        np.testing.assert_allclose(model.score(Z), expected, atol=1e-5)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_gives_reasons(strategy, run, pool, labels, place):
    arguments = ["suggest", pool, "--labels", labels, "-n", 9, "--strategy", strategy]
    assert run(*arguments)[0] == 0
    rows = read_csv(place / "batch.csv")
    assert len({row["id"] for row in rows}) == 9
    assert all(row["reason"].endswith(".") and len(row["reason"]) > 20 for row in rows)
    first = [row["id"] for row in rows]
    assert run(*arguments, "-o", "-")[0] == 0
    assert run(*arguments, "-o", "again.csv")[0] == 0
    assert [row["id"] for row in read_csv(place / "again.csv")] == first


def test_uncertain_strategies_pick_the_most_uncertain(
    run, pool, labels, place, tiny_roberta, vectors
):
    table = read_pool(pool, Columns())
    given = settle(match(read_given(labels, Columns()), table), "")
    P = frozen_scores(table, given, VectorStore(vectors, str(tiny_roberta), 32)).P
    top = np.sort(P, axis=1)
    measures = {
        "margin": top[:, -1] - top[:, -2],
        "least-confidence": top[:, -1],
        "entropy": (P * np.log(P)).sum(axis=1),
    }
    for strategy, measure in measures.items():
        file = place / f"{strategy}.csv"
        run("suggest", pool, "--labels", labels, "-n", 5, "--strategy", strategy, "-o", file)
        free = [i for i, key in enumerate(table.ids) if key not in given]
        best = sorted(free, key=lambda i: measure[i])[:5]
        assert {row["id"] for row in read_csv(file)} == {table.ids[i] for i in best}


@pytest.mark.parametrize("kind", FORMATS)
def test_all_formats_in_and_out(kind, run, pool, labels, place):
    from real_plugin.labeling.tables import write_table

    other = {name: place / f"{name}.{kind}" for name in ("pool2", "labels2", "batch")}
    write_table(other["pool2"], read_table(pool).records, kind)
    write_table(other["labels2"], read_table(labels).records, kind)
    assert run("suggest", pool, "--labels", labels, "-n", 6, "-o", "expected.csv")[0] == 0
    arguments = ["suggest", other["pool2"], "--labels", other["labels2"], "-n", 6]
    assert run(*arguments, "-o", other["batch"])[0] == 0
    expected = [row["id"] for row in read_csv(place / "expected.csv")]
    table = read_table(other["batch"])
    assert table.columns == FIELDS
    assert [record["id"] for record in table.records] == expected


def test_data_goes_to_stdout_and_talk_to_stderr(run, pool, place):
    code, said, out = run("suggest", pool, "-n", 3, "-o", "-", "--format", "jsonl")
    assert code == 0
    assert [list(json.loads(line)) for line in out.splitlines()] == [FIELDS] * 3
    assert "wrote 3 rows to stdout" in said
    assert sorted(file.name for file in place.iterdir()) == ["pool.csv"]


def test_labels_with_texts_from_elsewhere_are_used(run, place, truth):
    rows = [{"text": text} for text, _ in truth.values()]
    write_csv(place / "p.csv", rows)
    known = [{"text": f"the {text}", "topic": label} for text, label in list(truth.values())[:30]]
    known += [{"text": text, "topic": label} for text, label in list(truth.values())[30:40]]
    write_csv(place / "l.csv", known)
    code, said, _ = run("suggest", "p.csv", "--labels", "l.csv", "-n", 5)
    assert code == 0
    assert "40 labels of 3 classes" in said
    assert "rows are known by their text" in said
    labelled = {row["text"] for row in known}
    assert not labelled & {row["text"] for row in read_csv(place / "batch.csv")}


def test_labels_in_a_column_of_the_pool(run, place, truth):
    rows = [
        {"key": key, "body": text, "gold": label if i % 8 == 0 else ""}
        for i, (key, (text, label)) in enumerate(truth.items())
    ]
    write_csv(place / "p.csv", rows)
    code, said, _ = run("suggest", "p.csv", "--label-column", "gold", "-n", 5)
    assert code == 0
    assert "30 labels of 3 classes" in said
    batch = read_csv(place / "batch.csv")
    assert list(batch[0])[:3] == ["key", "body", "gold"]
    assert not any(row["gold"] for row in batch)


def test_one_class_is_a_cold_start(run, pool, place, truth):
    write_csv(place / "l.csv", [{"id": "t0", "label": "only"}])
    code, said, _ = run("suggest", pool, "--labels", "l.csv", "-n", 4)
    assert code == 0
    assert "one class only" in said


def test_fewer_rows_than_asked_for(run, place):
    write_csv(place / "p.csv", [{"id": i, "text": f"goal {i}"} for i in range(3)])
    code, said, _ = run("suggest", "p.csv", "-n", 10)
    assert code == 0
    assert "only 3 rows are left" in said
    assert len(read_csv(place / "batch.csv")) == 3


def test_nothing_left_is_an_error(run, place):
    write_csv(place / "p.csv", [{"text": "goal", "label": "a"}, {"text": "law", "label": "b"}])
    code, said, _ = run("suggest", "p.csv")
    assert code == 2
    assert "nothing is left to suggest" in said


def test_finetuning(run, pool, labels, place):
    code, said, _ = run("suggest", pool, "--labels", labels, "-n", 5, "--finetune")
    assert code == 0
    assert "fine-tuning" in said
    rows = read_csv(place / "batch.csv")
    assert all(row["prediction"] in {"sport", "politics", "science"} for row in rows)


def test_a_labelled_batch_is_not_overwritten(run, pool, place, answer):
    assert run("suggest", pool, "-n", 12)[0] == 0
    assert run("suggest", pool, "-n", 12)[0] == 0  # nothing is labelled in it yet
    batch = place / "batch.csv"
    answer(batch)
    before = batch.read_bytes()
    code, said, _ = run("suggest", pool, "-n", 12)
    assert code == 3
    assert "12 labels that would be lost" in said
    assert batch.read_bytes() == before
    assert run("merge", batch, "labels.csv")[0] == 0
    assert run("suggest", pool, "--labels", "labels.csv", "-n", 12)[0] == 0
    assert batch.read_bytes() != before


@pytest.mark.parametrize("name", ["pool.csv", "labels.csv", "notes.csv", "notes.json"])
def test_other_files_are_not_overwritten(name, run, pool, labels, place):
    (place / "notes.csv").write_text("my,own\n1,2\n")
    (place / "notes.json").write_text('{"my": "own"}')
    before = (place / name).read_bytes()
    code, said, _ = run("suggest", pool, "--labels", labels, "-o", name)
    assert code == 2
    assert "name another file with -o" in said
    assert (place / name).read_bytes() == before


def test_errors_are_one_line_with_a_code(run, pool, place):
    write_csv(place / "l.csv", [{"id": "t1", "label": "a"}, {"id": "nowhere", "label": "b"}])
    code, said, out = run("suggest", pool, "--labels", "l.csv")
    assert (code, out) == (2, "")
    assert "error: l.csv, line 3: the id 'nowhere' is not in" in said
    assert run("suggest", "missing.csv")[1].startswith("error: missing.csv can't be read: No such")
    assert run("suggest", pool, "-o", place / "no" / "such" / "folder.csv")[0] == 2
    write_csv(place / "l.csv", [{"id": "t1", "label": "a"}, {"id": "t1", "label": "b"}])
    code, said, _ = run("suggest", pool, "--labels", "l.csv")
    assert code == 3
    assert "t1: 'a' (l.csv, line 2), 'b' (l.csv, line 3)" in said


def test_an_interruption_has_its_code(run, pool, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(VectorStore, "vectors", interrupt)
    assert run("suggest", pool)[0] == 130


def test_the_help_teaches(capsys):
    for command in ([], ["suggest"], ["init"], ["merge"], ["explain"], ["stop"], ["labels"]):
        with pytest.raises(SystemExit) as stopped:
            main([*command, "--help"])
        assert stopped.value.code == 0
        assert len(capsys.readouterr().out) > 300


def test_the_missing_extra_is_named(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("real_plugin.labeling")]:
        monkeypatch.delitem(sys.modules, name)
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "openpyxl" else find_spec(name)
    )
    assert real_plugin.__main__.main() == 2
    assert "needs openpyxl: pip install 'real-plugin[label]'" in capsys.readouterr().err


def test_a_folder_without_a_model_says_so(tmp_path):
    with pytest.raises(ValueError, match=r"has no model\.npz"):
        load_model(tmp_path)
