"""Draws docs/selection.png: the clusters, the pseudo errors and the picks of one query.

Run with `python docs/selection_picture.py`; needs the extra [bench].
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from real_plugin import select
from real_plugin.clustering import cluster

mpl.use("Agg")
import matplotlib.pyplot as plt

CLASSES = (("rectangle", "s", "#0072B2"), ("circle", "o", "#E69F00"), ("triangle", "^", "#009E73"))
N_CLUSTERS, BATCH, SEED = 14, 16, 3


def main() -> None:
    centres = [[-2.2, -1], [2.2, -1.2], [0, 2.2], [-0.2, -2.8]]
    E, blob = make_blobs(600, centers=centres, cluster_std=1.15, random_state=SEED)
    y = np.array([0, 1, 2, 0])[blob]
    labelled = np.random.default_rng(SEED).choice(len(E), 15, replace=False)
    P = LogisticRegression().fit(E[labelled], y[labelled]).predict_proba(E)
    selection = select(P, E, BATCH, n_clusters=N_CLUSTERS, random_state=SEED)
    predicted = P.argmax(axis=1)
    is_error = predicted != selection.clusters.pseudo_label[selection.assignment]
    is_picked = np.isin(np.arange(len(E)), selection.indices)

    figure, axis = plt.subplots(figsize=(8, 6))
    draw_cluster_borders(axis, E)
    for label, (name, marker, colour) in enumerate(CLASSES):
        here = predicted == label
        style = {"marker": marker, "color": colour, "linewidths": 0}
        axis.scatter(*E[here & ~is_error].T, s=18, alpha=0.25, **style)
        axis.scatter(*E[here & is_error].T, s=30, label=f"predicted {name}", **style)
    axis.scatter(
        *E[is_picked].T, s=150, facecolors="none", edgecolors="#D55E00", linewidths=2,
        label=f"the {BATCH} picks",
    )  # fmt: skip
    axis.set_title("Strong colour: pseudo errors, predictions unlike their cluster's majority")
    axis.set(xticks=[], yticks=[])
    axis.legend(loc="upper left")
    figure.tight_layout()
    figure.savefig(Path(__file__).with_name("selection.png"), dpi=120)


def draw_cluster_borders(axis: plt.Axes, E: np.ndarray) -> None:
    """The lines between the k-means clusters that `select` found."""
    centroids = cluster(E, N_CLUSTERS, SEED).centroids
    low, high = E.min(axis=0) - 0.3, E.max(axis=0) + 0.3
    x, y = np.meshgrid(np.linspace(low[0], high[0], 600), np.linspace(low[1], high[1], 600))
    grid = np.stack([x, y], axis=-1)
    nearest = ((grid[:, :, None, :] - centroids) ** 2).sum(axis=-1).argmin(axis=-1)
    for k in range(N_CLUSTERS):
        axis.contour(x, y, nearest == k, levels=[0.5], colors="grey", linewidths=0.6)


if __name__ == "__main__":
    main()
