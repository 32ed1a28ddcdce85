"""The maps show what was picked, what was wrong, and why; and texts stay texts."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("plotly")

from benchmarks.__main__ import main
from benchmarks.harness import results
from benchmarks.harness.cells import Cell
from benchmarks.harness.maps import load_map, load_selection, map_file, maps_on_disk
from benchmarks.harness.workspace import Workspace
from benchmarks.report import interactive
from benchmarks.report.interactive import interactive_map, plotly_script, shown_rows
from benchmarks.report.maps import load_map_data, map_figure
from benchmarks.report.style import as_svg
from tests.benchmarks.conftest import SIZES, write_jsonl
from tests.tiny import topical_texts

KEY = ("topics", "frozen", 0)
NASTY = (
    "<script>alert(1)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(1)>",
    "&lt;",
    '"\\',
)


def colour(name):
    return "#D55E00"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory, topics, tiny_roberta, encodings):
    out = tmp_path_factory.mktemp("maps") / "out"
    command = ["run", "--out", str(out), "--dataset", str(topics), "--encoder", str(tiny_roberta)]
    command += ["--strategy", "real", "real-pool", "margin", "full", "--seeds", "2", "--jobs", "1"]
    command += ["--cache", str(encodings), "--warm-up", "10", "--max-length", "16"]
    assert main([*command, "--batch-size", "24", "12"]) == 0
    return Workspace(out)


@pytest.fixture(scope="module")
def frame(workspace):
    return results.collect(workspace)


@pytest.fixture(scope="module")
def data(workspace, frame):
    return load_map_data(workspace, frame, KEY)


def payload(markup):
    """What the script of a map is given."""
    scripts = re.findall(r"<script>(.*?)</script>", markup, flags=re.DOTALL)
    assert len(scripts) == 1
    return json.loads(re.fullmatch(r"drawPoolMap\(\S+ (.*)\)", scripts[0], re.DOTALL)[1])


def test_picks_are_those_of_the_table(workspace, frame, data):
    pool = load_map(map_file(workspace, *KEY))
    assert list(data.picks) == ["margin", "real", "real-pool"]
    for name, picks in data.picks.items():
        rows = frame[(frame["strategy"] == name) & (frame["batch_size"] == 12)]
        row = rows[(rows["seed"] == 0) & (rows["round"] == 1)].iloc[0]
        assert pool.rows[picks].tolist() == list(row["picks"])
        assert data.errors[picks].mean() == pytest.approx(row["batch_error_rate"])
        assert data.errors.mean() == pytest.approx(row["pool_error_rate"])


def test_rows_are_those_of_train(workspace, data):
    train = workspace.dataset("topics").train
    pool = load_map(map_file(workspace, *KEY))
    assert len(data) == len(pool.rows) == 150
    assert data.texts == [train.texts[row] for row in pool.rows]
    np.testing.assert_array_equal(data.truth, train.labels[pool.rows])
    np.testing.assert_array_equal(data.errors, pool.predicted != train.labels[pool.rows])


def test_reasons_are_those_of_the_selection(workspace, data):
    assert set(data.selections) == {"real", "real-pool"}
    assert data.reasons("margin") is None
    for name in data.selections:
        selection = load_selection(workspace.cell(Cell(*KEY[:2], name, 12, 1, 0)))
        np.testing.assert_array_equal(selection.indices, data.picks[name])
        expected = [selection.explain(int(i), data.classes) for i in selection.indices]
        assert data.reasons(name) == expected


def test_only_some_strategies(data):
    assert list(data.only(["real", "margin"]).picks) == ["real", "margin"]


def test_a_missing_map(workspace, frame):
    assert list(maps_on_disk(workspace, results.cells_on_disk(workspace))) == [KEY]
    with pytest.raises(FileNotFoundError):
        load_map_data(workspace, frame, (*KEY[:2], 1))


def test_the_figure(data):
    figure = map_figure(data, colour)
    titles = [axis.get_title() for axis in figure.axes]
    assert titles[0] == f"errors of the model\n{data.errors.sum()} of 150 rows"
    for title, (name, picks) in zip(titles[1:], data.picks.items(), strict=True):
        assert title == f"{name}\n12 picks, {data.errors[picks].sum()} of them errors"
    errors = figure.axes[0].collections[1].get_offsets()
    np.testing.assert_array_equal(errors, data.positions[data.errors])
    for axis, picks in zip(figure.axes[1:], data.picks.values(), strict=True):
        rows, _, dots = axis.collections
        assert rows.get_rasterized()
        assert not dots.get_rasterized()
        np.testing.assert_array_equal(dots.get_offsets(), data.positions[picks])


def test_the_figure_takes_any_name_and_no_strategy(data):
    odd = replace(data, picks={"$a_b$ <i>&.py:f": data.picks["margin"]}, selections={})
    assert "$a_b$ &lt;i&gt;&amp;.py:f" in as_svg(map_figure(odd, colour), "odd")
    assert len(map_figure(data.only([]), colour).axes) == 1


def test_what_the_script_is_given(data):
    shown = payload(interactive_map(data, colour))
    assert shown["texts"] == data.texts
    assert shown["classes"] == list(data.classes)
    assert shown["predicted"] == data.predicted.tolist()
    assert shown["truth"] == data.truth.tolist()
    np.testing.assert_allclose(shown["confidence"], data.confidence, atol=0.001)
    np.testing.assert_allclose(np.array([shown["x"], shown["y"]]).T, data.positions, atol=0.006)
    assert [s["name"] for s in shown["strategies"]] == ["real", "margin", "real-pool"]
    assert [s["on"] for s in shown["strategies"]] == [True, False, False]
    for strategy in shown["strategies"]:
        assert strategy["rows"] == data.picks[strategy["name"]].tolist()
        assert strategy["reasons"] == data.reasons(strategy["name"])
    real = data.selections["real"]
    assert shown["cluster"] == real.assignment.tolist()
    for number, line in enumerate(shown["clusters"]):
        picks = (real.assignment[real.indices] == number).sum()
        size = (real.assignment == number).sum()
        assert line.startswith(f"Cluster {number} of real: {size} texts")
        assert line.endswith(f", {picks} of 12 picks")


def test_without_the_preferred_strategy(data):
    shown = payload(interactive_map(replace(data.only(["margin"]), selections={}), colour))
    assert [s["on"] for s in shown["strategies"]] == [True]
    assert "clusters" not in shown
    assert payload(interactive_map(data.only([]), colour))["strategies"] == []


@pytest.mark.parametrize("limit", [150, 100, 60, 5])
def test_large_pools_are_sampled(data, limit, monkeypatch):
    monkeypatch.setattr(interactive, "MOST_ROWS", limit)
    rows = shown_rows(data)
    picked = np.unique(np.concatenate(list(data.picks.values())))
    assert len(rows) == max(limit, len(picked))
    assert len(np.unique(rows)) == len(rows)
    assert set(picked) <= set(rows)
    np.testing.assert_array_equal(rows, shown_rows(data))
    markup = interactive_map(data, colour)
    assert (f"Of 150 texts {len(rows)} are drawn" in markup) == (len(rows) < 150)
    shown = payload(markup)
    for strategy in shown["strategies"]:
        picks = data.picks[strategy["name"]]
        assert [shown["texts"][row] for row in strategy["rows"]] == [
            data.texts[row] for row in picks
        ]


def test_long_texts_are_cut(data):
    longer = replace(data, texts=["x" * 200, "y" * 201, *data.texts[2:]])
    assert payload(interactive_map(longer, colour))["texts"][:2] == ["x" * 200, "y" * 200 + "…"]


def test_texts_of_a_run_are_escaped(tmp_path, tiny_roberta, encodings):
    folder = tmp_path / "topics"
    folder.mkdir()
    for seed, (part, size) in enumerate(SIZES.items()):
        texts, labels = topical_texts(size, seed=seed)
        texts = [f"{NASTY[i % len(NASTY)]} {text}" for i, text in enumerate(texts)]
        write_jsonl(folder / f"{part}.jsonl", texts, [f"</script><b>{label}" for label in labels])
    command = ["run", "--out", str(tmp_path / "out"), "--dataset", str(folder), "--strategy"]
    command += ["real", "--encoder", str(tiny_roberta), "--cache", str(encodings), "--seeds", "1"]
    assert main([*command, "--rounds", "1", "--jobs", "1"]) == 0
    workspace = Workspace(tmp_path / "out")
    data = load_map_data(workspace, results.collect(workspace), KEY)
    data = replace(data, dataset="<b>topics", track="</script>")
    markup = interactive_map(data, colour)
    assert payload(markup)["texts"] == data.texts
    assert any("</script>" in text for text in data.texts)
    assert payload(markup)["strategies"][0]["reasons"] == data.reasons("real")
    assert "</script>" in data.reasons("real")[0]
    tags = re.findall(r"<[^>]*>", markup)
    allowed = {"<figure>", "</figure>", '<div class="pool-map">', "</div>"}
    allowed |= {"<script>", "</script>", "<figcaption>", "</figcaption>"}
    assert sorted(tags) == sorted(allowed)


def test_the_page_gets_plotly_itself():
    script = plotly_script()
    assert script.count("<script>") == script.count("</script>") == 2
    assert "src=" not in re.findall(r"<script[^>]*>", script)[0]
    assert len(script) > 1_000_000
