"""The pool on a page: every text a dot, with what the model says of it and who picked it."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs

from benchmarks.report.maps import Colour, MapData
from real_plugin import Selection
from real_plugin._html import script_json

#: Dots of a map, which browsers draw as shapes: this many still move well.
MOST_ROWS = 5000
#: Characters of a text.
MOST_CHARACTERS = 200
_HERE = Path(__file__).parent


def plotly_script() -> str:
    """What the maps of a page share; goes into its head."""
    style, draw = (
        (_HERE / f"interactive.{ending}").read_text(encoding="utf-8") for ending in ("css", "js")
    )
    return f"<style>{style}</style>\n<script>{get_plotlyjs()}</script>\n<script>{draw}</script>"


def interactive_map(data: MapData, colour: Colour, preferred: str = "real") -> str:
    """A figure of a page that has `plotly_script`.

    The picks of the `preferred` strategy are shown at first, and its clusters; if it is not
    there, the first strategy's that has any.
    """
    rows = shown_rows(data)
    caption = html.escape(_caption(data, rows))
    return (
        f'<figure><div class="pool-map"></div>\n'
        "<script>drawPoolMap(document.currentScript.previousElementSibling, "
        f"{script_json(_payload(data, rows, colour, preferred))})</script>\n"
        f"<figcaption>{caption}</figcaption></figure>"
    )


def shown_rows(data: MapData) -> NDArray[np.int64]:
    """Positions in the pool: all picks, and as many others as a browser can draw.

    If there are more, errors are up to half of the others.
    """
    is_picked = np.zeros(len(data), dtype=bool)
    for picks in data.picks.values():
        is_picked[picks] = True
    wrong = np.flatnonzero(~is_picked & data.errors)
    right = np.flatnonzero(~is_picked & ~data.errors)
    room = max(0, MOST_ROWS - int(is_picked.sum()))
    n_wrong = min(len(wrong), max(room // 2, room - len(right)))
    n_right = min(len(right), room - n_wrong)
    rng = np.random.default_rng(data.seed)
    samples = [rng.permutation(wrong)[:n_wrong], rng.permutation(right)[:n_right]]
    return np.sort(np.concatenate([np.flatnonzero(is_picked), *samples]))


def _caption(data: MapData, rows: NDArray[np.int64]) -> str:
    caption = (
        f"The pool of {data.dataset} ({data.track}, seed {data.seed}) when the first batch is "
        "picked, text by text: point at a dot or tap it to read the text, what the model says of "
        "it, and why it was picked. Drag to zoom in, double-click to zoom out."
    )
    if len(rows) < len(data):
        wrong, shown = data.errors.sum(), data.errors[rows].sum()
        caption += (
            f" Of {len(data):,} texts {len(rows):,} are drawn: all picks, and samples of the "
            f"others, so that {shown:,} of the {wrong:,} wrong ones are there and "
            f"{len(rows) - shown:,} of the {len(data) - wrong:,} right ones."
        )
    return caption


def _payload(
    data: MapData, rows: NDArray[np.int64], colour: Colour, preferred: str
) -> dict[str, Any]:
    """What the script draws; picks are positions in `rows`."""
    first = preferred if preferred in data.picks else next(iter(data.picks), None)
    x, y = np.round(data.positions[rows].astype(float), 2).T
    strategies = [
        {
            "name": name,
            "colour": colour(name),
            "rows": np.searchsorted(rows, picks).tolist(),
            "reasons": data.reasons(name),
            "on": name == first,
        }
        for name, picks in data.picks.items()
    ]
    return {
        "classes": [str(name) for name in data.classes],
        "x": x.tolist(),
        "y": y.tolist(),
        "texts": [_cut(data.texts[row]) for row in rows],
        "predicted": data.predicted[rows].tolist(),
        "confidence": np.round(data.confidence[rows].astype(float), 3).tolist(),
        "truth": data.truth[rows].tolist(),
        "strategies": sorted(strategies, key=lambda strategy: not strategy["on"]),
        **_clusters(data, rows, preferred),
    }


def _clusters(data: MapData, rows: NDArray[np.int64], preferred: str) -> dict[str, Any]:
    """The cluster of every row and a line on each, where there are clusters."""
    name = preferred if preferred in data.selections else next(iter(data.selections), None)
    if name is None:
        return {}
    selection = data.selections[name]
    lines = [
        _cluster_line(name, selection, number, data.classes)
        for number in range(len(selection.clusters))
    ]
    return {"cluster": selection.assignment[rows].tolist(), "clusters": lines}


def _cluster_line(name: str, selection: Selection, number: int, classes: tuple[str, ...]) -> str:
    clusters = selection.clusters
    called = classes[clusters.pseudo_label[number]]
    n_picks = np.sum(selection.cluster == number)
    return (
        f"Cluster {number} of {name}: {clusters.size[number]} texts, called {called} most often, "
        f"{clusters.pseudo_errors[number]} pseudo errors, {n_picks} of {len(selection)} picks"
    )


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS].rstrip()}…"
