"""What may come in from outside: checked once, at the border, with errors that help."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

_SEED_LIMIT = 2**32


def check_option(name: str, value: object, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        options = ", ".join(repr(option) for option in allowed)
        raise ValueError(f"{name} is {value!r}; it must be one of {options}.")
    return value


def check_integer(name: str, value: object) -> int:
    """An int or a numpy integer as int; a bool is not an integer here."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(
            f"{name} is {value!r} of type {type(value).__name__}; it must be an integer."
        )
    return int(value)


def check_n_instances(value: object, n_rows: int) -> int:
    n_instances = check_integer("n_instances", value)
    if n_instances < 1:
        raise ValueError(f"n_instances is {n_instances}; ask for at least 1.")
    if n_instances > n_rows:
        raise ValueError(
            f"n_instances is {n_instances}, but the pool has only {n_rows} rows; "
            f"ask for at most {n_rows}."
        )
    return n_instances


def check_n_clusters(value: object) -> None:
    if isinstance(value, str) and value == "auto":
        return
    if isinstance(value, str) or check_integer("n_clusters", value) < 1:
        raise ValueError(
            f"n_clusters is {value!r}; give an integer of at least 1, or 'auto' for the rule "
            "that follows the pool and the batch."
        )


def check_seed(random_state: Any) -> int:
    """One integer that repeats the run: the given one, or one drawn from a generator.

    None draws from numpy's global generator, as everywhere in scikit-learn.
    """
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(_SEED_LIMIT, dtype=np.uint32))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEED_LIMIT))
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise TypeError(
            f"random_state is {random_state!r} of type {type(random_state).__name__}; give None, "
            "an integer, a numpy.random.RandomState or a numpy.random.Generator."
        )
    seed = int(random_state)
    if not 0 <= seed < _SEED_LIMIT:
        raise ValueError(f"random_state is {seed}; an integer must be from 0 to 2**32 - 1.")
    return seed


def check_probabilities(probabilities: Any) -> NDArray[np.floating]:
    """Probabilities as an (n, Y) float array, each row a distribution over the classes."""
    P = _numeric_array("probabilities", probabilities)
    if P.ndim != 2:
        raise ValueError(
            f"probabilities has {P.ndim} dimension(s) {P.shape}; it must be 2-D, a row for "
            "every instance and a column for every class, as predict_proba gives it."
        )
    if len(P) == 0:
        raise ValueError("probabilities has no rows; there is nothing to select from.")
    if P.shape[1] < 2:
        raise ValueError(
            f"probabilities has {P.shape[1]} column(s); it needs a column for every class, at "
            "least two. For P(positive) alone pass np.column_stack([1 - p, p])."
        )
    if not np.issubdtype(P.dtype, np.floating):
        P = P.astype(np.float64)

    row_sums = P.sum(axis=1, dtype=np.float64)
    finite = np.isfinite(row_sums)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(
            f"probabilities has NaN or infinite values, first in row {row}: {P[row]}; "
            "every probability must be a number between 0 and 1."
        )
    if P.min() < 0:
        row = int(np.argmax((P < 0).any(axis=1)))
        raise ValueError(
            f"probabilities has negative values, first in row {row}: {P[row]}; if these are "
            "logits, pass their softmax."
        )
    tolerance = 1e-2 if P.dtype.itemsize <= 2 else 1e-3
    off = np.abs(row_sums - 1) > tolerance
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"probabilities: row {row} sums to {row_sums[row]:.6g}, not to 1; if these are "
            "scores, pass their softmax, or divide each row by its sum."
        )
    return P


def at_least_two_classes(probabilities: Any) -> Any:
    """Probabilities of a model that has seen one class only, as those of two classes.

    Such a model predicts its one class everywhere, so a query becomes a cold start.
    """
    shape = np.shape(probabilities)
    if len(shape) == 2 and shape[1] == 1:
        return np.tile([1.0, 0.0], (shape[0], 1))
    return probabilities


def check_embeddings(embeddings: Any, n_rows: int) -> Any:
    """Embeddings as an (n, d) numeric array or CSR matrix, not copied where it is one.

    The values are looked at later, in the one pass that assigns rows to clusters.
    """
    if sparse.issparse(embeddings):
        E = embeddings.tocsr()
    else:
        E = _numeric_array("embeddings", embeddings)
    if E.ndim != 2:
        raise ValueError(
            f"embeddings has {E.ndim} dimension(s) {E.shape}; it must be 2-D, a vector for "
            "every instance. A 1-D feature becomes 2-D with x.reshape(-1, 1)."
        )
    if E.shape[0] != n_rows:
        raise ValueError(
            f"embeddings has {E.shape[0]} rows, but there are {n_rows} rows of probabilities; "
            "both must describe the same pool, row by row."
        )
    if E.shape[1] == 0:
        raise ValueError("embeddings has no columns; a vector needs at least one number.")
    return E


def _numeric_array(name: str, values: Any) -> NDArray[Any]:
    if sparse.issparse(values):
        raise TypeError(f"{name} is a sparse matrix; pass a dense array ({name}.toarray()).")
    try:
        array = np.asarray(values)
        if array.dtype == object:
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{name} can't be read as an array of numbers ({error}); pass a 2-D numeric array."
        ) from error
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"{name} has dtype {array.dtype}; it must hold real numbers (float16, float32 or "
            "float64)."
        )
    return array
