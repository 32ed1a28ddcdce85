"""The report says what it can of any directory, and what is missing."""

import re

import pandas as pd
import pytest

from benchmarks.__main__ import main


def report(out, *more):
    assert main(["report", str(out), *more]) == 0
    return (out / "report.html").read_text(encoding="utf-8")


def test_a_whole_run(run, tmp_path, capsys):
    out = tmp_path / "out"
    strategies = ("real", "real-pool", "random", "margin", "full")
    assert run(out, "--n-clusters", "3", "auto", strategy=strategies, seeds="3") == 0
    page = report(out, "--paper-figures", str(tmp_path / "figures"))
    for anchor in ("performance", "errors", "ablation", "cost", "paper", "data"):
        assert f'<section id="{anchor}">' in page
    names = {file.stem for file in (out / "tables").glob("*.csv")}
    assert {"table2-accuracy", "against-random", "table3", "penalties", "cost"} <= names
    assert {file.stem for file in (out / "tables").glob("*.tex")} == names
    pictures = set(re.findall(r'<figure id="([^"]+)">', page))
    assert {"curves-topics-frozen-12", "clusters-topics-frozen-12", "ranks"} <= pictures
    for suffix in ("pdf", "png"):
        assert {file.stem for file in (tmp_path / "figures").glob(f"*.{suffix}")} == pictures
    assert "missing or not finished" not in page


def test_numbers_are_those_of_the_table(run, tmp_path):
    assert run(tmp_path, strategy=("random", "margin"), seeds="3") == 0
    report(tmp_path)
    frame = pd.read_parquet(tmp_path / "results.parquet").query("round > 0")
    means = 100 * frame.groupby(["strategy", "seed"])["accuracy"].mean().unstack("strategy")
    table = pd.read_csv(tmp_path / "tables/table2-accuracy.csv").set_index("strategy")
    for name in ("random", "margin"):
        shown = table.loc[name, "topics, frozen, batches of 12"]
        assert shown.startswith(f"{means[name].mean():.2f} ±")
        assert shown.endswith("(3)")
    against = pd.read_csv(tmp_path / "tables/against-random.csv").set_index("strategy")
    difference = (means["margin"] - means["random"]).mean()
    assert against.loc["margin", "difference"] == pytest.approx(difference)


def test_one_seed_one_strategy(run, tmp_path):
    assert run(tmp_path, strategy=("random",)) == 0
    page = report(tmp_path)
    assert "With one seed nothing can be tested" in page
    assert "<b>" not in page.split('id="table2-accuracy"')[1].split("</table>")[0]


def test_a_half_finished_run_names_what_is_missing(run, tmp_path):
    assert run(tmp_path, strategy=("random", "margin"), seeds="2") == 0
    folder = tmp_path / "cells/topics/frozen/margin/batch-12/seed-1"
    (folder / "round-003.json").unlink()
    page = report(tmp_path)
    assert "1 cells are missing or not finished" in page
    assert "topics frozen margin b=12 seed=1: begun, 3 of 4 rounds" in page


def test_a_run_that_only_failed(run, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def f(learner, X_pool, n_instances=1):\n    raise RuntimeError('<b>no')\n")
    assert run(tmp_path / "out", strategy=(f"{file}:f",)) == 1
    page = report(tmp_path / "out")
    assert "No cell is finished yet" in page
    assert "RuntimeError: &lt;b&gt;no" in page


def test_an_empty_directory(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "holds no results of a run" in capsys.readouterr().err
