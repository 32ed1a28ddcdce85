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


def as_floats(values: NDArray[Any]) -> NDArray[np.floating]:
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def check_distributions(name: str, P: NDArray[np.floating], first: int) -> None:
    """Raise unless each row is a distribution; the rows are numbered from `first`."""
    row_sums = np.einsum("ij->i", P, dtype=np.float64)
    finite = np.isfinite(row_sums)
    if not finite.all():
        row = int(np.argmin(finite))
        raise ValueError(
            f"{name} has NaN or infinite values, first in row {first + row}: {P[row]}; "
            "every probability must be a number between 0 and 1."
        )
    if P.min(initial=0) < 0:
        row = int(np.argmax((P < 0).any(axis=1)))
        raise ValueError(
            f"{name} has negative values, first in row {first + row}: {P[row]}; if these are "
            "logits, pass their softmax."
        )
    tolerance = 1e-2 if P.dtype.itemsize <= 2 else 1e-3
    off = np.abs(row_sums - 1) > tolerance
    if off.any():
        row = int(np.argmax(off))
        raise ValueError(
            f"{name}: row {first + row} sums to {row_sums[row]:.6g}, not to 1; if these are "
            "scores, pass their softmax, or divide each row by its sum."
        )


def at_least_two_classes(probabilities: Any) -> Any:
    """Probabilities of a model that has seen one class only, as those of two classes.

    Such a model predicts its one class everywhere, so a query becomes a cold start.
    """
    shape = np.shape(probabilities)
    if len(shape) == 2 and shape[1] == 1:
        return np.tile([1.0, 0.0], (shape[0], 1))
    return probabilities


#: What a matrix of each kind is, and how to make one of something else.
_FORMS = {
    "probabilities": "a row for every instance and a column for every class, as predict_proba "
    "gives it.",
    "embeddings": "a vector for every instance. A 1-D feature becomes 2-D with x.reshape(-1, 1).",
}


def check_matrix(name: str, values: Any) -> Any:
    """`values` if it is a numeric matrix with enough columns; what is in it is read later.

    `name` ends in "probabilities" or "embeddings", which have different rules.
    """
    kind = name.split()[-1]
    check_real_numbers(name, values.dtype)
    if len(values.shape) != 2:
        raise ValueError(
            f"{name} has {len(values.shape)} dimension(s) {tuple(values.shape)}; it must be 2-D, "
            f"{_FORMS[kind]}"
        )
    n_columns = values.shape[1]
    if kind == "probabilities" and n_columns < 2 and values.shape[0]:
        raise ValueError(
            f"{name} has {n_columns} column(s); it needs a column for every class, at "
            "least two. For P(positive) alone pass np.column_stack([1 - p, p])."
        )
    if n_columns == 0:
        raise ValueError(f"{name} has no columns; a vector needs at least one number.")
    return values


def numeric_array(name: str, values: Any) -> NDArray[Any]:
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
    check_real_numbers(name, array.dtype)
    return array


def check_real_numbers(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "fiub":
        raise TypeError(
            f"{name} has dtype {dtype}; it must hold real numbers (float16, float32 or float64)."
        )
