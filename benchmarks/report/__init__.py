"""`python -m benchmarks report`: what a run found, as one page that opens anywhere."""

from __future__ import annotations

from pathlib import Path

from benchmarks.harness.files import storing
from benchmarks.report import ablation, cost, errors, page, performance, side_by_side
from benchmarks.report.parts import Picture, Section
from benchmarks.report.results import Results, load
from benchmarks.report.style import Looks
from benchmarks.report.tables import Table


def run(directory: Path, paper_figures: Path | None = None) -> int:
    """Write report.html and tables/ into the directory, and figures where asked."""
    results = load(directory)
    sections = make_sections(results)
    parts = [part for section in sections for part in section.parts]
    with storing(directory):
        (directory / "report.html").write_text(page.render(results, sections), encoding="utf-8")
        for table in (part for part in parts if isinstance(part, Table)):
            table.write(directory / "tables")
        (directory / "tables" / "source.txt").write_text(results.source + "\n", encoding="utf-8")
    print(f"{len(results.frame)} rounds. Report: {directory / 'report.html'}")
    if paper_figures is not None:
        pictures = [part for part in parts if isinstance(part, Picture)]
        with storing(paper_figures):
            for picture in pictures:
                picture.write(paper_figures)
        print(f"{len(pictures)} figures as PDF and PNG: {paper_figures}")
    return 0


def make_sections(results: Results) -> list[Section]:
    """The report, section by section."""
    looks = Looks([*results.frame["strategy"], *ablation.families(results)])
    sections = [
        performance.section(results, looks),
        errors.section(results, looks),
        ablation.section(results, looks),
        cost.section(results, looks),
        side_by_side.section(results),
        page.data_section(results),
    ]
    return [section.with_source(results.source) for section in sections]
