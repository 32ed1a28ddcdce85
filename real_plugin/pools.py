"""Pools in files: what `select` can read a block at a time.

A `.npy` file needs nothing from here, ``np.load(path, mmap_mode="r")`` will do, and neither
does a Zarr array.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from real_plugin._rows import CHUNK_ROWS


class ParquetColumn:
    """Vectors in Parquet files, as chunks: each iteration reads the files anew.

    See `parquet_column`.
    """

    def __init__(self, files: Sequence[Path], columns: Sequence[str]) -> None:
        self.files = list(files)
        self.columns = list(columns)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        parquet = _import_parquet()
        for file in self.files:
            with parquet.ParquetFile(file) as opened:
                missing = set(self.columns) - set(opened.schema_arrow.names)
                if missing:
                    raise ValueError(
                        f"{file} has no column {sorted(missing)[0]!r}; it has "
                        f"{', '.join(opened.schema_arrow.names)}."
                    )
                first = 0
                for batch in opened.iter_batches(CHUNK_ROWS, columns=self.columns):
                    yield vectors_of(str(file), first, batch.select(self.columns))
                    first += len(batch)

    def __repr__(self) -> str:
        return f"ParquetColumn({len(self.files)} file(s), {', '.join(self.columns)})"


def parquet_column(path: str | PathLike[str], column: str | Sequence[str]) -> ParquetColumn:
    """Vectors in a Parquet file or a folder of them, for `select`.

    Parameters
    ----------
    path : str or path
        A file, or a folder whose ``*.parquet`` files are read in the order of their names.
    column : str or sequence of str
        A column of lists of equal length, or several columns of numbers side by side.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> from real_plugin.pools import parquet_column
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"vector": [[1.0, 2.0], [3.0, 4.0]]}), f"{folder}/a.parquet")
    ...     next(iter(parquet_column(folder, "vector"))).shape
    (2, 2)
    """
    place = Path(path)
    files = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise FileNotFoundError(f"{place} is no Parquet file and no folder that has some.")
    return ParquetColumn(files, [column] if isinstance(column, str) else column)


def vectors_of(name: str, first: int, batch: Any) -> NDArray[Any]:
    """A matrix from an Arrow batch of one column of lists, or several columns of numbers.

    `name` is the file and `first` the number of the first row in it, for the errors.
    """
    for column, array in zip(batch.schema.names, batch.columns, strict=True):
        if array.null_count:
            row = first + int(np.argmax(np.asarray(array.is_null())))
            raise ValueError(f"{name}: column {column!r} has no value in row {row}; drop it.")
    if batch.num_columns > 1 or not hasattr(batch.column(0), "value_lengths"):
        return np.column_stack([np.asarray(array) for array in batch.columns])
    lists = batch.column(0)
    lengths = np.asarray(lists.value_lengths())
    width = int(lengths[0]) if len(lengths) else 0
    if (lengths != width).any():
        at = int(np.argmax(lengths != width))
        raise ValueError(
            f"{name}: column {batch.schema.names[0]!r} has {lengths[at]} numbers in row "
            f"{first + at}, but {width} before; all rows must have the same number."
        )
    values = lists.flatten().to_numpy(zero_copy_only=False)
    return np.asarray(values).reshape(len(lists), width)


def _import_parquet() -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow: pip install pyarrow") from error
    return parquet
