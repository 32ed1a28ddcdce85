"""The page: one file that opens without a network."""

from __future__ import annotations

import html
from collections.abc import Sequence

import pandas as pd

from benchmarks.report import performance
from benchmarks.report.interactive import plotly_script
from benchmarks.report.parts import Markup, Part, Section, Text
from benchmarks.report.results import Results
from benchmarks.report.tables import Table

STYLE = """
:root { color-scheme: light dark; --ink: #1b1c1e; --paper: #ffffff; --line: #d0d3d8;
  --soft: #f3f4f6; --link: #0b57a4 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e7e9; --paper: #15171a; --line: #3a3e45; --soft: #20242a; --link: #8ab8ec }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: auto; padding: 1rem; overflow-wrap: break-word }
a { color: var(--link) }
h1 { line-height: 1.2 } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
nav a { margin-right: 1rem; white-space: nowrap }
.note { background: var(--soft); padding: .5rem 1rem; border-left: 4px solid #D55E00 }
figure { margin: 1.5rem 0 } figure:has(> svg) { overflow-x: auto }
figure > svg { width: 100%; min-width: 34rem; max-width: 52rem; height: auto }
figcaption { font-size: .9rem; padding: .4rem 0; position: sticky; left: 0;
  max-width: calc(100vw - 2rem) }
.wide { overflow-x: auto }
.source { font-size: .75rem; margin: .3rem 0; opacity: .8 }
table { border-collapse: collapse; font-size: .9rem }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums }
@media print {
  :root { color-scheme: light; --ink: #000; --paper: #fff; --line: #bbb; --soft: #fff }
  nav { display: none } figure, tr { break-inside: avoid } .wide { overflow: visible }
  figure.table { break-inside: auto } figcaption { break-after: avoid } table { font-size: .7rem }
}
"""


def render(results: Results, sections: Sequence[Section]) -> str:
    """The whole page."""
    links = " ".join(f'<a href="#{s.name}">{html.escape(s.title)}</a>' for s in sections)
    parts = [part for section in sections for part in section.parts]
    script = plotly_script() if any(isinstance(part, Markup) for part in parts) else ""
    body = "\n".join(section.to_html() for section in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Query strategies compared</title>
<style>{STYLE}</style>
{script}
</head>
<body>
<h1>Query strategies compared</h1>
{_summary(results)}
{_missing(results)}
{_different_starts(results)}
<nav>{links}</nav>
{body}
</body>
</html>
"""


def _summary(results: Results) -> str:
    frame = results.rounds
    datasets, strategies = (sorted(set(frame[column])) for column in ("dataset", "strategy"))
    seeds = frame["seed"].nunique()
    text = (
        f"{len(strategies)} strategies on {', '.join(datasets) or 'no dataset'}, up to {seeds} "
        f"seed{'s' * (seeds != 1)}. Model: {results.encoder}. {'; '.join(results.versions)}."
    )
    items = "".join(f"<li>{html.escape(line)}</li>" for line in performance.in_short(results))
    return f"<p>{html.escape(text)}</p>\n<ul>{items}</ul>"


def _missing(results: Results) -> str:
    """Cells that are not done, with what went wrong."""
    unfinished, lacking = results.unfinished(), results.never_begun()
    if not unfinished and not lacking:
        return ""
    lines = [
        f"{cell}: {state.name}, {state.finished} of {cell.rounds + 1} rounds. {state.message}"
        for cell, state in unfinished
    ]
    lines += [f"{name}: never begun, though others of its setting were" for name in lacking]
    return _note(
        f"{len(lines)} cells are missing or not finished.",
        "Tables and curves use finished cells only; strategies are compared on the seeds that "
        "both have.",
        lines,
    )


def _different_starts(results: Results) -> str:
    """Seeds whose strategies share the warm-up set, and not the model that learned from it."""
    lines = results.different_starts()
    if not lines:
        return ""
    return _note(
        "Not all strategies at a seed start from the same model.",
        "Another machine or another version of a library trains another one, and the difference "
        "between strategies that started from different ones has the noise of both.",
        lines,
    )


def _note(title: str, text: str, lines: Sequence[str]) -> str:
    """What a reader should know of the numbers, with the details folded away."""
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return (
        f'<div class="note"><p><b>{title}</b> {text}</p>'
        f"<details><summary>Which</summary><ul>{items}</ul></details></div>"
    )


def data_section(results: Results) -> Section:
    """Statistics of the datasets, and what the numbers mean."""
    parts: list[Part] = []
    if results.statistics:
        frame = pd.DataFrame(results.statistics).set_index("name").T
        frame.index = [name.replace("_", " ") for name in frame.index]
        caption = (
            "The datasets as they were used. Repeated in train: rows whose text an earlier row "
            "has. Test in train: rows of test whose text is in train. They were left in."
        )
        frame = frame.rename_axis(columns=None).rename_axis("").reset_index()
        formats = {
            c: lambda v: f"{v:.3f}" if isinstance(v, float) else str(v) for c in frame.columns[1:]
        }
        parts.append(Table("data", caption, frame, formats))
    parts.append(
        Text(
            "A score is the mean over the rounds after the warm-up, of one seed. Strategies at a "
            "seed share the warm-up set and, if they ran on one machine, the first model, so they "
            "are compared seed by seed. Tests assume that seeds are independent draws of the "
            "warm-up set and of the training's randomness; the split of the data is the same for "
            "all of them."
        )
    )
    return Section("data", "Data and method", parts)
