"""A run measures what it says, and the same command gives the same files."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score

from benchmarks.__main__ import main
from benchmarks.harness.cells import Cell
from benchmarks.harness.results import COLUMNS, MEASURED
from benchmarks.harness.seeds import ROLES, role_seed, warm_up_rows
from benchmarks.harness.workspace import Workspace
from benchmarks.tracks import TrackSettings, make_model
from benchmarks.tracks.encodings import encoder_sha256
from real_plugin import select
from tests.benchmarks.runs import comparable


def table(out):
    return pd.read_parquet(out / "results.parquet")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, topics, tiny_roberta, encodings):
    """A finished run of three strategies and two seeds."""
    out = tmp_path_factory.mktemp("finished") / "out"
    command = ["run", "--out", str(out), "--dataset", str(topics), "--encoder", str(tiny_roberta)]
    command += ["--strategy", "real", "margin", "full", "--seeds", "2", "--jobs", "1"]
    command += ["--cache", str(encodings), "--warm-up", "10", "--batch-size", "12"]
    assert main([*command, "--rounds", "3", "--max-length", "16"]) == 0
    return out


@pytest.fixture
def model(finished, tiny_roberta, encodings):
    """An untrained model of the run's seed 1, and its dataset."""
    dataset = Workspace(finished).dataset("topics")
    settings = TrackSettings(str(tiny_roberta), encoder_sha256(str(tiny_roberta)), 16, encodings)
    return make_model("frozen", dataset, settings, role_seed(1, "model")), dataset


def test_the_table_has_a_row_a_round(finished):
    frame = table(finished)
    assert list(frame) == list(COLUMNS)
    counts = frame.groupby(["strategy", "seed"]).size()
    assert counts.to_dict() == {
        **{(name, seed): 4 for name in ("real", "margin") for seed in (0, 1)},
        **{("full", seed): 1 for seed in (0, 1)},
    }
    rounds = frame[frame["strategy"] == "real"]
    assert (rounds["n_labelled"] == 10 + 12 * rounds["round"]).all()
    assert (frame.loc[frame["strategy"] == "full", "n_labelled"] == 160).all()
    assert frame["accuracy"].between(0, 1).all()


def test_the_docs_explain_every_column():
    page = (Path(__file__).parents[2] / "docs/benchmarks.md").read_text(encoding="utf-8")
    for name, meaning in COLUMNS.items():
        assert f"| `{name}` | {meaning} |\n" in page


def test_picks_are_new_rows_of_train(finished):
    for (strategy, seed), rows in table(finished).groupby(["strategy", "seed"]):
        if strategy == "full":
            continue
        warm_up = warm_up_rows(160, 10, seed)
        labelled = np.concatenate([warm_up, *rows["picks"]])
        assert len(np.unique(labelled)) == 10 + 3 * 12
        assert labelled.max() < 160


def test_the_warm_up_is_the_same_for_all_strategies_at_a_seed(finished):
    start = table(finished).query("round == 0 and strategy != 'full'")
    assert (start.groupby("seed")["accuracy"].nunique() == 1).all()
    assert set(warm_up_rows(160, 10, 0)) != set(warm_up_rows(160, 10, 1))


def test_a_round_is_what_its_parts_give(finished, model):
    """Round 1 and 2 of REAL at seed 1, done by hand."""
    model, dataset = model
    rows = table(finished).query("strategy == 'real' and seed == 1").set_index("round")
    labelled = warm_up_rows(160, 10, 1)
    for number in (1, 2):
        model.fit(labelled)
        pool = np.setdiff1d(np.arange(160), labelled)
        P, E = model.network().score(pool)
        selection = select(P, E, 12, random_state=role_seed(1, "strategy", number))
        picks, row = pool[selection.indices], rows.loc[number]
        assert row["picks"].tolist() == picks.tolist()
        assert row["budgets"].tolist() == selection.clusters.budget.tolist()
        assert row["inertia"] == pytest.approx(selection.inertia)
        truth = dataset.train.labels
        wrong = P.argmax(axis=1) != truth[pool]
        assert row["pool_error_rate"] == wrong.mean()
        assert row["batch_error_rate"] == wrong[selection.indices].mean()
        assert row["lift"] == pytest.approx(wrong[selection.indices].mean() / wrong.mean())
        loss = -np.log(P[selection.indices, truth[picks]]).mean()
        assert row["first_step_loss"] == pytest.approx(loss, rel=1e-5)
        labelled = np.concatenate([labelled, picks])
    model.fit(labelled)
    predicted, truth = model.predict_test(), dataset.test.labels
    assert rows.loc[2, "accuracy"] == accuracy_score(truth, predicted)
    assert rows.loc[2, "macro_f1"] == f1_score(truth, predicted, average="macro")


def test_timings_are_measured(finished):
    queries = table(finished).query("round > 0")
    assert (queries[["query_seconds", "inference_seconds", "training_seconds"]] > 0).all(axis=None)
    assert queries["query_seconds"].max() < 60


@pytest.mark.parametrize("track", ["frozen", "finetune"])
def test_the_same_command_gives_the_same_results(run, tmp_path, track):
    strategies = ("real", "badge", "bald", "modal:margin_sampling")
    for name in ("one", "other"):
        assert run(tmp_path / name, strategy=strategies, track=track) == 0
    pd.testing.assert_frame_equal(comparable(tmp_path / "one"), comparable(tmp_path / "other"))


def test_files_are_the_same_to_the_byte_but_for_timings(run, tmp_path):
    for name in ("one", "other"):
        assert run(tmp_path / name) == 0
    files = [
        {f.relative_to(out): f for f in out.rglob("*.json")}
        for out in (tmp_path / "one", tmp_path / "other")
    ]
    assert files[0].keys() == files[1].keys()
    for name in files[0]:
        one, other = (json.loads(found[name].read_text()) for found in files)
        for key in MEASURED:
            one.pop(key, None), other.pop(key, None)
        assert json.dumps(one) == json.dumps(other)


def test_roles_have_different_seeds():
    seeds = {role_seed(s, role, n) for s in range(9) for role in ROLES for n in range(9)}
    assert len(seeds) == 9 * len(ROLES) * 9


def test_the_configuration_names_no_place_of_the_machine(run, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def f(learner, X_pool, n_instances=1):\n    return range(n_instances)\n")
    assert run(tmp_path / "out", strategy=(f"{file}:f",)) == 0
    assert str(tmp_path.parent) not in (tmp_path / "out/config.json").read_text()
    frame = table(tmp_path / "out")
    assert not any(frame[c].astype(str).str.contains(str(tmp_path.parent)).any() for c in frame)


def test_finetune_learns_and_goes_on_from_its_weights(run, tmp_path):
    assert run(tmp_path, "--no-validation", track="finetune", strategy=("entropy", "cal")) == 0
    frame = table(tmp_path)
    assert (frame["track"] == "finetune").all()
    assert len(frame) == 8
    assert not list(tmp_path.rglob("weights-*"))  # a finished cell needs none


def test_more_can_be_added_later(run, tmp_path):
    assert run(tmp_path, strategy=("random",)) == 0
    before = table(tmp_path)
    assert run(tmp_path, strategy=("random", "margin"), seeds="2") == 0
    after = table(tmp_path)
    assert after.groupby(["strategy", "seed"]).ngroups == 4
    kept = after.query("strategy == 'random' and seed == 0").reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, before)  # with its timings: it was not run again


def test_batch_sizes_share_the_budget(command, tmp_path):
    line = command(tmp_path, strategy=("random",))
    at = line.index("--rounds")
    del line[at : at + 2]  # the rule of the dataset: 20 labels in 8 rounds, at most 160 / 18
    at = line.index("--batch-size")
    line[at + 1 : at + 2] = ["8", "16"]
    assert main(line) == 0
    sizes = table(tmp_path).groupby("batch_size")["round"].max()
    assert sizes.to_dict() == {8: 8, 16: 4}
    assert table(tmp_path).groupby("batch_size")["n_labelled"].max().to_dict() == {8: 74, 16: 74}


def test_several_k_are_several_strategies(run, tmp_path):
    assert run(tmp_path, "--n-clusters", "3", "auto", strategy=("real", "random")) == 0
    frame = table(tmp_path)
    assert set(frame["strategy"]) == {"real", "real@n_clusters=3", "random"}
    k = frame.query("round > 0").groupby("strategy")["n_clusters"].first()
    assert k["real@n_clusters=3"] == 3
    assert k["real"] != 3


def test_a_function_of_ones_own(run, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\n"
        "def shortest(learner, X_pool, n_instances=1):\n"
        "    return np.argsort([len(t) for t in learner.texts], kind='stable')[:n_instances]\n"
    )
    out = tmp_path / "out"
    assert run(out, strategy=(f"{file}:shortest",)) == 0
    texts = Workspace(out).dataset("topics").train.texts
    rows = table(out).query("round > 0")
    assert set(rows["strategy"]) == {"mine.py:shortest"}
    assert max(len(texts[i]) for i in rows["picks"].iloc[0]) <= min(
        len(texts[i]) for i in rows["picks"].iloc[-1]
    )


def test_a_changed_strategy_file_is_refused(run, tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text("def first(learner, X_pool, n_instances=1):\n    return range(n_instances)\n")
    assert run(tmp_path / "out", strategy=(f"{file}:first",)) == 0
    file.write_text(file.read_text() + "\n# changed\n")
    assert run(tmp_path / "out", strategy=(f"{file}:first",)) == 2
    assert "strategies.mine.py:first.sha256" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--max-length", "12"], "datasets.topics.protocol.max_length: 16 there, 12 now"),
        (["--warm-up", "11"], "datasets.topics.protocol.warm_up: 10 there, 11 now"),
        (["--rounds", "4"], "datasets.topics.budget: 36 there, 48 now"),
        (["--train-limit", "100"], "datasets.topics.sha256"),
        (["--validation-limit", "5"], "datasets.topics.sha256"),
        (["--training-precision", "bfloat16"], "training_precision: 'float32' there"),
        (["--encoder", "minilm"], "encoder.sha256"),
    ],
)
def test_a_changed_configuration_is_refused_with_the_difference(run, tmp_path, capsys, more, says):
    assert run(tmp_path, strategy=("random",)) == 0
    before = (tmp_path / "config.json").read_bytes()
    capsys.readouterr()
    assert run(tmp_path, *more, strategy=("random",)) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Give another --out directory" in error
    assert (tmp_path / "config.json").read_bytes() == before


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--warm-up", "150"], "has 160 rows to train on, but the warm-up takes 150"),
        (["--batch-size", "8", "16"], "--rounds can't be given with several --batch-size"),
        (["--encoder", "/no/such/folder"], "--encoder: model='/no/such/folder' is no folder"),
        (["--strategy", "reel"], "There is no strategy 'reel'"),
        (["--dataset", "no-such"], "there is no dataset 'no-such'"),
        (["--strategy", "real@n_clusters=many"], "n_clusters is 'many'"),
    ],
)
def test_mistakes_are_said_before_anything_runs(run, tmp_path, capsys, more, says):
    assert run(tmp_path / "out", *more) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("wrong", ["x", "", "4-2", "1,x", "0"])
def test_seeds_that_are_none(run, tmp_path, capsys, wrong):
    with pytest.raises(SystemExit):
        run(tmp_path, seeds=wrong)
    assert "are no seeds" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--n-clusters", "--batch-size", "--jobs", "--warm-up"])
def test_numbers_that_are_none(run, tmp_path, capsys, option):
    for wrong in ("0", "many"):
        with pytest.raises(SystemExit):
            run(tmp_path, option, wrong)
        assert f"argument {option}" in capsys.readouterr().err


def test_seeds_can_be_a_number_a_range_or_a_list():
    from benchmarks.commands.options import seeds

    assert seeds("3") == [0, 1, 2]
    assert seeds("2-4") == [2, 3, 4]
    assert seeds("7,") == [7]
    assert seeds("1,5-6") == [1, 5, 6]


def test_a_dry_run_lists_cells_and_does_nothing(run, tmp_path, capsys):
    assert run(tmp_path / "out", "--dry-run", seeds="2") == 0
    printed = capsys.readouterr().out
    assert printed.count("waiting") == 4 + 1
    assert "4 cells: 4 waiting." in printed
    assert not (tmp_path / "out").exists()


def test_cells_have_folders_of_their_own():
    cells = [
        Cell("d", "frozen", strategy, 5, 3, 0)
        for strategy in ("a:b", "a%3Ab", "a/b", "real@n_clusters=5", "real")
    ]
    paths = {cell.path for cell in cells}
    assert len(paths) == len(cells)
    assert all(path.count("/") == 4 for path in paths)


def test_a_log_gets_a_line_a_cell(run, tmp_path, capsys):
    assert run(tmp_path) == 0
    captured = capsys.readouterr()
    expected = "".join(
        rf"cell {n} of 2 done, about \d\d:\d\d left: topics frozen {name} b=12 seed=0: "
        r"46 labels, accuracy \d+\.\d\d %\n"
        for n, name in enumerate(("real", "random"), start=1)
    )
    assert re.fullmatch(expected, captured.err)
    assert captured.out.splitlines() == [
        f"2 cells: 2 done. Results: {tmp_path / 'results.parquet'}"
    ]
