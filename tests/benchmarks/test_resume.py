"""Whatever kills a run, the same command goes on from the last finished round."""

import errno
import itertools
import os
import resource
import shutil
import signal
import time
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.__main__ import main
from benchmarks.harness import files, workers
from benchmarks.harness.cells import Cell, CellFolder
from benchmarks.harness.workspace import Workspace
from tests.benchmarks.runs import comparable, rounds, wait_for


@pytest.mark.parametrize("track", ["frozen", "finetune"])
def test_a_killed_run_goes_on_and_ends_the_same(start, command, run, tmp_path, track):
    strategies = ("real", "bald")
    process = start(command(tmp_path / "killed", strategy=strategies, track=track))
    wait_for(tmp_path / "killed", process, number="001")
    process.kill()
    process.communicate()
    finished = len(rounds(tmp_path / "killed"))
    assert 2 <= finished < 8
    assert run(tmp_path / "killed", strategy=strategies, track=track) == 0
    assert run(tmp_path / "whole", strategy=strategies, track=track) == 0
    pd.testing.assert_frame_equal(comparable(tmp_path / "killed"), comparable(tmp_path / "whole"))


class Killed(BaseException):
    """Stands for kill -9: nothing may catch it."""


class Changes:
    """Counts the changes that keep a round, and dies before or after one of them."""

    def __init__(self, monkeypatch, die_at=None, when=None):
        self.count, self.die_at, self.when = 0, die_at, when
        monkeypatch.setattr(Path, "replace", self.watched(Path.replace))
        monkeypatch.setattr(shutil, "rmtree", self.watched(shutil.rmtree))

    def watched(self, change):
        def wrapper(path, *args, **kwargs):
            if "/seed-" not in str(path):
                return change(path, *args, **kwargs)
            self.count += 1
            is_due = self.count - 1 == self.die_at
            if is_due and self.when == "before":
                raise Killed
            result = change(path, *args, **kwargs)
            if is_due:
                raise Killed
            return result

        return wrapper


def test_it_may_die_at_any_step_of_keeping_a_round(run, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        changes = Changes(patch)
        assert run(tmp_path / "whole", strategy=("real",)) == 0
    assert changes.count > 8
    for step, when in itertools.product(range(changes.count), ("before", "after")):
        out = tmp_path / f"{when}-{step}"
        with monkeypatch.context() as patch:
            Changes(patch, step, when)
            with pytest.raises(Killed):
                run(out, strategy=("real",))
        assert run(out, strategy=("real",)) == 0
        pd.testing.assert_frame_equal(comparable(out), comparable(tmp_path / "whole"))


def test_two_processes_share_the_work(start, command, tmp_path):
    line = command(tmp_path / "out", strategy=("real", "random", "badge"), seeds="4")
    processes = [start(line) for _ in range(2)]
    printed = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], printed
    assert all("12 cells: 12 done." in text for text in printed)
    # A round that was done twice would have been written twice.
    assert len(comparable(tmp_path / "out")) == 12 * 4


def test_a_cell_that_is_claimed_is_left_alone(run, tmp_path):
    cell = Cell("topics", "frozen", "random", 12, 3, 0)
    folder = CellFolder(tmp_path / "cell", cell)
    with folder.claim() as mine:
        assert mine
        with folder.claim() as again:
            assert not again
        assert folder.state().name == "running"
    assert folder.state().name == "waiting"


def test_a_cell_of_another_process_is_waited_for(start, command, tmp_path):
    out = tmp_path / "out"
    holder = Workspace(out.resolve()).cell(Cell("topics", "frozen", "random", 12, 3, 0))
    with holder.claim():
        process = start(command(out, strategy=("random", "margin")))
        wait_for(out, process, strategy="margin", number="003")
        time.sleep(2 * workers.PATIENCE)
        assert process.poll() is None
        assert not rounds(out, strategy="random")
    assert "2 cells: 2 done." in process.communicate(timeout=300)[0]


def test_a_failing_cell_is_recorded_and_stops_no_other(run, tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(
        "from pathlib import Path\n"
        "def picky(learner, X_pool, n_instances=1):\n"
        "    if len(X_pool) < 140 and not Path(__file__).with_name('mended').exists():\n"
        "        raise RuntimeError('no <more>')\n"
        "    return range(n_instances)\n"
    )
    out = tmp_path / "out"
    strategies = (f"{file}:picky", "random")
    assert run(out, strategy=strategies) == 1
    printed = capsys.readouterr().out
    assert "failed: topics frozen mine.py:picky b=12 seed=0: " in printed
    assert "RuntimeError: no <more>" in printed
    assert "2 cells: 1 done, 1 failed." in printed
    frame = comparable(out)
    assert frame.groupby("strategy").size().to_dict() == {"mine.py:picky": 2, "random": 4}
    assert run(out, "--dry-run", strategy=strategies) == 0
    assert "failed  2 of 4 rounds" in capsys.readouterr().out
    (tmp_path / "mended").touch()  # and the same command tries again, from where it was
    assert run(out, strategy=strategies) == 0
    assert comparable(out).groupby("strategy").size()["mine.py:picky"] == 4


def test_an_interrupted_run_says_how_to_go_on(start, command, run, tmp_path):
    too_many = "100"  # to be done before the signal comes
    process = start(command(tmp_path / "out", track="finetune", seeds=too_many))
    wait_for(tmp_path / "out", process, number="001")
    process.send_signal(signal.SIGINT)
    printed = process.communicate(timeout=300)[0]
    assert process.returncode == 130, printed
    assert "Interrupted. The same command goes on" in printed
    assert run(tmp_path / "out", track="finetune") == 0


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))


def test_a_disk_that_takes_no_more(start, command, run, tmp_path):
    """The weights of a fine-tuned model don't fit: an error, and all that did fit is whole."""
    out = tmp_path / "out"
    assert run(out, strategy=("random",)) == 0
    before = comparable(out)
    line = command(out, strategy=("random", "real"), track="finetune")
    process = start(line, preexec_fn=limit_file_size)
    printed = process.communicate(timeout=300)[0]
    assert process.returncode == 2, printed
    error = printed.splitlines()[-1]
    assert error.startswith("error: ")
    assert "can't be written" in error
    assert "What was finished before is intact" in error
    pd.testing.assert_frame_equal(comparable(out), before)
    assert not list(out.rglob("error.json"))  # no cell is to blame
    assert run(out, strategy=("random", "real"), track="finetune") == 0


def test_files_are_whole_or_as_before(tmp_path):
    file = tmp_path / "some.json"
    files.write_json(file, {"a": 1})

    def full(temporary):
        temporary.write_text("half of")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(files.StorageError, match="No space left on device"):
        files.write_file(file, full)
    assert files.read_json(file) == {"a": 1}
    assert [f.name for f in tmp_path.iterdir()] == ["some.json"]


def test_the_table_is_enough_to_go_on(run, tmp_path):
    """What a repository keeps of a run: no cells, no texts, no paths of the machine."""
    out = tmp_path / "out"
    assert run(out, strategy=("real", "random", "full"), seeds="2") == 0
    before = pd.read_parquet(out / "results.parquet")
    for rest in ("cells", "maps"):
        shutil.rmtree(out / rest)
    (out / "datasets/topics.parquet").unlink()
    (out / "locations.json").unlink()

    assert main(["report", str(out)]) == 0
    pd.testing.assert_frame_equal(pd.read_parquet(out / "results.parquet"), before)
    assert "There is no map" in (out / "report.html").read_text(encoding="utf-8")

    assert run(out, strategy=("real", "random", "margin", "full"), seeds="2") == 0
    after = pd.read_parquet(out / "results.parquet")
    old = after[after["strategy"] != "margin"].reset_index(drop=True)
    pd.testing.assert_frame_equal(old, before)  # measured times included: nothing was redone
    assert len(after) == len(before) + 2 * 4


def test_unfinished_cells_of_a_table_are_run_anew(run, tmp_path):
    assert run(tmp_path / "out") == 0
    assert run(tmp_path / "whole") == 0
    frame = pd.read_parquet(tmp_path / "out/results.parquet")
    is_last = (frame["strategy"] == "real") & (frame["round"] == 3)
    frame[~is_last].to_parquet(tmp_path / "out/results.parquet")
    shutil.rmtree(tmp_path / "out/cells")
    assert run(tmp_path / "out") == 0
    pd.testing.assert_frame_equal(comparable(tmp_path / "out"), comparable(tmp_path / "whole"))
