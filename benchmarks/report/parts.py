"""What a page is made of."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.report.style import as_svg
from benchmarks.report.tables import Table


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure with a name and a caption."""

    name: str
    caption: str
    figure: Figure

    def to_html(self) -> str:
        return (
            f'<figure id="{self.name}">{as_svg(self.figure, self.name)}'
            f"<figcaption>{html.escape(self.caption)}</figcaption></figure>"
        )

    def write(self, folder: Path) -> None:
        """As PDF and as PNG."""
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in ("pdf", "png"):
            metadata = {"CreationDate": None} if suffix == "pdf" else {}
            self.figure.savefig(folder / f"{self.name}.{suffix}", dpi=200, metadata=metadata)


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text; what stands between backticks is code."""

    text: str

    def to_html(self) -> str:
        text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(self.text))
        return f"<p>{text}</p>"


@dataclass(frozen=True)
class Markup:
    """What is HTML already."""

    html: str

    def to_html(self) -> str:
        return self.html


Part = Table | Picture | Text | Markup


@dataclass(frozen=True, eq=False)
class Section:
    """A heading and what stands below it."""

    name: str
    title: str
    parts: Sequence[Part] = field(default_factory=tuple)

    def with_source(self, source: str) -> Section:
        """The same with tables that say where their numbers are from."""
        parts = [replace(p, source=source) if isinstance(p, Table) else p for p in self.parts]
        return replace(self, parts=parts)

    def to_html(self) -> str:
        body = "\n".join(part.to_html() for part in self.parts)
        return f'<section id="{self.name}"><h2>{html.escape(self.title)}</h2>\n{body}</section>'


def slug(*words: object) -> str:
    """A name for files and anchors."""
    text = "-".join(str(word) for word in words)
    return "".join(char if char.isalnum() or char in "-_" else "-" for char in text)
