"""The strategies of `suggest`, each with a reason for every pick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import entropy

from real_plugin.result import COLD_START, Selection
from real_plugin.selection import VARIANTS, select

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Picks:
    """Positions among the candidates, a reason each, and what REAL saw if it was asked."""

    rows: IntArray
    reasons: list[str]
    selection: Selection | None = None


@dataclass(frozen=True)
class Candidates:
    """What a strategy can look at: probabilities (None without a model) and vectors."""

    P: NDArray[Any] | None
    vectors: NDArray[np.float32]
    classes: Sequence[str]

    def __len__(self) -> int:
        return len(self.vectors)


def pick(strategy: str, candidates: Candidates, n: int, seed: int) -> Picks:
    """Pick `n` of the candidates; without a model, any strategy but random starts cold."""
    if strategy == "random":
        return _random(candidates, n, seed)
    if candidates.P is None or strategy in REAL:
        return _real(candidates, n, seed, REAL.get(strategy, "real"))
    return UNCERTAINTY[strategy](candidates.P, candidates.classes, n)


def _real(candidates: Candidates, n: int, seed: int, variant: str) -> Picks:
    P = candidates.P
    if P is None:
        P = np.full((len(candidates), 2), 0.5)
    selection = select(P, candidates.vectors, n, variant=variant, random_state=seed)
    reasons = [_reason(selection, pick, candidates.classes) for pick in range(n)]
    return Picks(selection.indices, reasons, selection)


def _reason(selection: Selection, pick: int, classes: Sequence[str]) -> str:
    row = int(selection.indices[pick])
    if selection.source[pick] == COLD_START:
        size = int(selection.clusters.size[selection.cluster[pick]])
        return (
            "There are no labels of two classes yet: it is among the nearest to the centre of "
            f"its cluster of {size}."
        )
    sentence = selection.explain(row, classes).removeprefix(f"Row {row} was picked because ")
    return sentence[0].upper() + sentence[1:]


def _random(candidates: Candidates, n: int, seed: int) -> Picks:
    rows = np.random.default_rng(seed).choice(len(candidates), n, replace=False)
    return Picks(rows.astype(np.int64), ["It was drawn at random."] * n)


def _margin(P: NDArray[Any], classes: Sequence[str], n: int) -> Picks:
    second, first = np.partition(P, -2, axis=1)[:, -2:].T
    rows = _smallest(first - second, n)
    return Picks(
        rows, [f"The model hesitates between {_top(P[row], classes, 2)}." for row in rows]
    )


def _least_confidence(P: NDArray[Any], classes: Sequence[str], n: int) -> Picks:
    rows = _smallest(P.max(axis=1), n)
    reasons = [
        f"Even its likeliest class is unlikely: {_top(P[row], classes, 1)}." for row in rows
    ]
    return Picks(rows, reasons)


def _entropy(P: NDArray[Any], classes: Sequence[str], n: int) -> Picks:
    rows = _smallest(-entropy(P, axis=1), n)
    reasons = [f"The model is undecided: {_top(P[row], classes, 3)}." for row in rows]
    return Picks(rows, reasons)


def _smallest(values: NDArray[Any], n: int) -> IntArray:
    return np.argsort(values, kind="stable")[:n].astype(np.int64)


def _top(p: NDArray[Any], classes: Sequence[str], most: int) -> str:
    """The likeliest classes: "Sports (0.41) and World (0.39)"."""
    best = np.argsort(-p, kind="stable")[:most]
    return " and ".join(f"{classes[j]} ({p[j]:.2f})" for j in best)


#: Strategies of ours by their name here, and the variant of `select`.
REAL = {"real" if name == "real" else f"real-{name}": name for name in VARIANTS}
UNCERTAINTY: dict[str, Callable[[NDArray[Any], Sequence[str], int], Picks]] = {
    "margin": _margin,
    "least-confidence": _least_confidence,
    "entropy": _entropy,
}
STRATEGIES = (*REAL, *UNCERTAINTY, "random")
