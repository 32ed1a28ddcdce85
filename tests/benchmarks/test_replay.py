"""Rounds of a run can be had again, and what was picked can be looked at."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.data import Part
from benchmarks.errors import UsageError
from benchmarks.harness.replay import ReplayError, replay, settings_of
from benchmarks.harness.workspace import Workspace
from results import picks

STRATEGIES = ("real", "margin")


@pytest.fixture(scope="module")
def out(tmp_path_factory, topics, tiny_roberta, encodings):
    """A finished run of two strategies and two seeds."""
    from benchmarks.__main__ import main

    out = tmp_path_factory.mktemp("replayed") / "out"
    command = ["run", "--out", str(out), "--dataset", str(topics), "--encoder", str(tiny_roberta)]
    command += ["--strategy", *STRATEGIES, "--seeds", "2", "--jobs", "1", "--no-maps"]
    command += ["--cache", str(encodings), "--warm-up", "10", "--batch-size", "12"]
    assert main([*command, "--rounds", "3", "--max-length", "16"]) == 0
    return out


@pytest.fixture
def parts(out, tiny_roberta, encodings):
    """The dataset of the run, and how its encoder was used."""
    workspace = Workspace(out)
    dataset = workspace.dataset("topics")
    return dataset, settings_of(workspace.config(), dataset, str(tiny_roberta), encodings)


def cell(out, strategy, seed=1):
    frame = pd.read_parquet(out / "results.parquet")
    return frame[(frame["strategy"] == strategy) & (frame["seed"] == seed)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_replayed_round_is_the_recorded_one(out, parts, strategy):
    rounds = cell(out, strategy)
    replayed = list(replay(rounds.sample(frac=1, random_state=0), *parts, 10))
    assert [query.number for query in replayed] == [1, 2, 3]
    for query, record in zip(replayed, rounds[1:].itertuples(), strict=True):
        np.testing.assert_array_equal(query.rows, record.picks)
        assert len(query.learner.labelled) == record.n_labelled - 12
        if strategy == "margin":
            assert query.selection is None
        else:
            assert query.selection.clusters.budget.tolist() == list(record.budgets)


@pytest.mark.parametrize("column", ["accuracy", "picks"])
def test_a_round_that_comes_out_otherwise_is_an_error(out, parts, column):
    rounds = cell(out, "real").reset_index(drop=True)
    rounds[column] = [
        value if number != 2 else value[::-1] if column == "picks" else value + 0.01
        for number, value in zip(rounds["round"], rounds[column], strict=True)
    ]
    with pytest.raises(ReplayError, match=f"topics, real, seed 1, round 2: {column} not as"):
        list(replay(rounds, *parts, 10))


def test_other_data_are_refused(out, parts, tiny_roberta, encodings):
    dataset, _ = parts
    labels = (dataset.train.labels + 1) % 3
    other = replace(dataset, train=Part(dataset.train.texts, labels))
    with pytest.raises(UsageError, match="another dataset"):
        settings_of(Workspace(out).config(), other, str(tiny_roberta), encodings)


def test_the_picks_of_a_run_are_described(out, topics, tiny_roberta, encodings, tmp_path, capsys):
    kept = tmp_path / "kept"  # as results are in a repository: without texts and cells
    kept.mkdir()
    for name in ("results.parquet", "config.json"):
        shutil.copy(out / name, kept)
    line = [str(kept), "--data-dir", str(topics.parent), "--encoder", str(tiny_roberta)]
    line += ["--cache", str(encodings), "--strategy", *STRATEGIES, "--replay", *STRATEGIES]
    picks.main([*line, "--replay-seeds", "1", "--change-seeds", "2"])
    rows = {
        row[0]: row[1:]
        for text in capsys.readouterr().out.splitlines()
        if len(row := [part.strip() for part in text.strip("|").split("|")]) > 1
    }
    assert rows["picks"] == rows["queries"] == list(STRATEGIES)
    assert rows["REAL, by round"] == ["1", "2", "3"]
    assert rows["the whole batch"][0] == f"{12:.1f} ± {0:.1f}"
    recorded = pd.read_parquet(kept / "results.parquet").query("round == 1 and strategy == 'real'")
    expected = 100 * recorded["batch_error_rate"].mean()
    assert float(rows["errors"][0].split(" ")[0]) == pytest.approx(expected, abs=0.051)
