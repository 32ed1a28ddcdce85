"""The page of `explain`: the pool on a map, and the picks with their reasons.

One file that opens without a network. Whatever comes from the user's files is escaped in the
HTML, and in the data it is JSON that no text can end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from real_plugin._html import script_json
from real_plugin.labeling.console import count, percent, shortened
from real_plugin.labeling.rounds import Round
from real_plugin.labeling.strategies import IntArray

#: Colours that colour-blind readers tell apart (Okabe and Ito), then some more.
PALETTE = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A800"),
    *("#7A5195", "#8C564B", "#5C7F00"),
)
LABELLED, PSEUDO_ERROR, PICK = 1, 2, 3
KINDS = {
    0: "• not labelled",
    LABELLED: "○ labelled",
    PSEUDO_ERROR: "\u00d7 pseudo errors",
    PICK: "● picks",
}
MOST_CHARACTERS = 200
_HERE = Path(__file__).parent


@dataclass(frozen=True, eq=False)
class MapRows:
    """The rows of a round that the map shows: where they lie, and how that was found."""

    rows: IntArray  #: of the round's pool, rising
    positions: NDArray[np.float64]
    method: str


def render(kept: Round, texts: Mapping[str, str], shown: MapRows, title: str) -> str:
    """The whole page; `texts` has the text of every shown row by its id."""
    style, script = (
        (_HERE / f"page.{ending}").read_text(encoding="utf-8") for ending in ("css", "js")
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(_summary(kept))}</p>
<div class="controls">{_controls(kept)}</div>
<figure><canvas role="img" aria-label="Map of the pool"></canvas><div class="tip" hidden></div>
<div class="legend"></div>
<figcaption>{escape(_caption(kept, shown))}</figcaption></figure>
<h2>The batch</h2>
<ol class="picks">
{_picks(kept, texts)}
</ol>
<script type="application/json" id="map">{script_json(_payload(kept, texts, shown))}</script>
<script>{script}</script>
</body>
</html>
"""


def _summary(kept: Round) -> str:
    about = kept.about
    labels = f"{count(about['labels'], 'label')} so far"
    text = f"{count(len(kept.picks), 'pick')} of {len(kept.ids):,} texts, by {about['strategy']}; "
    if not kept.has_model:
        return text + f"{labels}, not enough to train a model: texts from all over the pool."
    kind = "fine-tuned" if about["finetuned"] else "frozen, with a linear head"
    text += f"{labels}; model: {about['encoder']}, {kind}."
    total = int(kept.pseudo_errors.sum())
    if kept.about["clusters"]:
        text += (
            f" {count(total, 'pseudo error')}: texts that the model calls otherwise than most of "
            "their cluster."
        )
    return text


def _controls(kept: Round) -> str:
    boxes = "".join(
        f'<label><input type="checkbox" data-kind="{kind}" checked> {name}</label>'
        for kind, name in KINDS.items()
    )
    options = "".join(
        f'<option value="{number}">{escape(line)}</option>' for number, line in _clusters(kept)
    )
    return (
        f'{boxes}<select id="cluster" aria-label="Cluster"><option value="-1">all clusters'
        f"</option>{options}</select>"
        '<span><button id="in" aria-label="zoom in">+</button> '
        '<button id="out" aria-label="zoom out">&minus;</button> '
        '<button id="all">all</button></span>'
    )


def _clusters(kept: Round) -> list[tuple[int, str]]:
    """Clusters by the weight of their pseudo errors, a line each."""
    lines = _cluster_lines(kept)
    density = np.array(kept.about["clusters"].get("density", []))
    return [(int(number), lines[number]) for number in np.argsort(-density, kind="stable")]


def _cluster_lines(kept: Round) -> list[str]:
    clusters = kept.about["clusters"]
    lines = []
    for number, size in enumerate(clusters.get("size", [])):
        line = f"Cluster {number}: {count(size, 'text')}"
        if kept.has_model:
            name = shortened(kept.classes[clusters["pseudo_label"][number]], 30)
            line += (
                f", most called {name}, {count(clusters['pseudo_errors'][number], 'pseudo error')}"
            )
        n_picks = int((kept.cluster[kept.picks] == number).sum())
        lines.append(f"{line}, {count(n_picks, 'pick')}")
    return lines


def _caption(kept: Round, shown: MapRows) -> str:
    method = {
        "tsne": "t-SNE of the encoder's vectors: neighbours are alike, distances far apart say "
        "little",
        "pca": "the first two principal components of the encoder's vectors",
    }[shown.method]
    text = (
        f"Every mark is a text, its colour the class that the model predicts. Positions: {method}."
    )
    if kept.about["finetuned"]:
        text += " These are of the encoder before its fine-tuning, the clusters of it afterwards."
    if len(shown.rows) < len(kept.ids):
        text += (
            f" {len(shown.rows):,} of {len(kept.ids):,} texts are drawn: all picks, and samples "
            "of pseudo errors and of the rest."
        )
    return text + " Point at a mark or tap it to read it; drag, turn the wheel or use + to zoom."


def _picks(kept: Round, texts: Mapping[str, str]) -> str:
    items = []
    for row, reason in zip(kept.picks.tolist(), kept.reasons, strict=True):
        key = str(kept.ids[row])
        guess = ""
        if kept.has_model:
            name = escape(kept.classes[kept.predicted[row]])
            guess = f"<p><b>{name}</b> ({percent(kept.confidence[row])})</p>"
        items.append(
            f'<li tabindex="0"><p class="text">{escape(texts.get(key, key))}</p>{guess}'
            f'<p class="quiet">{escape(reason)} <span>id {escape(key)}</span></p></li>'
        )
    return "\n".join(items)


def _payload(kept: Round, texts: Mapping[str, str], shown: MapRows) -> dict[str, Any]:
    """What the script draws; picks are positions among the shown rows."""
    kind = np.zeros(len(kept.ids), dtype=int)
    kind[kept.labelled] = LABELLED
    kind[kept.pseudo_errors] = PSEUDO_ERROR
    kind[kept.picks] = PICK
    rows = shown.rows
    x, y = np.round(shown.positions.astype(float), 2).T
    return {
        "classes": [shortened(name, 40) for name in kept.classes] if kept.has_model else [],
        "palette": PALETTE,
        "x": x.tolist(),
        "y": y.tolist(),
        "texts": [shortened(texts.get(str(kept.ids[row]), ""), MOST_CHARACTERS) for row in rows],
        "predicted": kept.predicted[rows].tolist(),
        "confidence": np.round(kept.confidence[rows].astype(float), 3).tolist(),
        "cluster": kept.cluster[rows].tolist(),
        "kind": kind[rows].tolist(),
        "clusters": _cluster_lines(kept),
        "picks": np.searchsorted(rows, kept.picks).tolist(),
    }
