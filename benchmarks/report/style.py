"""Colours, lines and fonts: one look for a strategy everywhere, on light and dark pages."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.figure import Figure

#: Okabe and Ito's colours, which colour-blind readers can tell apart, but for black and
#: yellow, which vanish on a dark or a light page.
COLOURS = ("#D55E00", "#888888", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")
LINES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: These have the same look in every report; all others come after them.
KNOWN = (
    *("real", "random", "margin", "entropy", "badge", "cal", "actune"),
    *("plm-km", "least-confidence", "real-pool", "real-soft", "bald"),
    *("real-uniform", "real-entropy", "real-cluster", "alps"),
)
#: The colour of text and axes, which the page replaces by its own.
INK = "#111213"
RC = {
    "svg.fonttype": "none",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}


@dataclass(frozen=True)
class Look:
    """How a strategy is drawn."""

    colour: str
    line: str
    marker: str


class Looks:
    """The look of every strategy of a report."""

    def __init__(self, strategies: Iterable[str]) -> None:
        others = sorted(set(strategies) - set(KNOWN))
        self._place = {name: place for place, name in enumerate((*KNOWN, *others))}

    def __getitem__(self, strategy: str) -> Look:
        place = self._place[strategy]
        lap, colour = divmod(place, len(COLOURS))
        return Look(
            COLOURS[colour],
            LINES[lap % len(LINES)],
            MARKERS[(colour + lap) % len(MARKERS)],
        )

    def colour(self, strategy: str) -> str:
        return self[strategy].colour

    def sorted(self, strategies: Iterable[str]) -> list[str]:
        """In the order of the report: known ones first."""
        return sorted(set(strategies), key=self._place.__getitem__)


def new_figure(width: float = 7.0, height: float = 4.0) -> Figure:
    """An empty figure; draw inside `rc_context(RC)`."""
    return Figure(figsize=(width, height))


def as_svg(figure: Figure, name: str) -> str:
    """A figure as an element of a page, in the page's colour of text."""
    stream = io.StringIO()
    with rc_context(RC | {"svg.hashsalt": name}):
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    svg = stream.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' id="[A-Za-z0-9]+_\d+"', "", svg)  # nothing refers to them, and pages have many
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return svg.replace(INK, "currentColor")
