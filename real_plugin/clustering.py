"""K-means over the embeddings of a pool, behind one function.

The recipe is greedy k-means++ seeds and faiss' Lloyd iterations on a keyed subsample, then
one pass that gives every row its nearest centre (`nearest`). It was chosen by `python -m
benchmarks speed`: within 2 % of the inertia of a full Lloyd run on real [CLS] vectors, at less
than a quarter of the time of MiniBatchKMeans.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from real_plugin._keys import rows_by_key
from real_plugin._rows import ArrayRows, Block, Rows
from real_plugin._threads import block_threads, one_thread
from real_plugin.nearest import Centres, squared_distances

#: Rows per centroid that choose the k-means++ seeds.
SEEDING_ROWS = 16
#: (rows per centroid, Lloyd iterations): first coarse on few rows, then fine on more.
SCHEDULE = ((96, 6), (256, 2))
#: A pool of this many rows may be trained on whole; of a larger one, a quarter at most.
SMALL_POOL = 20_000
#: Sparse rows are reduced to this many dimensions (latent semantic analysis) at most.
SPARSE_DIMENSIONS = 100

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int64]
#: From a number of rows to the weights of so many first ones, None for equal weights.
Weights = Callable[[int], FloatArray | None]


@dataclass(frozen=True, eq=False)
class Clustering:
    """K centroids, and for every row its nearest one and the squared distance to it."""

    centroids: FloatArray
    assignment: NDArray[np.int32]
    distance: NDArray[np.floating]

    @property
    def inertia(self) -> float:
        """Sum of the squared distances, what k-means minimises."""
        return float(self.distance.sum(dtype=np.float64))


def cluster(embeddings: Any, n_clusters: int, seed: int) -> Clustering:
    """Partition the rows of `embeddings` into at most `n_clusters` clusters.

    Parameters
    ----------
    embeddings : array or CSR matrix of shape (n, d)
        Read in chunks; never copied as a whole and never changed. A sparse matrix is
        first reduced to `SPARSE_DIMENSIONS` dense dimensions.
    n_clusters : int
        K, clipped to n. Fewer distinct rows than K leave some clusters empty.
    seed : int
        The same seed gives the same clusters.

    Raises
    ------
    ValueError
        If a value is NaN, infinite or too large for squared distances in float32.
    """
    n_rows = embeddings.shape[0]
    rows = training_rows(n_rows, n_clusters, seed)
    if sparse.issparse(embeddings):
        embeddings = reduce_sparse(embeddings, rows, seed)
    source = ArrayRows("embeddings", embeddings)
    sample = as_float32(take_finite(source, rows))
    centroids = train(sample, min(n_clusters, n_rows), seed)
    return Clustering(centroids, *assign(source, centroids, n_rows))


def training_rows(n_rows: int, n_clusters: int, seed: int) -> IntArray:
    """The rows that train k-means, in the order of their keys."""
    return rows_by_key(seed, n_rows, training_size(n_rows, n_clusters))


def training_size(n_rows: int, n_clusters: int) -> int:
    """How many rows train k-means."""
    n_clusters = min(n_clusters, n_rows)
    most = SCHEDULE[-1][0] * n_clusters
    share = max(SCHEDULE[0][0] * n_clusters, SMALL_POOL, n_rows // 4)
    return min(n_rows, most, share)


def train(
    sample: FloatArray, n_clusters: int, seed: int, weights: Weights | None = None
) -> FloatArray:
    """Centroids of `sample`: k-means++ seeds, then the `SCHEDULE` of Lloyd iterations.

    `weights` gives what the first so many rows count, if they are to stand alone.

    On one thread: products of matrices on several differ in their last bits, and whoever
    trains on as many cores as he has would get other clusters than his neighbour.
    """
    with one_thread():
        return _train(sample, n_clusters, seed, weights or (lambda count: None))


def _train(sample: FloatArray, n_clusters: int, seed: int, weights: Weights) -> FloatArray:
    few = sample[: SEEDING_ROWS * n_clusters]
    centroids = seed_centroids(few, n_clusters, seed, weights(len(few)))
    for rows_per_centroid, n_iterations in SCHEDULE:
        kmeans = faiss.Kmeans(
            sample.shape[1],
            n_clusters,
            niter=n_iterations,
            seed=seed % 2**31,
            min_points_per_centroid=1,
            max_points_per_centroid=len(sample),
        )
        rows = sample[: rows_per_centroid * n_clusters]
        kmeans.train(rows, weights=_at_scale(weights(len(rows))), init_centroids=centroids)
        centroids = np.asarray(kmeans.centroids)
    return centroids


def _at_scale(weights: FloatArray | None) -> FloatArray | None:
    """Weights with a mean between 1 and 2, all multiplied by the same power of 2.

    For a cluster without rows faiss splits one whose weight is more than 1, and searches
    forever if there is none. A power of 2 changes nothing else, not even by rounding.
    """
    if weights is None:
        return None
    exponent = np.ceil(-np.log2(weights.mean(dtype=np.float64)))
    return np.ldexp(weights, int(exponent))


def seed_centroids(
    sample: FloatArray, n_clusters: int, seed: int, weights: FloatArray | None = None
) -> FloatArray:
    """Greedy k-means++: each next centre is the best of a few drawn by squared distance.

    What scikit-learn's `kmeans_plusplus` does, in float32 and a third of its time; plain
    k-means++ (one draw a centre, as in faiss) costs up to 4 % of inertia.
    """
    rng = np.random.default_rng(seed)
    n_draws = 2 + int(np.log(n_clusters))
    norms = np.einsum("ij,ij->i", sample, sample)
    chosen = np.empty(n_clusters, dtype=np.intp)
    chosen[0] = rng.integers(len(sample)) if weights is None else _draw(rng, weights, 1)[0]
    nearest = _squared_distances(sample, norms, chosen[:1])[0]
    for k in range(1, n_clusters):
        draws = _draw(rng, _weighted(nearest, weights), n_draws)
        after = np.minimum(_squared_distances(sample, norms, draws), nearest)
        best = int(_weighted(after, weights).sum(axis=1, dtype=np.float64).argmin())
        chosen[k], nearest = draws[best], after[best]
    return sample[chosen]


def _weighted(distances: FloatArray, weights: FloatArray | None) -> FloatArray:
    return distances if weights is None else distances * weights


def _draw(rng: np.random.Generator, chances: FloatArray, count: int) -> NDArray[np.intp]:
    """Rows in proportion to `chances`; any row if all of them are 0."""
    cumulative = np.cumsum(chances, dtype=np.float64)
    draws = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
    return np.asarray(np.minimum(draws, len(chances) - 1))


def _squared_distances(
    vectors: FloatArray, norms: FloatArray, rows: NDArray[np.intp]
) -> FloatArray:
    """From `rows` of `vectors` to all of them, shape (len(rows), len(vectors))."""
    distances = vectors[rows] @ vectors.T
    distances *= -2
    distances += norms
    distances += norms[rows, None]
    np.maximum(distances, 0, out=distances)
    return distances


def assign(
    embeddings: Rows, centroids: FloatArray, n_rows: int, exact: bool = False
) -> tuple[NDArray[np.int32], NDArray[np.floating]]:
    """Nearest centroid of every row, and the squared distance to it, block by block.

    The distances are for sums, unless they are to be `exact`: float64, and fit to compare.
    """
    assignment = np.empty(n_rows, dtype=np.int32)
    distance: NDArray[np.floating] = np.empty(n_rows, np.float64 if exact else np.float32)
    centres = Centres(centroids)

    def assign_block(block: Block) -> None:
        rows = slice(block.start, block.start + len(block.values))
        vectors = as_float32(block.values)
        assignment[rows], distance[rows] = centres.nearest(vectors)
        check_finite(block.name, block.first, vectors, distance[rows])
        if exact:
            distance[rows] = squared_distances(vectors, centroids, assignment[rows])

    with block_threads() as (count, run):
        for block in embeddings.blocks():
            for _ in run(assign_block, block.split(count)):
                pass
    return assignment, distance


def nearest_to_centres(
    distance: NDArray[np.floating], cluster_of: NDArray[np.int32], count: int
) -> IntArray:
    """`count` rows: the nearest row of every cluster, then the second nearest, and so on."""
    order, rank = rank_in_cluster(distance, cluster_of)
    return order[np.argsort(rank, kind="stable")[:count]]


def rank_in_cluster(
    priority: NDArray[Any], cluster_of: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """An order by cluster, then priority, then row, and each one's rank in its cluster."""
    order = np.lexsort((priority, cluster_of))
    ordered = cluster_of[order]
    return order, np.arange(len(order)) - np.searchsorted(ordered, ordered)


def as_float32(vectors: Any) -> FloatArray:
    with np.errstate(over="ignore"):  # what becomes infinite is reported by check_finite
        return np.ascontiguousarray(vectors, dtype=np.float32)


def take_finite(source: Rows, rows: IntArray) -> NDArray[Any]:
    """Some rows; if one of them is unusable, an error that names the first such row."""
    taken = source.take(rows)
    if not (_squares(taken) < np.finfo(np.float32).max).all():
        for block in source.blocks():
            check_finite(block.name, block.first, block.values, _squares(block.values))
    return taken


def _squares(vectors: NDArray[Any]) -> FloatArray:
    vectors = as_float32(vectors)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.einsum("ij,ij->i", vectors, vectors))


def check_finite(
    name: str, first: int, vectors: NDArray[Any], squares: NDArray[np.floating]
) -> None:
    """Raise if a squared norm or distance shows that a vector is unusable.

    The rows are numbered from `first` in the error.
    """
    unusable = ~(np.abs(squares) < np.finfo(np.float32).max)
    if unusable.any():
        at = int(np.argmax(unusable))
        raise _unusable(name, first + at, as_float32(vectors[at]))


def _unusable(name: str, row: int, values: NDArray[Any]) -> ValueError:
    if np.isnan(values).any():
        problem, remedy = "NaN", "drop or impute such rows before you query"
    else:
        problem = f"values up to {np.abs(values).max():.3g}"
        remedy = "squared distances must fit into float32: scale the vectors down"
    return ValueError(f"{name} has {problem} in row {row}; {remedy}.")


def reduce_sparse(matrix: Any, rows: IntArray, seed: int) -> NDArray[Any]:
    """Latent semantic analysis of a sparse matrix, learnt from the training rows."""
    unusable = ~np.isfinite(matrix.data)
    if unusable.any():
        at = int(np.argmax(unusable))
        row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
        raise _unusable("embeddings", row, matrix.data[at : at + 1])
    dimensions = min(SPARSE_DIMENSIONS, len(rows))
    if matrix.shape[1] <= dimensions:
        return np.asarray(matrix.toarray())
    svd = TruncatedSVD(dimensions, random_state=seed)
    with np.errstate(invalid="ignore", divide="ignore"):  # variance ratios of equal rows
        svd.fit(matrix[rows])
    return np.asarray(svd.transform(matrix))
