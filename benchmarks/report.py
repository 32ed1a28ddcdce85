"""`python -m benchmarks report`: the results of a run as one page that opens anywhere."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from scipy import stats

from benchmarks.harness import results
from benchmarks.harness.cells import FULL
from benchmarks.harness.workspace import Workspace

mpl.use("Agg")
import matplotlib.pyplot as plt

#: Okabe and Ito's colours, which colour-blind readers can tell apart.
COLOURS = ("#D55E00", "#000000", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
LINES = ("-", "--", ":", "-.")
#: What the others are compared with, where it was run.
REFERENCES = ("random", "margin")
SETTING = ["dataset", "track", "batch_size"]


def run(directory: Path) -> int:
    """Collect what is there, and write report.html beside it."""
    workspace = Workspace(directory.resolve())
    frame = results.write(workspace)
    page = directory / "report.html"
    page.write_text(render(workspace, frame), encoding="utf-8")
    print(f"{len(frame)} rounds. Report: {page}")
    return 0


def half_width(values: Any) -> float:
    """Half of a 95 % t-interval for the mean; NaN for a single value."""
    if len(values) < 2:
        return float("nan")
    return float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))


def summarise(frame: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy and macro-F1 over the rounds after the warm-up, a row a strategy.

    `frame` has the finished cells of one setting. Differences are taken seed by seed.
    """
    after = frame[frame["round"] > 0]
    means = after.groupby(["strategy", "seed"])[["accuracy", "macro_f1"]].mean() * 100
    accuracy = means["accuracy"].unstack("seed")
    rows = []
    for name in accuracy.mean(axis=1).sort_values(ascending=False).index:
        row = {"strategy": name, "seeds": int(accuracy.loc[name].notna().sum())}
        row["accuracy"] = _interval(accuracy.loc[name])
        row["macro-F1"] = _interval(means["macro_f1"].loc[name])
        for reference in REFERENCES:
            if reference in accuracy.index:
                difference = accuracy.loc[name] - accuracy.loc[reference]
                row[f"minus {reference}"] = (
                    "" if name == reference else _interval(difference, signed=True)
                )
        seconds = after.loc[after["strategy"] == name, "query_seconds"].mean()
        row["query seconds"] = f"{seconds:.3f}"
        rows.append(row)
    return pd.DataFrame(rows)


def _interval(values: pd.Series, signed: bool = False) -> str:
    values = values.dropna()
    if values.empty:
        return ""
    mean = f"{values.mean():+.2f}" if signed else f"{values.mean():.2f}"
    return mean if len(values) < 2 else f"{mean} ± {half_width(values):.2f}"


def plot(frame: pd.DataFrame, full: float | None, order: Sequence[str]) -> Any:
    """Learning curves of one setting, with 95 % intervals over the seeds."""
    figure, axis = plt.subplots(figsize=(8, 4.5))
    means = []
    for name, rows in frame.groupby("strategy"):
        number = order.index(name)
        colour = COLOURS[number % len(COLOURS)]
        line = LINES[number // len(COLOURS) % len(LINES)]
        groups = rows.groupby("n_labelled")["accuracy"]
        mean, band = 100 * groups.mean(), 100 * groups.apply(half_width)
        means.append(mean)
        axis.plot(mean.index, mean, line, color=colour, label=name, marker="o", markersize=3)
        axis.fill_between(mean.index, mean - band, mean + band, color=colour, alpha=0.12)
    if full is not None:
        axis.axhline(100 * full, color="grey", linestyle=":", label="all labels")
    # Few seeds give bands that would leave the curves no room.
    lowest, highest = min(m.min() for m in means), max(m.max() for m in means)
    room = (highest - lowest or 1) / 4
    top = highest if full is None else max(highest, 100 * full)
    axis.set(xlabel="labels", ylabel="test accuracy, %", ylim=(lowest - room, top + room))
    axis.legend(fontsize=8, ncols=2)
    figure.tight_layout()
    return figure


def render(workspace: Workspace, frame: pd.DataFrame) -> str:
    """The whole page."""
    names = [name for name in dict.fromkeys(frame["strategy"]) if name != FULL]
    curves = frame[frame["strategy"] != FULL]
    full = frame[frame["strategy"] == FULL].groupby(["dataset", "track"])["accuracy"].mean()
    sections = [
        _section(setting, rows, full.get(setting[:2]), names)
        for setting, rows in curves.groupby(SETTING)
    ]
    return _page(
        [*_unfinished(workspace), *(sections or ["<p>No round is finished yet.</p>"])],
        _data_section(workspace),
        _facts(workspace, frame),
    )


def _section(
    setting: tuple[Any, ...], rows: pd.DataFrame, full: float | None, names: list[str]
) -> str:
    dataset, track, batch_size = setting
    last = rows.groupby(["strategy", "seed"])["round"].transform("max")
    whole = rows[last == last.max()]
    table = summarise(whole).to_html(index=False, border=0) if last.max() else ""
    title = html.escape(f"{dataset}, {track}, batches of {batch_size}")
    seeds = rows["seed"].nunique()
    ending = "" if full is None else f" With all labels: {100 * full:.2f}."
    return f"""<h2>{title}</h2>
<p>Mean over {int(last.max())} rounds after the warm-up of {rows["n_labelled"].min()} labels (test
part, %), up to {seeds} seed{"s" * (seeds != 1)}, ± half of a 95 % interval over the seeds. The
intervals are not corrected for the number of comparisons.{ending}</p>
<div class="wide">{table}</div>
<p>The curves show the mean over the seeds, the bands its 95 % interval.</p>
<img alt="Learning curves on {title}" src="{_picture(plot(rows, full, names))}">"""


def _picture(figure: Any) -> str:
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    plt.close(figure)
    return "data:image/png;base64," + base64.b64encode(picture.getvalue()).decode()


def _unfinished(workspace: Workspace) -> list[str]:
    """Cells that are not done, with what went wrong."""
    states = [(cell, workspace.cell(cell).state()) for cell in results.cells_on_disk(workspace)]
    lines = [
        f"<li>{html.escape(f'{cell}: {state.name} {state.message}')}</li>"
        for cell, state in states
        if state.name != "done"
    ]
    if not lines:
        return []
    return [f"<h2>Unfinished: {len(lines)} of {len(states)} cells</h2><ul>{''.join(lines)}</ul>"]


def _data_section(workspace: Workspace) -> str:
    frame = pd.DataFrame(workspace.statistics()).set_index("name").T
    frame.index = [name.replace("_", " ") for name in frame.index]
    return f"""<h2>Data</h2>
<p>“repeated in train” and “test in train” count rows whose very text stands in train as well;
they were left in.</p>
<div class="wide">{frame.to_html(border=0, float_format="{:.3f}".format)}</div>"""


def _facts(workspace: Workspace, frame: pd.DataFrame) -> str:
    encoder = Path(workspace.config()["encoder"]["name"]).name
    versions = "; ".join(dict.fromkeys(frame["versions"]))
    return f"<p>Encoder: {html.escape(encoder)}. {html.escape(versions)}.</p>"


def _page(sections: list[str], data: str, facts: str) -> str:
    body = "\n".join([*sections, data, facts])
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Query strategies compared</title>
<style>
  body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: auto; padding: 1rem }}
  img {{ max-width: 100% }}
  .wide {{ overflow-x: auto }}
  table {{ border-collapse: collapse }}
  th, td {{ padding: .2rem 1rem .2rem 0; text-align: left; border-bottom: 1px solid #ccc }}
</style>
<h1>Query strategies compared</h1>
{body}
</html>
"""
