"""Random keys that depend on the seed and the row alone.

A draw "by key" takes the rows with the smallest keys. Whoever holds a part of the pool
can compute the keys of that part, so a pool in one array, in chunks or spread over
machines gives the same draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
#: Rows whose keys are held at a time when the smallest are looked for.
_BLOCK = 2**16


def instance_keys(seed: int, rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Key of every row: different for different rows, uniform on 64 bits.

    SplitMix64 [1]_, entered at position `row` of the stream that belongs to `seed`.
    Its mixing step is a bijection, so two rows never share a key.

    References
    ----------
    .. [1] G. L. Steele, D. Lea, C. H. Flood. Fast splittable pseudorandom number
       generators. OOPSLA 2014.
    """
    stream = _mix(np.array([seed], dtype=np.uint64) + _GOLDEN)
    return _mix((rows.astype(np.uint64) + np.uint64(1)) * _GOLDEN + stream)


def rows_by_key(seed: int, n_rows: int, count: int) -> NDArray[np.int64]:
    """The `count` rows with the smallest keys of a pool of `n_rows`, in the order of keys."""
    rows = np.empty(0, dtype=np.int64)
    keys = np.empty(0, dtype=np.uint64)
    for start in range(0, n_rows, _BLOCK):
        block = np.arange(start, min(start + _BLOCK, n_rows))
        block_keys = instance_keys(seed, block)
        if len(rows) == count:
            smaller = block_keys < keys.max()
            block, block_keys = block[smaller], block_keys[smaller]
        rows, keys = np.concatenate([rows, block]), np.concatenate([keys, block_keys])
        if len(rows) > count:
            smallest = np.argpartition(keys, count - 1)[:count]
            rows, keys = rows[smallest], keys[smallest]
    return rows[np.argsort(keys)]


def uniforms(seed: int, rows: NDArray[Any]) -> NDArray[np.float64]:
    """The keys as numbers between 0 and 1, neither of which they are."""
    return ((instance_keys(seed, rows) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))
