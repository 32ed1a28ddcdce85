"""A table, as part of the page, as CSV and as LaTeX."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

Format = Callable[[object], str]
#: Marks of a cell: the best mean, told apart from all others or not, and what it ties with.
BEST, BEST_TIED, TIED = "best", "best, tied", "tied"
_LATEX = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    **{"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"},
    **{"±": r"$\pm$", "ε": r"$\varepsilon$", "ℓ": r"$\ell$", "₀": "$_0$"},  # noqa: RUF001
}


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with a name, a caption, and a format for every column that needs one.

    `marks` has an entry where a cell is the best of its kind, or not significantly worse
    than that. `source` says where the numbers are from: seeds, model and versions.
    """

    name: str
    caption: str
    frame: pd.DataFrame
    formats: dict[str, Format] = field(default_factory=dict)
    marks: pd.DataFrame | None = None
    source: str = ""

    def to_html(self) -> str:
        """An element with a caption; wide ones scroll."""
        head = "".join(f"<th>{html.escape(heading)}</th>" for heading in self._headings())
        rows = "".join(f"<tr>{self._html_row(row)}</tr>\n" for row in range(len(self.frame)))
        return (
            f'<figure class="table" id="{self.name}"><figcaption>{html.escape(self.caption)}'
            f'</figcaption>\n<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n'
            f'<tbody>{rows}</tbody></table></div>\n<p class="source">{html.escape(self.source)}'
            "</p></figure>"
        )

    def _headings(self) -> list[str]:
        return [str(column).replace("batch_size", "batch size") for column in self.frame]

    def _html_row(self, row: int) -> str:
        cells = []
        for column in self.frame:
            text = html.escape(self._text(row, column))
            mark = self._mark(row, column)
            if mark in (BEST, BEST_TIED):
                text = f"<b>{text}</b>"
            if mark in (TIED, BEST_TIED):
                text += "<sup>*</sup>"
            kind = ' class="number"' if self._is_number(column) else ""
            cells.append(f"<td{kind}>{text}</td>")
        return "".join(cells)

    def to_latex(self) -> str:
        """A table environment for booktabs."""
        columns = "".join("r" if self._is_number(column) else "l" for column in self.frame)
        lines = [" & ".join(_latex(heading) for heading in self._headings())]
        for row in range(len(self.frame)):
            lines.append(" & ".join(self._latex_cell(row, column) for column in self.frame))
        head, *body = (f"{line} \\\\" for line in lines)
        return "\n".join(
            [
                r"\begin{table}",
                rf"\caption{{{_latex(f'{self.caption} {self.source}'.strip())}}}",
                rf"\label{{tab:{self.name}}}",
                rf"\begin{{tabular}}{{{columns}}}",
                *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
                r"\end{tabular}",
                r"\end{table}",
                "",
            ]
        )

    def _latex_cell(self, row: int, column: str) -> str:
        text, mark = _latex(self._text(row, column)), self._mark(row, column)
        if mark in (BEST, BEST_TIED):
            text = rf"\textbf{{{text}}}"
        return text + "$^*$" if mark in (TIED, BEST_TIED) else text

    def write(self, folder: Path) -> None:
        """Both files; the CSV has the numbers as they are, and the marks beside them."""
        folder.mkdir(parents=True, exist_ok=True)
        frame = self.frame
        if self.marks is not None:
            marked = self.marks.loc[:, (self.marks != "").any()]
            frame = frame.join(marked.add_suffix(" mark"))
        frame.to_csv(folder / f"{self.name}.csv", index=False)
        (folder / f"{self.name}.tex").write_text(self.to_latex(), encoding="utf-8")

    def _text(self, row: int, column: str) -> str:
        value = self.frame[column].iloc[row]
        if not isinstance(value, str) and pd.isna(value):
            return ""
        return self.formats.get(column, str)(value)

    def _mark(self, row: int, column: str) -> str:
        if self.marks is None or column not in self.marks:
            return ""
        return str(self.marks[column].iloc[row])

    def _is_number(self, column: str) -> bool:
        return self.frame[column].dtype.kind in "iuf" or column in self.formats


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def fixed(digits: int, signed: bool = False) -> Format:
    """Numbers with so many digits after the point."""
    return lambda value: f"{value:{'+' if signed else ''}.{digits}f}"


def p_value(value: object) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
