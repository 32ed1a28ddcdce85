"""The same selection on a Dask cluster: any partitioning, any worker, one of them killed."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import pandas as pd

from real_plugin import select
from real_plugin.distributed import select_partitions
from real_plugin.distributed.selection import Recipe, partitions
from tests.pools import pools
from tests.test_chunks import (
    assert_same,
    cut,
    cuts,
    pool_of,
    residuals,
    seeds,
    shortfalls,
    variants,
)

lists = {"dataframe.convert-string": False}  # or Dask makes texts of lists


@pytest.fixture(scope="module")
def cluster():
    """Two processes on this machine."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(processes=True, silence_logs="CRITICAL", **options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def in_chunks(array, where, unknown=False):
    """A Dask array with chunks that begin at `where`; some of them may be empty."""
    parts = [
        da.from_delayed(
            dask.delayed(piece),
            (np.nan if unknown else len(piece), array.shape[1]),
            dtype=array.dtype,
        )
        for piece in cut(array, where)
    ]
    return da.concatenate(parts, allow_unknown_chunksizes=True)


@settings(max_examples=60)
@given(pools(), variants, residuals, shortfalls, seeds, cuts, st.booleans())
def test_any_partitioning_gives_the_same_selection(
    pool, variant, residual, shortfall, seed, where, unknown
):
    P, E, batch, K = pool
    options = {"variant": variant, "residual": residual, "shortfall": shortfall}
    options |= {"n_clusters": K, "random_state": seed}
    spread = select_partitions(
        in_chunks(P, where, unknown), in_chunks(E, where, unknown), batch, **options
    )
    assert_same(spread, select(P, E, batch, **options))


@settings(max_examples=20)
@given(pools(), cuts, cuts, st.booleans())
def test_different_chunks_of_the_two_arrays(pool, cuts_P, cuts_E, unknown):
    P, E, batch, K = pool
    if unknown and len(cuts_P) == len(cuts_E):
        cuts_P = [*cuts_P, 3]  # or nobody can know that they differ
    spread = select_partitions(
        in_chunks(P, cuts_P, unknown), in_chunks(E, cuts_E), batch, n_clusters=K, random_state=0
    )
    assert_same(spread, select(P, E, batch, n_clusters=K, random_state=0))


def frame_of(P, E):
    columns = {f"p{j}": P[:, j] for j in range(P.shape[1])}
    return pd.DataFrame({**columns, "embedding": list(E)})


def test_data_frames():
    P, E = pool_of(300, dtype=np.float32)
    frame = frame_of(P, E)
    expected = select(P, E, 30, random_state=0)
    with dask.config.set(lists):
        ddf = dd.from_pandas(frame, npartitions=5)
        both = dd.from_pandas(frame.assign(probabilities=list(P), id=range(300)), npartitions=5)
    assert_same(select_partitions(ddf, "embedding", 30, random_state=0), expected)
    assert_same(select_partitions(both, "embedding", 30, random_state=0), expected)
    names = [f"p{j}" for j in range(4)]
    spread = select_partitions(ddf[names], ddf["embedding"], 30, random_state=0)
    assert_same(spread, expected)
    empty = ddf[ddf["p0"] < 0]
    assert_same(
        select_partitions(dd.concat([empty, ddf, empty]), "embedding", 30, random_state=0),
        expected,
    )


def test_parquet_files(tmp_path):
    P, E = pool_of(300, dtype=np.float32)
    frame_of(P, E).to_parquet(tmp_path / "all.parquet", row_group_size=100)
    ddf = dd.read_parquet(tmp_path / "all.parquet", split_row_groups=True)
    assert ddf.npartitions == 3
    expected = select(P, E, 30, random_state=0)
    assert_same(select_partitions(ddf, "embedding", 30, random_state=0), expected)


@pytest.mark.parametrize("constant", [False, True])
def test_processes_give_the_same_selection(client, constant):
    P, E = pool_of(5_000, dtype=np.float32)
    if constant:
        P[:] = 0.25
    spread = select_partitions(
        in_chunks(P, [100, 100, 2_000]), in_chunks(E, [100, 100, 2_000]), 80, random_state=3
    )
    expected = select(P, E, 80, random_state=3)
    assert_same(spread, expected)
    assert isinstance(spread.assignment, da.Array)
    pick = int(spread.indices[0])
    other = int(np.setdiff1d(np.arange(5_000), spread.indices)[0])
    for row in (pick, other):
        assert spread.explain(row) == expected.explain(row)
    pd.testing.assert_frame_equal(spread.to_frame(), expected.to_frame())
    assert repr(spread) == repr(expected)


def test_persisted_collections_are_used_where_they_are(client):
    P, E = pool_of(2_000, dtype=np.float32)
    kept = client.persist([in_chunks(P, [700]), in_chunks(E, [700])])
    distributed.wait(kept)
    assert not any(isinstance(piece, Recipe) for piece in partitions(kept[1]))
    assert_same(select_partitions(*kept, 40, random_state=0), select(P, E, 40, random_state=0))


def test_files_are_read_in_the_task_that_needs_them():
    _, E = pool_of(100)
    assert all(isinstance(piece, Recipe) for piece in partitions(in_chunks(E, [30, 60])))
    mixed = da.from_array(E, chunks=(10, 24)).rechunk((50, 24))
    assert not any(isinstance(piece, Recipe) for piece in partitions(mixed))


def _slowly(block, seconds, marker):
    marker.touch()
    time.sleep(seconds)
    return block


def test_a_worker_that_is_killed_changes_nothing(client, cluster, tmp_path):
    """It dies while it reads embeddings, with the clusters of its rows in its memory."""
    P, E = pool_of(3_000, dtype=np.float32)
    slow = dask.delayed(_slowly)
    pieces = cut(E, range(300, 3_000, 300))
    markers = [tmp_path / str(number) for number in range(len(pieces))]
    lazy = [
        da.from_delayed(slow(piece, 0.3, marker), piece.shape, dtype=E.dtype)
        for piece, marker in zip(pieces, markers, strict=True)
    ]
    pids = client.run(os.getpid)

    def kill_when_the_second_pass_has_begun():
        while not all(marker.exists() for marker in markers):
            time.sleep(0.01)
        for marker in markers:
            marker.unlink()
        while sum(marker.exists() for marker in markers) < 4:
            time.sleep(0.01)
        os.kill(next(iter(pids.values())), signal.SIGKILL)

    killer = threading.Thread(target=kill_when_the_second_pass_has_begun)
    killer.start()
    spread = select_partitions(
        da.from_array(P, chunks=(300, 4)), da.concatenate(lazy), 60, random_state=0
    )
    killer.join()
    assert set(pids.values()) != set(client.run(os.getpid).values())
    assert_same(spread, select(P, E, 60, random_state=0))


# What can't be used

P, E = pool_of(60)


def parts(array, *changed):
    """Three partitions, of which the second may be changed, as Dask doesn't know."""
    pieces = [array[:20], changed[0] if changed else array[20:40], array[40:]]
    return da.concatenate(
        [
            da.from_delayed(dask.delayed(piece), (20, array.shape[1]), dtype=array.dtype)
            for piece in pieces
        ]
    )


def with_value(piece, value):
    piece = piece.copy()
    piece[3, 1] = value
    return piece


def series(*pieces):
    with dask.config.set(lists):
        return dd.from_delayed(
            [dask.delayed(pd.Series)(list(piece), dtype=object) for piece in pieces],
            meta=pd.Series([], dtype=object),
        )


BAD = [
    (parts(P), parts(E, E[20:40, :5]), ValueError, "partition 1 of embeddings has 5 column.*partition 0 .*24"),
    (parts(P), parts(E, E[20:40].astype("f4")), ValueError, "partition 1 of embeddings has dtype float32.*float64"),
    (parts(P), parts(E, with_value(E[20:40], np.nan)), ValueError, "partition 1 of embeddings has NaN in row 3"),
    (parts(P), parts(E, with_value(E[20:40], np.inf)), ValueError, "partition 1 of embeddings has values up to inf in row 3"),
    (parts(P), parts(E, E[20:39]), ValueError, "partition 1 of embeddings has 19 rows.*20 rows of probabilities"),
    (parts(P), parts(E, np.full((20, 24), "a")), TypeError, "partition 1 of embeddings has dtype <U1"),
    (parts(P, np.full((20, 2), 0.5)), parts(E), ValueError, "partition 1 of probabilities has 2 column.*has 4"),
    (parts(P, P[20:40].astype("f4")), parts(E), ValueError, "partition 1 of probabilities has dtype float32"),
    (parts(P, with_value(P[20:40], np.nan)), parts(E), ValueError, "partition 1 of probabilities has NaN.*row 3"),
    (parts(P, 2 * P[20:40]), parts(E), ValueError, "partition 1 of probabilities: row 0 sums to 2"),
    (parts(P), series(E[:20], [*E[20:39], E[0, :5]], E[40:]), ValueError, "partition 1 of embeddings has a vector of 5 numbers in row 19"),
    (parts(P), series(E[:20], [*E[20:39], None], E[40:]), ValueError, "partition 1 of embeddings has a vector of 0 numbers in row 19"),
    (parts(P), series(["[1 2]"] * 20, E[20:40], E[40:]), TypeError, "partition 0 of embeddings holds texts.*convert-string"),
    (parts(P), series(E[:20], E[20:]), ValueError, "probabilities has 3 partitions and embeddings 2"),
    (P, parts(E), TypeError, "probabilities is a ndarray; pass a Dask array.*real_plugin.select"),
    (parts(P), "embedding", TypeError, "embeddings is the column 'embedding', but probabilities is a Array"),
    (parts(P)[:0], parts(E)[:0], ValueError, "no rows"),
]  # fmt: skip


@pytest.mark.parametrize(("probabilities", "embeddings", "error", "message"), BAD)
def test_bad_partitions_are_named(probabilities, embeddings, error, message):
    with pytest.raises(error, match=message):
        select_partitions(probabilities, embeddings, 5, n_clusters=3, random_state=0)


def test_errors_of_workers_come_back(client):
    with pytest.raises(ValueError, match="partition 1 of embeddings has NaN in row 3"):
        select_partitions(
            parts(P), parts(E, with_value(E[20:40], np.nan)), 5, n_clusters=3, random_state=0
        )


def test_a_column_that_is_not_there():
    ddf = dd.from_pandas(pd.DataFrame({"a": [0.5], "b": [0.5]}), npartitions=1)
    with pytest.raises(ValueError, match="embeddings is 'vector', but the columns are a, b"):
        select_partitions(ddf, "vector", 1)


def test_options_are_checked_first():
    with pytest.raises(ValueError, match="variant is 'reel'"):
        select_partitions(parts(P), parts(E), 5, variant="reel")
    with pytest.raises(ValueError, match=r"n_instances is 61.*only 60 rows"):
        select_partitions(parts(P), parts(E), 61)
