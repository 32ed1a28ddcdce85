"""Threads over blocks: the libraries' limits come back, and nobody waits for ever."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from real_plugin import select
from real_plugin._rows import Block
from real_plugin._threads import block_threads, one_thread
from tests.test_chunks import pool_of


def limits():
    return [library["num_threads"] for library in threadpool_info()]


@pytest.fixture(autouse=True)
def _two_threads():
    with threadpool_limits(2):
        yield


def test_blocks_get_the_threads_of_the_libraries():
    before = limits()
    with block_threads() as (count, run):
        assert count == 2
        assert set(limits()) == {1}
        assert list(run(abs, [-1, 2, -3])) == [1, 2, 3]
        with block_threads() as (inner, inner_run):  # another thread has them all
            assert (inner, inner_run) == (1, map)
    assert limits() == before


def test_a_limit_of_one_is_kept():
    with threadpool_limits(1), block_threads() as (count, run):
        assert (count, run) == (1, map)


def test_limits_come_back_after_an_error():
    before = limits()
    for context in (block_threads, one_thread):
        with pytest.raises(ZeroDivisionError), context():
            raise ZeroDivisionError
    assert limits() == before
    with block_threads() as (count, _):
        assert count == 2


def test_selections_side_by_side():
    """In threads of one process, as in a server: the same picks, and no limit is left."""
    P, E = pool_of(40_000, dtype=np.float32)
    before = limits()
    expected = select(P, E, 50, random_state=0).indices.tolist()
    with ThreadPoolExecutor(6) as executor:
        several = [executor.submit(select, P, E, 50, random_state=0) for _ in range(12)]
        assert all(one.result().indices.tolist() == expected for one in several)
    assert limits() == before


def test_errors_of_threads_come_back():
    P, E = pool_of(40_000)
    E[33_333, 3] = np.nan
    with pytest.raises(ValueError, match="embeddings has NaN in row 33333"):
        select(P, E, 5, n_clusters=3, random_state=0)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 50])
def test_a_block_is_split_into_all_its_rows(count):
    block = Block(100, np.arange(24).reshape(12, 2), "embeddings", 7)
    pieces = list(block.split(count))
    assert len(pieces) <= count
    np.testing.assert_array_equal(np.concatenate([p.values for p in pieces]), block.values)
    for piece in pieces:
        offset = int(piece.values[0, 0]) // 2
        assert (piece.start, piece.first) == (100 + offset, 7 + offset)
