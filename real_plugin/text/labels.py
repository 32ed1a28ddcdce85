"""Labels of any kind as class numbers, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_label_list(y: Any) -> list[Any]:
    """Labels as plain Python values; a missing one is an error that says where."""
    if y is None:
        raise ValueError("y is None; training needs a label for every text.")
    if getattr(y, "ndim", 1) != 1:
        raise ValueError(f"y has shape {y.shape}; pass one label for every text.")
    labels = y.tolist() if hasattr(y, "tolist") else list(y)
    labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
    for position, label in enumerate(labels):
        if label is None or label != label:
            raise ValueError(
                f"y[{position}] is {label!r}; every label must be given. Leave unlabelled texts "
                "out of the training data."
            )
    return labels


def find_classes(labels: Iterable[Any]) -> list[Any]:
    """The distinct labels, sorted where they can be, else as they come."""
    distinct = list(dict.fromkeys(labels))
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def as_class_array(classes: Sequence[Any]) -> NDArray[Any]:
    """Classes as a 1-D array, of objects if they are tuples or of mixed types."""
    kinds = {type(label) for label in classes}
    if len(kinds) == 1 and kinds <= {str, int, float, bool}:
        return np.array(classes)
    array = np.empty(len(classes), dtype=object)
    array[:] = list(classes)
    return array


def encode(labels: Sequence[Any], classes: Sequence[Any]) -> NDArray[np.int64]:
    """Number of every label's class."""
    number = {label: i for i, label in enumerate(classes)}
    unknown = find_classes(label for label in labels if label not in number)
    if unknown:
        shown = ", ".join(repr(label) for label in unknown[:5])
        raise ValueError(
            f"y has classes that the model doesn't know: {shown}. Its classes are "
            f"{', '.join(repr(label) for label in list(classes)[:10])}. If more can appear in "
            "later rounds, give them all up front: TransformerClassifier(classes=[...])."
        )
    return np.array([number[label] for label in labels], dtype=np.int64)
