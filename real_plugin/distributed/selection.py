"""`select` over the partitions of Dask collections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.optimization import cull
from numpy.typing import NDArray

from real_plugin._rows import ArrayRows
from real_plugin._validation import check_matrix, check_seed, numeric_array
from real_plugin.result import Selection
from real_plugin.selection import Options, Seed, Source, Step, select_from

#: Column of a DataFrame that holds the probabilities, if it has one of this name.
PROBABILITIES = "probabilities"


def select_partitions(
    probabilities: Any,
    embeddings: Any,
    n_instances: int,
    *,
    variant: str = "real",
    n_clusters: int | str = "auto",
    residual: str = "paper",
    shortfall: str = "pool",
    random_state: Seed = None,
) -> Selection:
    """Select from a pool in partitions, the same rows as `select` would from one array.

    Every step runs where the partitions are, on the cluster of the current
    `distributed.Client`, or in threads if there is none. Only counts, densities, the best
    few rows of every cluster, the sample that trains k-means and the centroids travel.
    The collections are not kept in memory: lazy ones are read again by the steps that need
    them, twice each, so `persist` what was hard to compute.

    Parameters
    ----------
    probabilities : Dask array, Series or DataFrame
        Class probabilities: an array of shape (n, Y), a DataFrame with a column a class, or
        a Series of lists. Chunks and partitions may be of any size, known or not, or empty.
    embeddings : Dask array, Series or DataFrame, or str
        The vectors of the same rows, in the same forms. A str is the column of the
        DataFrame `probabilities` that holds them; the probabilities are then its column
        "probabilities", if it has one, or else all its other columns.
    n_instances, variant, n_clusters, residual, shortfall, random_state
        As in `select`.

    Returns
    -------
    Selection
        `indices` count through the partitions in their order. `assignment` is a Dask array
        that stays on the workers; `explain` and `to_frame` don't need it for the picks.

    Raises
    ------
    ValueError
        If a partition has NaN, another width or another dtype than the others, or other
        rows of probabilities than of embeddings. The error names it by its number.

    Examples
    --------
    >>> import dask.array as da
    >>> from real_plugin.distributed import select_partitions
    >>> P = da.from_array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.3, 0.7]], chunks=(3, 2))
    >>> E = da.from_array([[0.0], [0.1], [0.2], [9.0]], chunks=(3, 1))
    >>> select_partitions(P, E, 1, n_clusters=2, random_state=0).indices
    array([2])
    """
    options = Options(variant, n_clusters, residual, shortfall)
    seed = check_seed(random_state)
    if isinstance(embeddings, str):
        probabilities, embeddings = _columns(probabilities, embeddings)
    probabilities, embeddings = _same_partitions(probabilities, embeddings)
    return select_from(PoolOnDask(probabilities, embeddings), n_instances, options, seed)


class PoolOnDask:
    """A pool whose parts are read by Dask's workers."""

    def __init__(self, probabilities: Any, embeddings: Any) -> None:
        collections = {"probabilities": probabilities, "embeddings": embeddings}
        self._sources = {kind: partitions(values) for kind, values in collections.items()}
        self._kept: Sequence[Any] = [None] * len(self._sources["embeddings"])

    def run(
        self, step: Step, source: Source, *shared: Any, each: Sequence[Any] | None = None
    ) -> list[Any]:
        common = [dask.delayed(value, traverse=False) for value in shared]
        work = dask.delayed(_run_step, nout=2)
        results = []
        for number, kept in enumerate(self._kept):
            own = [] if each is None else [each[number]]
            name = f"partition {number} of {source}"
            piece = None if source is None else self._sources[source][number]
            results.append(work(step, name, piece, kept, *own, *common))
        results = dask.persist(*results)
        self._kept = [kept for kept, _ in results]
        return list(dask.compute(*(told for _, told in results)))

    def assignment(self, sizes: Sequence[int]) -> Any:
        pieces = [
            da.from_delayed(kept.assignment, shape=(size,), dtype=np.int32)
            for kept, size in zip(self._kept, sizes, strict=True)
        ]
        return da.concatenate(pieces)


def _columns(frame: Any, column: str) -> tuple[Any, Any]:
    if not isinstance(frame, dd.DataFrame):
        raise TypeError(
            f"embeddings is the column {column!r}, but probabilities is a "
            f"{type(frame).__name__}; pass the Dask DataFrame that has this column."
        )
    names = list(frame.columns)
    if column not in names:
        raise ValueError(f"embeddings is {column!r}, but the columns are {', '.join(names)}.")
    others = [name for name in names if name != column]
    return frame[PROBABILITIES if PROBABILITIES in others else others], frame[column]


def _same_partitions(P: Any, E: Any) -> tuple[Any, Any]:
    """Both in the same partitions, as far as that is known before they are read."""
    P, E = _whole_rows("probabilities", P), _whole_rows("embeddings", E)
    if isinstance(P, da.Array) and isinstance(E, da.Array) and not _are_chunked_alike(P, E):
        P, E = _with_sizes(P), _with_sizes(E)
        if P.shape[0] == E.shape[0]:
            P = P.rechunk({0: E.chunks[0]})
    if P.npartitions != E.npartitions:
        raise ValueError(
            f"probabilities has {P.npartitions} partitions and embeddings {E.npartitions}; both "
            "must describe the same pool. Take both from one DataFrame, or repartition one."
        )
    return P, E


def _whole_rows(name: str, values: Any) -> Any:
    """A Dask collection with whole rows in each of its chunks."""
    if not isinstance(values, da.Array | dd.DataFrame | dd.Series):
        raise TypeError(
            f"{name} is a {type(values).__name__}; pass a Dask array, Series or DataFrame. For "
            "arrays on this machine there is real_plugin.select."
        )
    if not isinstance(values, da.Array):
        return values
    values = check_matrix(name, values)
    return values if values.numblocks[1] == 1 else values.rechunk({1: -1})


def _are_chunked_alike(P: Any, E: Any) -> bool:
    if np.isnan(P.chunks[0] + E.chunks[0]).any():
        return bool(P.numblocks[0] == E.numblocks[0])
    return bool(P.chunks[0] == E.chunks[0])


def _with_sizes(values: Any) -> Any:
    return values.copy().compute_chunk_sizes() if np.isnan(values.chunks[0]).any() else values


class Recipe:
    """How to read a partition, to be followed within the task that needs it.

    So a partition that is read from a file is never sent from one worker to another, which
    the cluster might do with the result of a task of its own.
    """

    def __init__(self, graph: dict[Any, Any], key: Any) -> None:
        self.graph, self.key = graph, key

    def follow(self) -> Any:
        return dask.get(self.graph, self.key)


def partitions(collection: Any) -> list[Any]:
    """The partitions, as recipes if each needs nothing but itself, or else as tasks."""
    pieces = pieces_of(collection)
    return pieces if _has_futures(collection) else [_recipe(p) or p for p in pieces]


def pieces_of(collection: Any) -> list[Any]:
    """The partitions as tasks, as many as the collection says it has."""
    if isinstance(collection, da.Array):
        return list(np.ravel(collection.to_delayed()))
    # Dask's full optimization joins partitions of files of which few columns are read.
    return list(collection.simplify().to_delayed(optimize_graph=False))


def _recipe(piece: Any) -> Recipe | None:
    graph, dependencies = cull(dict(piece.__dask_graph__()), [piece.key])
    is_chain = all(len(needed) <= 1 for needed in dependencies.values())
    return Recipe(graph, piece.key) if is_chain else None


def _has_futures(collection: Any) -> bool:
    """Whether some of it is on a cluster already."""
    try:
        from distributed import futures_of
    except ImportError:
        return False
    return bool(futures_of(collection))


def _run_step(step: Step, name: str, piece: Any, *arguments: Any) -> Any:
    if piece is None:
        return step(None, *arguments)
    return step(_rows(name, piece.follow() if isinstance(piece, Recipe) else piece), *arguments)


def _rows(name: str, piece: Any) -> ArrayRows:
    """A partition as rows; an empty one has no width and no dtype of its own."""
    if len(piece) == 0:
        return ArrayRows(name, np.empty((0, 0)))
    return ArrayRows(name, check_matrix(name, _matrix(name, piece)))


def _matrix(name: str, piece: Any) -> NDArray[Any]:
    values = np.asarray(piece)
    if values.ndim != 1 or values.dtype != object:
        return numeric_array(name, values)
    if isinstance(values[0], str):
        raise TypeError(
            f"{name} holds texts such as {values[0][:20]!r}. If they were lists, Dask made texts "
            "of them: create the DataFrame under "
            "dask.config.set({'dataframe.convert-string': False})."
        )
    lengths = np.array([0 if value is None else np.size(value) for value in values])
    if (lengths != lengths[0]).any():
        at = int(np.argmax(lengths != lengths[0]))
        raise ValueError(
            f"{name} has a vector of {lengths[at]} numbers in row {at}; all rows must have as "
            f"many as the first, {lengths[0]}."
        )
    return numeric_array(name, np.stack(list(values)))
