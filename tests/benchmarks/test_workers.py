"""Cells run in several processes and on a Dask cluster, with the same results."""

import os
import signal

import distributed
import pandas as pd
import pytest

from benchmarks.errors import UsageError
from benchmarks.harness.cell_run import Job
from benchmarks.harness.workers import connect, local_cluster
from tests.benchmarks.runs import comparable, rounds, wait_for

DEADLY = """\
import os, signal
def deadly(learner, X_pool, n_instances=1):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def cluster():
    """A cluster of two processes on this machine, as someone may have started it."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, silence_logs="CRITICAL", **options) as cluster:
        yield cluster


def test_jobs_give_the_same_results(run, start, command, tmp_path):
    strategies = ("real", "random", "badge")
    assert run(tmp_path / "one", strategy=strategies, seeds="2") == 0
    process = start(command(tmp_path / "two", strategy=strategies, seeds="2", jobs="2"))
    printed = process.communicate(timeout=300)[0]
    assert process.returncode == 0, printed
    pd.testing.assert_frame_equal(comparable(tmp_path / "one"), comparable(tmp_path / "two"))


def test_jobs_keep_the_memory_that_they_will_need_again(monkeypatch):
    """Dask's setting for its workers makes training spend half of its time on page faults."""
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    with local_cluster(1) as client:
        assert list(client.run(os.getenv, "MALLOC_TRIM_THRESHOLD_").values()) == [None]


def test_a_worker_that_dies_is_replaced(cluster, run, start, command, tmp_path):
    """Kill a worker while it works: another goes on from the last round, to the same end."""
    line = command(tmp_path / "killed", track="finetune", seeds="2")
    process = start([*line, "--scheduler", cluster.scheduler_address])
    wait_for(tmp_path / "killed", process, number="001")
    with distributed.Client(cluster) as client:
        before = {file: file.stat().st_mtime_ns for file in rounds(tmp_path / "killed")}
        busy = [worker for worker, tasks in client.processing().items() if tasks]
        pids = client.run(os.getpid, workers=busy)
        os.kill(pids[busy[0]], signal.SIGKILL)
    printed = process.communicate(timeout=300)[0]
    assert process.returncode == 0, printed
    assert "4 cells: 4 done." in printed
    assert all(file.stat().st_mtime_ns == time for file, time in before.items())  # not redone
    assert run(tmp_path / "whole", "--threads", "1", track="finetune", seeds="2") == 0
    pd.testing.assert_frame_equal(comparable(tmp_path / "killed"), comparable(tmp_path / "whole"))


def test_a_cell_that_kills_its_workers_fails_alone(start, command, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(DEADLY)
    line = command(tmp_path / "out", strategy=(f"{file}:deadly", "random"), seeds="2", jobs="2")
    process = start(line)
    printed = process.communicate(timeout=300)[0]
    assert process.returncode == 1, printed
    assert "4 cells: 2 done, 2 failed." in printed
    assert "The processes that ran this cell died" in printed
    rows = comparable(tmp_path / "out").groupby("strategy").size()
    assert rows.to_dict() == {"mine.py:deadly": 2, "random": 8}


def test_a_scheduler_that_is_not_there(run, tmp_path, capsys):
    assert run(tmp_path / "out", "--scheduler", "tcp://127.0.0.1:9") == 2
    assert "--scheduler tcp://127.0.0.1:9 can't be reached" in capsys.readouterr().err


def test_workers_that_see_no_directory_are_named(cluster, tmp_path):
    job = Job(tmp_path / "elsewhere", tmp_path, threads=1)
    with (
        pytest.raises(UsageError, match=r"it doesn't see .*elsewhere") as error,
        connect(cluster.scheduler_address, job),
    ):
        pass
    assert str(error.value).count("tcp://") == 2


def test_a_cluster_without_workers(tmp_path):
    options = {"n_workers": 0, "processes": True, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(silence_logs="CRITICAL", **options) as empty,
        pytest.raises(UsageError, match="has no workers"),
        connect(empty.scheduler_address, Job(tmp_path, tmp_path, threads=1)),
    ):
        pass
