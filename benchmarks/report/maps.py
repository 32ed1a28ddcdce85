"""Maps of the pool at the first batch: what strategies pick, and what the model gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.harness.cells import Cell
from benchmarks.harness.maps import ROUND, load_map, load_selection, map_file
from benchmarks.harness.workspace import Workspace
from benchmarks.report.style import INK, RC, new_figure
from real_plugin import Selection

#: (dataset, track, seed)
MapKey = tuple[str, str, int]
#: Name of a strategy to its colour.
Colour = Callable[[str], str]

COLUMNS = 4
PANEL = 2.5  #: inches
#: Visible on light and dark pages.
GREY = "#888888"
#: Beyond, a picture of pixels is smaller than one of shapes.
MOST_SHAPES = 6000


@dataclass(frozen=True, eq=False)
class MapData:
    """The pool of one dataset, track and seed as the first batches were picked from it.

    Arrays and `texts` have an entry for every row of the pool; picks are positions in them,
    in order of pick.
    """

    dataset: str
    track: str
    seed: int
    classes: tuple[str, ...]
    texts: list[str]
    positions: NDArray[np.float32]  #: (n, 2)
    predicted: NDArray[np.int64]  #: class numbers
    confidence: NDArray[np.float32]  #: the probability of that class
    truth: NDArray[np.int64]  #: class numbers
    picks: dict[str, NDArray[np.int64]]  #: by strategy
    selections: dict[str, Selection]  #: of those strategies that explain themselves

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def errors(self) -> NDArray[np.bool_]:
        """Which rows the model gets wrong."""
        return self.predicted != self.truth

    def only(self, strategies: Iterable[str]) -> MapData:
        """The same map with these strategies, in this order."""
        return replace(self, picks={name: self.picks[name] for name in strategies})

    def reasons(self, strategy: str) -> list[str] | None:
        """Why each pick was picked, in words; None if the strategy doesn't say."""
        selection = self.selections.get(strategy)
        if selection is None:
            return None
        return [selection.explain(int(row), self.classes) for row in self.picks[strategy]]


def load_map_data(workspace: Workspace, frame: pd.DataFrame, key: MapKey) -> MapData:
    """The map of `key`, with the first batch of every strategy of the results `frame`.

    Of a strategy with several batch sizes it is the smallest. Without a map on disk
    (`maps_on_disk`) it raises FileNotFoundError.
    """
    dataset_name, track, seed = key
    pool = load_map(map_file(workspace, *key))
    dataset = workspace.dataset(dataset_name)
    batches = _first_batches(frame, key)
    cells = {
        name: Cell(dataset_name, track, name, size, ROUND, seed)
        for name, (size, _) in batches.items()
    }
    selections = {name: load_selection(workspace.cell(cell)) for name, cell in cells.items()}
    return MapData(
        dataset=dataset_name,
        track=track,
        seed=seed,
        classes=dataset.classes,
        texts=[dataset.train.texts[row] for row in pool.rows],
        positions=pool.positions,
        predicted=pool.predicted,
        confidence=pool.confidence,
        truth=dataset.train.labels[pool.rows],
        picks={name: np.searchsorted(pool.rows, rows) for name, (_, rows) in batches.items()},
        selections={name: kept for name, kept in selections.items() if kept is not None},
    )


def _first_batches(frame: pd.DataFrame, key: MapKey) -> dict[str, tuple[int, NDArray[np.int64]]]:
    """Batch size and picked rows of train, by strategy."""
    dataset, track, seed = key
    chosen = (
        (frame["dataset"] == dataset)
        & (frame["track"] == track)
        & (frame["seed"] == seed)
        & (frame["round"] == ROUND)
    )
    rows = frame[chosen].sort_values("batch_size").drop_duplicates("strategy").sort_index()
    return {
        row.strategy: (int(row.batch_size), np.asarray(row.picks, dtype=np.int64))
        for row in rows.itertuples()
    }


def map_figure(data: MapData, colour: Colour) -> Figure:
    """Small multiples: the errors of the model, then the picks of each strategy over them."""
    n_panels = 1 + len(data.picks)
    n_columns = min(COLUMNS, n_panels)
    n_lines = ceil(n_panels / n_columns)
    with rc_context(RC):
        figure = new_figure(PANEL * n_columns, (PANEL + 0.4) * n_lines)
        axes = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
        share = f"{data.errors.sum():,} of {len(data):,} rows"
        _panel(axes[0], data, f"errors of the model\n{share}", is_about_errors=True)
        for axis, (name, picks) in zip(axes[1:], data.picks.items(), strict=False):
            wrong = data.errors[picks].sum()
            _panel(axis, data, f"{name}\n{len(picks)} picks, {wrong} of them errors")
            x, y = data.positions[picks].T
            axis.scatter(x, y, s=14, color=colour(name), edgecolors=INK, linewidths=0.4)
        for axis in axes[n_panels:]:
            axis.set_axis_off()
    return figure


def _panel(axis: Axes, data: MapData, title: str, is_about_errors: bool = False) -> None:
    """The pool as light dots and its errors as crosses; as pixels, for there are many."""
    axis.scatter(
        *data.positions.T,
        s=_size(len(data)),
        color=GREY,
        alpha=0.3,
        linewidths=0,
        rasterized=True,
    )
    errors = data.positions[data.errors]
    # Pixels can't take the page's colour of text.
    is_ink = is_about_errors and len(errors) <= MOST_SHAPES
    axis.scatter(
        *errors.T,
        s=_size(len(errors)),
        color=INK if is_ink else GREY,
        alpha=1 if is_about_errors else 0.6,
        marker="x",
        linewidths=0.5,
        rasterized=not is_ink,
    )
    axis.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
    axis.spines[:].set_visible(False)
    axis.set_title(title, fontsize=8, parse_math=False)


def _size(n_points: int) -> float:
    """The more points, the smaller; in square points."""
    return float(np.clip(12_000 / max(n_points, 1), 1, 8))
