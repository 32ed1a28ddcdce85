"""What a selection found, and why: the arrays behind a batch, and sentences about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from real_plugin._validation import check_integer

if TYPE_CHECKING:
    import pandas as pd

PSEUDO_ERROR = "pseudo-error"
COMPLEMENT = "complement"
REPRESENTATIVE = "representative"
COLD_START = "cold-start"


@dataclass(frozen=True, eq=False)
class Clusters:
    """One entry for every cluster in each array."""

    size: NDArray[np.int64]  #: rows in the cluster
    pseudo_errors: NDArray[np.int64]  #: rows whose prediction is not the cluster's
    density: NDArray[np.float64]  #: Eq. 4, epsilon summed over pseudo errors ("soft": all rows)
    budget: NDArray[np.int64]  #: rows the cluster may contribute, residual included
    pseudo_label: NDArray[np.int64]  #: Eq. 3, the most frequent prediction

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The batch to label next, and everything that explains it.

    Attributes
    ----------
    indices : ndarray of int64
        Positions of the picked rows in the pool, in order of pick, all different.
    cluster, predicted, pseudo_label : ndarray
        For every pick its cluster, its predicted class and its cluster's majority class
        (as columns of the probabilities).
    epsilon : ndarray of float64
        For every pick the erroneous probability of Eq. 5: 1 - P(majority class). With
        the variant "soft" it is the model's doubt, 1 - margin.
    source : ndarray of str
        For every pick ``"pseudo-error"`` (drawn as one under a budget),
        ``"representative"`` (of its cluster, with the variant "soft"), ``"complement"``
        (the batch was filled up by epsilon) or ``"cold-start"`` (the model said nothing).
    clusters : Clusters
        Arrays with an entry a cluster: size, pseudo_errors, density, budget,
        pseudo_label.
    assignment : ndarray of int32
        The cluster of every row of the pool. From `real_plugin.distributed` it is a Dask
        array, which stays where the pool is; ``assignment.compute()`` brings it here.
    inertia : float
        Sum of the squared distances of the rows to their centres.
    n_clusters : int
        K as used: what "auto" came to, clipped to the size of the pool.
    variant : str
        Which variant selected.
    random_state : int
        The seed; passed to `select` with the same input it repeats the selection.
    """

    indices: NDArray[np.int64]
    cluster: NDArray[np.int32]
    predicted: NDArray[np.int64]
    pseudo_label: NDArray[np.int64]
    epsilon: NDArray[np.float64]
    source: NDArray[np.str_]
    clusters: Clusters
    assignment: Any
    inertia: float
    n_clusters: int
    variant: str
    random_state: int

    def __len__(self) -> int:
        return len(self.indices)

    def __repr__(self) -> str:
        names, counts = np.unique(self.source, return_counts=True)
        sources = ", ".join(f"{count} {name}" for name, count in zip(names, counts, strict=True))
        return (
            f"Selection({len(self)} of {len(self.assignment)} rows: {sources}; "
            f"variant={self.variant!r}, n_clusters={self.n_clusters}, "
            f"random_state={self.random_state})"
        )

    def to_frame(self, class_names: Sequence[Any] | None = None) -> pd.DataFrame:
        """The picks as a DataFrame, a row a pick, in order of pick.

        Parameters
        ----------
        class_names : sequence, optional
            Names of the columns of the probabilities (the model's ``classes_``), to
            show instead of their numbers.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Selection.to_frame needs pandas: pip install pandas") from error
        predicted, pseudo_label = self.predicted, self.pseudo_label
        if class_names is not None:
            names = np.asarray(class_names)
            predicted, pseudo_label = names[predicted], names[pseudo_label]
        return pd.DataFrame(
            {
                "index": self.indices,
                "cluster": self.cluster,
                "predicted": predicted,
                "pseudo_label": pseudo_label,
                "epsilon": self.epsilon,
                "source": self.source,
                "cluster_size": self.clusters.size[self.cluster],
                "cluster_pseudo_errors": self.clusters.pseudo_errors[self.cluster],
                "cluster_budget": self.clusters.budget[self.cluster],
            }
        )

    def explain(self, i: int, class_names: Sequence[Any] | None = None) -> str:
        """Why row `i` of the pool was picked, or was not, in one sentence.

        Parameters
        ----------
        i : int
            A row of the pool, such as an entry of `indices`.
        class_names : sequence, optional
            Names of the columns of the probabilities (the model's ``classes_``).
        """
        row = check_integer("i", i)
        if not 0 <= row < len(self.assignment):
            raise IndexError(
                f"i is {row}, but the pool has the rows 0 to {len(self.assignment) - 1}; "
                "give a row of the pool, such as an entry of indices."
            )
        name = _namer(class_names)
        picks = np.flatnonzero(self.indices == row)
        if not len(picks):
            return self._why_not(row, name)
        pick = int(picks[0])
        k = int(self.cluster[pick])
        if self.source[pick] == COLD_START:
            return (
                f"Row {row} was picked because the model gives every row the same "
                "probabilities, so only the embeddings can tell: it is among the nearest to "
                f"the centre of its cluster of {self.clusters.size[k]}."
            )
        if self.variant == "soft":
            return self._why_soft(row, pick, name)
        predicted, majority = self.predicted[pick], self.pseudo_label[pick]
        epsilon = f"erroneous probability of {self.epsilon[pick]:.2f}"
        why = f"the model calls it {name(predicted)}"
        cluster = f"{self._share(k)} % of its cluster of {self.clusters.size[k]}"
        if predicted == majority:
            why += f", as it does {cluster}, but with an {epsilon}"
        else:
            why += f" while {cluster} is called {name(majority)}"
        if self.source[pick] == COMPLEMENT:
            how = "it is no draw from a cluster's budget but completes the batch"
            how += "" if predicted == majority else f", by its {epsilon}"
        elif self.variant == "pool":
            how = f"its {epsilon} is among the pool's largest"
        else:
            how = f"the cluster gets {self._budget(k)}"
        return f"Row {row} was picked because {why}; {how}."

    def _why_soft(self, row: int, pick: int, name: Any) -> str:
        k = int(self.cluster[pick])
        why = (
            f"Row {row} was picked because the model calls it {name(self.predicted[pick])} by a "
            f"margin of {1 - self.epsilon[pick]:.2f}"
        )
        if self.source[pick] == COMPLEMENT:
            return f"{why}; it represents no cluster of its own but completes the batch."
        return f"{why}, and it represents {self._doubt(k)}."

    def _why_not(self, row: int, name: Any) -> str:
        k = int(self.assignment[row])
        majority = self.clusters.pseudo_label[k]
        where = f"Row {row} was not picked: it lies in a cluster of {self.clusters.size[k]}"
        if COLD_START in self.source:
            return f"{where}, where others are nearer to the centre."
        if self.variant == "soft":
            return (
                f"Row {row} was not picked: it lies in {self._doubt(k)}, which gets "
                f"{self.clusters.budget[k]} of the {len(self)} picks."
            )
        return (
            f"{where}, {self._share(k)} % of which is called {name(majority)}; "
            f"the cluster gets {self._budget(k)}."
        )

    def _share(self, k: int) -> str:
        """Percentage of cluster `k` that is predicted as the majority class."""
        share = 100 * (1 - self.clusters.pseudo_errors[k] / self.clusters.size[k])
        return f"{share:.1f}" if 99 <= share < 100 else f"{share:.0f}"

    def _doubt(self, k: int) -> str:
        density = self.clusters.density
        share = 100 * density[k] / max(density.sum(), np.finfo(float).tiny)
        return f"a cluster of {self.clusters.size[k]} with {share:.1f} % of the model's doubt"

    def _budget(self, k: int) -> str:
        return (
            f"{self.clusters.budget[k]} of the {len(self)} picks for its "
            f"{self.clusters.pseudo_errors[k]} pseudo errors"
        )


def _namer(class_names: Sequence[Any] | None) -> Any:
    if class_names is None:
        return lambda j: f"class {j}"
    return lambda j: class_names[int(j)]
