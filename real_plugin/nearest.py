"""The nearest centre of a vector, the same whatever other vectors are looked at with it.

Products of matrices differ in their last bits with the size of the matrices, the number of
threads and the processor. So a product in float32 only proposes: where it leaves no doubt,
by the bound on its rounding, the nearest centre is what it says; in the few other rows the
distances to the centres in question are computed in float64, operation by operation in a
fixed order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Rows that are multiplied at a time, few enough to stay in the processor's cache.
BLOCK_ROWS = 1_024
#: Numbers that may be held at a time for a block: scores, or differences in float64.
BLOCK_NUMBERS = 2**21
#: Differences in float64 that stay in the processor's cache while they are summed up.
CACHED_NUMBERS = 2**17
#: Vectors are shifted if their squared distance from the origin is this many times that
#: of the centroids from their mean.
FAR = 10.0
#: Half of the distance between 1 and the next float32.
_UNIT = 2.0**-24

FloatArray = NDArray[np.float32]


class Centres:
    """Centroids, ready to be searched.

    With m the mean of the centroids c_k, and c'_k = c_k - m, the squared distance is
    |x - m|^2 + |c'_k|^2 + 2 m c'_k - 2 x c'_k. The first term is the same for all centroids,
    so the others decide. Vectors that lie far from the origin, compared with the distances
    between them, are shifted towards it first: more of their digits count then.
    """

    def __init__(self, centroids: FloatArray) -> None:
        first = {row.tobytes(): number for number, row in reversed(list(enumerate(centroids)))}
        self.numbers = np.array(sorted(first.values()), dtype=np.int32)
        self.centroids = centroids[self.numbers]  # without repetitions: the first one wins
        c = self.centroids.astype(np.float64)
        m = c.mean(axis=0)
        c -= m
        squares = np.einsum("ij,ij->i", c, c)
        self._shift = m.astype(np.float32) if m @ m > FAR * squares.mean() else None
        if self._shift is not None:
            m -= self._shift
        self._own = (squares + 2 * (c @ m)).astype(np.float32)
        self._matrix = np.ascontiguousarray(-2 * np.vstack([c, m]).T, dtype=np.float32)
        self._norm_m = float(np.sqrt(m @ m))
        self._largest_c = float(np.sqrt(squares.max()))

    def nearest(self, vectors: FloatArray) -> tuple[NDArray[np.int32], FloatArray]:
        """Number of every vector's nearest centroid, the first among equals, and how far.

        The squared distances are those of the product in float32: for sums, not to compare.
        """
        number = np.empty(len(vectors), dtype=np.int32)
        distance = np.empty(len(vectors), dtype=np.float32)
        step = max(1, min(BLOCK_ROWS, BLOCK_NUMBERS // len(self.numbers)))
        for start in range(0, len(vectors), step):
            block = slice(start, start + step)
            number[block], distance[block] = self._nearest(vectors[block])
        return number, distance

    def _nearest(self, vectors: FloatArray) -> tuple[NDArray[np.int32], FloatArray]:
        with np.errstate(over="ignore", invalid="ignore"):  # the distance tells
            x = vectors if self._shift is None else vectors - self._shift
            squares = np.einsum("ij,ij->i", x, x)
            product = x @ self._matrix
            scores = product[:, :-1]
            scores += self._own
            best = scores.argmin(axis=1)
            lowest = scores[np.arange(len(scores)), best]
            limit = lowest + 2 * self._largest_error(squares)
            row, column = np.divmod(np.flatnonzero(scores <= limit[:, None]), scores.shape[1])
            distance = np.maximum(squares + product[:, -1] + self._norm_m**2 + lowest, 0)
        in_doubt = np.bincount(row, minlength=len(vectors)) > 1
        if in_doubt.any():
            possible = in_doubt[row]
            best[in_doubt] = self._nearest_of(vectors, row[possible], column[possible])
        return self.numbers[best], distance

    def _largest_error(self, squares: FloatArray) -> FloatArray:
        """Bound on the rounding of a vector's scores, for any order of the sums in them.

        A sum of d products is off by at most d units of the product of the norms; a few
        units more stand for the conversions to float32, the last sum and the limit.
        """
        d, largest_c = self.centroids.shape[1], self._largest_c
        product = 2 * (d + 8) * np.sqrt(squares) * largest_c
        own = 8 * (largest_c + 2 * self._norm_m) * largest_c
        smallest = 4 * d * np.finfo(np.float32).tiny  # what is smaller may be rounded to 0
        return np.asarray(1.01 * _UNIT * (product + own) + smallest, dtype=np.float32)

    def _nearest_of(
        self, vectors: FloatArray, row: NDArray[np.intp], column: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """For every vector in `row`, which is sorted, the nearest among its centres."""
        distance = np.empty(len(row))
        step = max(1, BLOCK_NUMBERS // vectors.shape[1])
        for start in range(0, len(row), step):
            pairs = slice(start, start + step)
            possible = vectors[row[pairs]]
            distance[pairs] = squared_distances(possible, self.centroids, column[pairs])
        ordered = column[np.lexsort((column, distance, row))]
        is_first = np.append(True, row[1:] != row[:-1])
        return np.asarray(ordered[is_first])


def squared_distances(
    vectors: FloatArray, centroids: FloatArray, number: NDArray[np.integer]
) -> NDArray[np.float64]:
    """From every vector to the centroid of the given number.

    Row by row and in float64, to the same bits on every machine: one order of the sum.
    """
    distances = np.empty(len(vectors))
    step = max(1, CACHED_NUMBERS // vectors.shape[1])
    for start in range(0, len(vectors), step):
        rows = slice(start, start + step)
        terms = vectors[rows].astype(np.float64)
        terms -= centroids[number[rows]]
        terms *= terms
        distances[rows] = _row_sums(terms)
    return distances


def _row_sums(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    while (width := terms.shape[1]) > 1:
        half = width // 2
        folded = terms[:, :half] + terms[:, half : 2 * half]
        terms = np.column_stack([folded, terms[:, -1]]) if width % 2 else folded
    return np.asarray(terms[:, 0])
