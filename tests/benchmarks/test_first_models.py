"""A seed's first model is trained once, and is there as long as a cell needs it."""

import pandas as pd
import pytest

from benchmarks.harness import first_models
from benchmarks.harness.cells import Cell, State
from benchmarks.harness.progress import Progress
from benchmarks.harness.workspace import Workspace
from tests.benchmarks.runs import comparable


def test_strategies_share_the_first_training_and_nothing_else(run, tmp_path):
    for names in (("real", "random", "bald"), ("random",), ("bald",)):
        out = tmp_path / "-".join(names)
        assert run(out, track="finetune", strategy=names, seeds="2") == 0
        assert not list(out.rglob("weights"))  # nobody needs it any more
    together = pd.read_parquet(tmp_path / "real-random-bald/results.parquet")
    first = together.query("round == 0").groupby("seed")["training_seconds"]
    assert (first.nunique() == 1).all()
    for name in ("random", "bald"):
        rows = comparable(tmp_path / "real-random-bald").query("strategy == @name")
        alone = comparable(tmp_path / name)
        pd.testing.assert_frame_equal(rows.reset_index(drop=True), alone)


def test_the_first_training_is_kept_while_cells_are_missing(run, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def f(learner, X_pool, n_instances=1):\n    raise RuntimeError\n")
    assert run(tmp_path / "out", track="finetune", strategy=("random", f"{file}:f")) == 1
    assert len(list((tmp_path / "out").rglob("weights"))) == 1


def test_the_first_training_of_a_seed_goes_with_its_last_cell(run, tmp_path, monkeypatch):
    kept = {}

    class Watched(Progress):
        def round_done(self, cell, record):
            seeds = (folder.parent.name for folder in tmp_path.rglob("warm-ups/*/*/*/weights"))
            kept[cell.seed, cell.strategy, record["round"]] = sorted(seeds)
            super().round_done(cell, record)

    monkeypatch.setattr("benchmarks.harness.run.Progress", Watched)
    assert run(tmp_path, track="finetune", strategy=("random", "margin"), seeds="2") == 0
    assert kept[0, "margin", 3] == ["seed-0"]
    assert kept[1, "random", 0] == ["seed-1"]


def test_another_run_does_not_remove_it_while_it_is_read(tmp_path):
    workspace, cell = Workspace(tmp_path), Cell("d", "finetune", "random", 10, 2, seed=0)
    folder = workspace.first_model(cell)

    class Model:
        content = "trained"

        def save(self, folder):
            folder.write_text(self.content)

        def load(self, folder):
            end_of_another_run()
            self.content = folder.read_text()

    def end_of_another_run():
        first_models.remove_unneeded(workspace, {cell: State("done", 3)})

    assert first_models.share(folder, Model(), lambda: {"round": 0}) == {"round": 0}
    model = Model()
    model.content = "new"
    assert first_models.share(folder, model, pytest.fail) == {"round": 0}
    assert model.content == "trained"
    end_of_another_run()
    assert not folder.exists()
