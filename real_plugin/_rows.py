"""Rows of numbers, wherever they are: read block by block, or a few of them by number.

An array in memory, a memory-mapped file, a Zarr array and a list of chunks all become
`Rows`. Nothing holds more than a block of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from real_plugin._validation import check_matrix, numeric_array

#: Rows that are read, converted and assigned at a time.
CHUNK_ROWS = 16_384


class Block(NamedTuple):
    """Some rows, and where they are."""

    start: int  #: number of the first row
    values: NDArray[Any]
    name: str  #: of what a user can look up: "embeddings", "chunk 3 of embeddings"
    first: int  #: number of the first row within that

    def split(self, count: int) -> Iterator[Block]:
        """`count` blocks of about the same size, or fewer."""
        step = max(1, -(-len(self.values) // count))
        for at in range(0, len(self.values), step):
            values = self.values[at : at + step]
            yield Block(self.start + at, values, self.name, self.first + at)


class Rows(Protocol):
    """An (n, d) matrix that need not be in memory."""

    name: str
    n_rows: int | None  #: None as long as nobody has read to the end

    def blocks(self) -> Iterator[Block]:
        """All rows in their order, at most `CHUNK_ROWS` at a time."""

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """The rows with these numbers, in the given order."""


class ArrayRows:
    """Rows of anything with a shape, a dtype and slices: ndarray, memmap, Zarr, HDF5."""

    def __init__(self, name: str, values: Any) -> None:
        self.name = name
        self.values = values
        self.n_rows: int | None = values.shape[0]

    def blocks(self) -> Iterator[Block]:
        for start in range(0, self.values.shape[0], CHUNK_ROWS):
            values = np.asarray(self.values[start : start + CHUNK_ROWS])
            yield Block(start, values, self.name, start)

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        if not isinstance(self.values, np.ndarray):
            return _gather(self, rows)
        if not isinstance(self.values, np.memmap):
            return np.asarray(self.values[rows])
        order = np.argsort(rows)  # a disk reads forwards
        taken = np.empty((len(rows), self.values.shape[1]), dtype=self.values.dtype)
        for start in range(0, len(order), CHUNK_ROWS):
            some = order[start : start + CHUNK_ROWS]
            taken[some] = self.values[rows[some]]
        return taken


class ChunkRows:
    """Rows that come in chunks, each time anew from `open_chunks`."""

    def __init__(self, name: str, open_chunks: Callable[[], Iterable[Any]]) -> None:
        self.name = name
        self.n_rows: int | None = None
        self._open = open_chunks

    def blocks(self) -> Iterator[Block]:
        start, alike = 0, Alike(self.name)
        for number, chunk in enumerate(self._open()):
            name = f"chunk {number} of {self.name}"
            values = numeric_array(name, chunk)
            if len(values) == 0:
                continue
            alike.check(name, check_matrix(name, values))
            for first in range(0, len(values), CHUNK_ROWS):
                block = values[first : first + CHUNK_ROWS]
                yield Block(start + first, block, name, first)
            start += len(values)
        if self.n_rows not in (None, start):
            raise ValueError(
                f"{self.name} gave {self.n_rows} rows at first and {start} rows when they were "
                "read again; pass chunks that are the same every time, such as a list, or a "
                "function that returns a new iterator."
            )
        self.n_rows = start

    def take(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        return _gather(self, rows)


class Alike:
    """Raises at the first piece that has another width or dtype than the one before."""

    def __init__(self, whole: str) -> None:
        self.whole = whole
        self._first: tuple[str, int, np.dtype[Any]] | None = None

    def check(self, name: str, values: NDArray[Any]) -> None:
        self.compare(name, values.shape[1], values.dtype)

    def compare(self, name: str, width: int, dtype: np.dtype[Any]) -> None:
        if self._first is None:
            self._first = name, width, dtype
        first, first_width, first_dtype = self._first
        if width != first_width:
            raise ValueError(
                f"{name} has {width} column(s), but {first} has {first_width}; every row of "
                f"{self.whole} must have the same number of columns."
            )
        if dtype != first_dtype:
            raise ValueError(
                f"{name} has dtype {dtype}, but {first} has {first_dtype}; convert it "
                f"(.astype({str(first_dtype)!r})), or all of {self.whole} to one dtype."
            )


def _gather(source: Rows, rows: NDArray[np.int64]) -> NDArray[Any]:
    """`take` for rows that can only be read in their order."""
    order = np.argsort(rows)
    ordered = rows[order]
    taken: NDArray[Any] | None = None
    for block in source.blocks():
        if taken is None:
            taken = np.empty((len(rows), block.values.shape[1]), dtype=block.values.dtype)
        end = block.start + len(block.values)
        low, high = np.searchsorted(ordered, [block.start, end])
        taken[order[low:high]] = block.values[ordered[low:high] - block.start]
    return np.empty((0, 0)) if taken is None else taken


def as_rows(name: str, values: Any) -> Rows:
    """What `select` takes, as rows; arrays are neither copied nor read."""
    if isinstance(values, str | PathLike):
        raise TypeError(
            f"{name} is a path, {str(values)!r}; open it first: np.load(path, mmap_mode='r') for "
            "a .npy file, real_plugin.pools.parquet_column(path, column) for Parquet."
        )
    if sparse.issparse(values):
        return _as_array_rows(name, numeric_array(name, values))
    if isinstance(getattr(values, "dtype", None), np.dtype) and hasattr(values, "shape"):
        return _as_array_rows(name, values)
    if isinstance(values, list | tuple):
        if values and all(getattr(chunk, "ndim", 0) == 2 for chunk in values):
            return ChunkRows(name, lambda: values)
    elif callable(values) and not hasattr(values, "__array__"):
        return ChunkRows(name, values)
    elif isinstance(values, Iterator):
        raise TypeError(
            f"{name} is a {type(values).__name__}, which can be read only once, and the pool is "
            "read several times; pass a list of chunks, or a function that returns a new "
            "iterator."
        )
    elif isinstance(values, Iterable) and not hasattr(values, "__array__"):
        return ChunkRows(name, lambda: values)
    return _as_array_rows(name, numeric_array(name, values))


def _as_array_rows(name: str, values: Any) -> ArrayRows:
    if values.dtype == object:
        values = numeric_array(name, values)
    return ArrayRows(name, check_matrix(name, values))
