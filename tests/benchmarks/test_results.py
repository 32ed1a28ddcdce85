"""The results that the repository keeps."""

from pathlib import Path

import pandas as pd
import pytest

from benchmarks.harness.results import COLUMNS
from benchmarks.harness.workspace import Workspace
from results import figure, tables

ROOT = Path(__file__).parents[2] / "results"
KEPT = sorted(file.parent for file in ROOT.glob("*/results.parquet"))


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: folder.name)
def test_cells_are_whole_and_name_no_machine(folder):
    frame = pd.read_parquet(folder / "results.parquet")
    assert list(frame.columns) == list(COLUMNS)
    cells = frame.groupby(["dataset", "track", "strategy", "batch_size", "seed"])["round"]
    assert (cells.nunique() == cells.max() + 1).all()
    assert not Path(Workspace(folder).config()["encoder"]["name"]).is_absolute()


@pytest.mark.parametrize("name", ["README.md", "docs/results.md"])
def test_pages_say_what_the_results_do(name):
    page = (ROOT.parent / name).read_text(encoding="utf-8")
    assert "<!-- table: " in page
    assert page == tables.fill(page), f"run: python -m results.tables {name}"


def test_a_table_is_written_below_its_mark(monkeypatch):
    found = pd.DataFrame({"sst2": ["1.0", None]}, index=["`real`", "`random`"])
    monkeypatch.setitem(tables.TABLES, "gains", lambda: found.rename_axis("minus `margin`"))
    page = "Before.\n\n<!-- table: gains -->\n{}\nAfter.\n\n| other | table |\n"
    now = "| minus `margin` | sst2 |\n| --- | --- |\n| `real` | 1.0 |\n| `random` |  |\n"
    for before in ("", "| old |\n", now):
        assert tables.fill(page.format(before)) == page.format(now)


def test_the_figure_shows_gains_over_random():
    frame = pd.DataFrame(
        [
            (dataset, name, seed, labels, 0.5 + 0.01 * place + 0.1 * seed)
            for dataset in figure.DATASETS
            for place, name in enumerate([figure.REFERENCE, *figure.LOOKS])
            for seed in range(3)
            for labels in (10, 20)
        ],
        columns=["dataset", "strategy", "seed", "n_labelled", "accuracy"],
    )
    gains = figure.gains(frame[frame["dataset"] == "snips"])
    assert gains.groupby("n_labelled").mean().round(6).loc[20].to_dict() == {
        name: float(place) for place, name in enumerate([figure.REFERENCE, *figure.LOOKS])
    }
    axes = figure.picture(frame).axes
    assert [panel.get_title() for panel in axes] == list(figure.DATASETS)
    assert len(axes[0].lines) == len(figure.LOOKS) + 1
