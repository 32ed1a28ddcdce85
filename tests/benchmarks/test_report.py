"""The report says what it can of any directory, and what is missing."""

import json
import re
import shutil

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


def test_variants_are_shown_where_there_are_several(run, tmp_path):
    assert run(tmp_path, strategy=("real",)) == 0
    assert "Nowhere were two or more of the variants run: real, real-pool" in report(tmp_path)
    assert run(tmp_path, strategy=("real",), track="finetune") == 0
    assert run(tmp_path, strategy=("real-pool",)) == 0
    page = report(tmp_path)
    assert 'id="variants-topics-frozen-12"' in page
    assert 'id="variants-topics-finetune-12"' not in page


def test_a_half_finished_run_names_what_is_missing(run, tmp_path):
    assert run(tmp_path, strategy=("random", "margin"), seeds="2") == 0
    folder = tmp_path / "cells/topics/frozen/margin/batch-12/seed-1"
    (folder / "round-003.json").unlink()
    page = report(tmp_path)
    assert "1 cells are missing or not finished" in page
    assert "topics frozen margin b=12 seed=1: begun, 3 of 4 rounds" in page


def test_first_models_that_differ_are_named(run, tmp_path):
    assert run(tmp_path, strategy=("random", "margin"), seeds="2") == 0
    assert "start from the same model" not in report(tmp_path)
    file = tmp_path / "cells/topics/frozen/margin/batch-12/seed-1/round-000.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {"accuracy": record["accuracy"] + 1 / 60}))
    page = report(tmp_path)
    assert "Not all strategies at a seed start from the same model." in page
    assert "<li>topics frozen seed=1: 2 first models</li>" in page


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


def test_a_winner_needs_a_test(run, tmp_path):
    """A made-up table: one clear winner, then a tie, then a strategy with one seed."""
    assert run(tmp_path, strategy=("random", "margin", "entropy"), seeds="6") == 0
    rewrite(tmp_path, "margin", lambda seed: 0.9 + seed / 1000)
    rewrite(tmp_path, "random", lambda seed: 0.8 - seed / 1000)
    rewrite(tmp_path, "entropy", lambda seed: 0.7)
    page = report(tmp_path)
    assert "margin has the best mean accuracy, 90.25 %, and is told apart from all others" in page
    assert marked(page, "margin") == "<b>90.25 ± 0.20 (6)</b>"

    rewrite(tmp_path, "random", lambda seed: 0.9 + (5 - seed) / 1000 - 0.0001)
    page = report(tmp_path)
    assert "margin has the best mean accuracy, 90.25 %, but is not told apart from random" in page
    assert marked(page, "margin") == "<b>90.25 ± 0.20 (6)</b><sup>*</sup>"
    assert marked(page, "random") == "90.24 ± 0.20 (6)<sup>*</sup>"
    assert "<" not in marked(page, "entropy")

    for seed in range(1, 6):
        shutil.rmtree(tmp_path / f"cells/topics/frozen/entropy/batch-12/seed-{seed}")
    page = report(tmp_path)
    assert marked(page, "entropy") == "70.00 (1)"
    assert "Not ranked, since many settings or seeds lack them: entropy." in page
    assert "not told apart from random; too few seeds to test entropy." in page

    rewrite(tmp_path, "random", lambda seed: 0.8 - seed / 1000)
    page = report(tmp_path)
    assert "told apart from all others that were tested; too few seeds to test entropy." in page
    assert marked(page, "margin") == "<b>90.25 ± 0.20 (6)</b><sup>*</sup>"


def rewrite(out, strategy, accuracy):
    """Give every round of a strategy's cells the accuracy that belongs to its seed."""
    for file in (out / f"cells/topics/frozen/{strategy}").glob("*/seed-*/round-*.json"):
        seed = int(file.parent.name.removeprefix("seed-"))
        record = json.loads(file.read_text()) | {"accuracy": accuracy(seed)}
        file.write_text(json.dumps(record))


def marked(page, strategy):
    """What the table of accuracy has for a strategy."""
    table = page.split('id="table2-accuracy"')[1].split("</table>")[0]
    return re.search(rf"<td>{strategy}</td><td[^>]*>(.*?)</td>", table)[1]


def test_k_belongs_to_its_own_figure(run, tmp_path):
    command = ("--n-clusters", "2", "3", "auto")
    assert run(tmp_path, *command, strategy=("real", "random"), seeds="2") == 0
    page = report(tmp_path)
    table = page.split('id="table2-accuracy"')[1].split("</table>")[0]
    assert re.findall(r"<td>(real.*?)</td>", table) == ["real"]
    assert '<figure id="clusters-topics-frozen-12">' in page


def test_k_is_compared_where_no_rule_of_its_own_was_run(run, tmp_path):
    assert run(tmp_path, "--n-clusters", "2", "3", strategy=("real",), seeds="2") == 0
    table = report(tmp_path).split('id="table2-accuracy"')[1].split("</table>")[0]
    names = re.findall(r"<td>(real.*?)</td>", table)
    assert sorted(names) == ["real@n_clusters=2", "real@n_clusters=3"]


def test_many_strategies_are_spread_over_figures(run, tmp_path):
    others = ("entropy", "badge", "cal", "bald", "plm-km", "actune", "least-confidence")
    assert run(tmp_path, strategy=("real", "random", "margin", *others)) == 0
    page = report(tmp_path)
    figures = re.findall(r'<figure id="curves-[^"]+">.*?</figure>', page, flags=re.DOTALL)
    assert len(figures) == 2
    for figure in figures:
        assert {"real", "random", "margin"} <= set(re.findall(r">([a-z-]+)</text>", figure))
    assert sum(">cal</text>" in figure for figure in figures) == 1


def test_every_table_says_where_its_numbers_are_from(run, tmp_path):
    assert run(tmp_path, strategy=("random", "margin"), seeds="2") == 0
    page = report(tmp_path)
    sources = re.findall(r'<p class="source">(.*?)</p>', page)
    assert len(sources) == page.count('<figure class="table"') > 5
    assert all(re.match(r"2 seeds; \S+; real_plugin \d.*torch \d", text) for text in sources)
    latex = (tmp_path / "tables/table3.tex").read_text()
    assert "2 seeds;" in latex
    assert (tmp_path / "tables/source.txt").read_text().strip() == sources[0]


def test_one_round(run, tmp_path):
    assert run(tmp_path, "--rounds", "1", strategy=("random", "real"), seeds="2") == 0
    page = report(tmp_path)
    assert "2 seeds" in page
    assert '<figure id="curves-topics-frozen-12">' in page
