"""`speed --scale`: pools in files, here and on a cluster."""

import shutil
from collections import namedtuple

import numpy as np
import pytest

pytest.importorskip("skactiveml")
pytest.importorskip("distributed")

from benchmarks.__main__ import main
from benchmarks.memory import PeakWithoutFiles
from benchmarks.speed import large, pools


def test_memory_of_files_is_not_counted(tmp_path):
    np.save(tmp_path / "file.npy", np.ones(50_000_000 // 8))
    with PeakWithoutFiles() as memory:
        np.load(tmp_path / "file.npy", mmap_mode="r").sum()
    assert memory.peak - memory.before < 10e6
    with PeakWithoutFiles() as memory:
        block = np.ones(50_000_000 // 8)
    assert 40e6 < memory.peak - memory.before < 80e6
    del block


def test_large_pools_are_the_generated_vectors(tmp_path, monkeypatch):
    monkeypatch.setattr(pools, "BLOCK_ROWS", 1_500)
    pools.write_large_pool(tmp_path / "pool", 4_000, 8)
    E, P = (np.load(tmp_path / "pool" / f"{name}.npy") for name in ("embeddings", "probabilities"))
    assert E.dtype == np.float16
    assert E.shape == (4_000, 8)
    np.testing.assert_array_equal(E[:1_500], pools.generated_vectors(1_500, 8).astype(np.float16))
    assert len(np.unique(E, axis=0)) > 3_900
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-5)
    assert len(np.unique(P.argmax(axis=1))) == pools.N_CLASSES


@pytest.mark.parametrize("workers", [1, 3])
def test_the_cluster_reads_the_same_rows(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "PARTITION_ROWS", 30)
    array = np.arange(200.0).reshape(100, 2)
    np.save(tmp_path / "a.npy", array)
    spread = large.as_dask(tmp_path / "a.npy", workers)
    assert spread.npartitions >= 4
    np.testing.assert_array_equal(spread.compute(scheduler="sync"), array)


def test_scale_measures_both_ways(capsys, tmp_path):
    command = ["speed", "--scale", "500", "2000", "--columns", "8", "--repeat", "1"]
    assert main([*command, "--threads", "1", "--folder", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    rows = [line.split() for line in printed.splitlines() if " one process " in line]
    assert [row[0] for row in rows] == ["500", "2,000"]
    clusters = [line.split() for line in printed.splitlines() if " cluster " in line]
    assert [row[-1] for row in clusters if row[0] in ("500", "2,000")] == ["yes", "yes"]
    assert "500 to 2,000 rows: " in printed
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_said(capsys, monkeypatch):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10_000_000))
    assert main(["speed", "--scale", "100000000"]) == 0
    assert "100,000,000  skipped: needs 78.4 GB of disk, there are 0.0" in capsys.readouterr().out


def test_targets_are_judged(capsys):
    def measured(seconds, gigabytes):
        return large.Measurement(seconds, seconds, int(gigabytes * 1e9), 0, [])

    large.print_slopes({100_000: measured(1.0, 0.2), 1_000_000: measured(10.0, 1.4)})
    printed = capsys.readouterr().out
    assert "10.0 times the time, slope 1.00" in printed
    assert printed.count("reached") == 2
    large.print_slopes({100_000: measured(1.0, 0.2), 1_000_000: measured(13.0, 1.6)})
    assert capsys.readouterr().out.count("MISSED") == 2
