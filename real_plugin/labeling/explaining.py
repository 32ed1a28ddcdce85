"""The page of a round, with the map that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from real_plugin.labeling.console import say
from real_plugin.labeling.model import standardise
from real_plugin.labeling.page import MapRows, render
from real_plugin.labeling.projection import project, sample
from real_plugin.labeling.rounds import Round
from real_plugin.labeling.tables import write_bytes
from real_plugin.labeling.vectors import VectorStore


def write_page(
    out: Path | None, kept: Round, texts: Mapping[str, str], store: VectorStore, method: str
) -> None:
    """Write the page to a file, or to stdout if `out` is None.

    Rows whose text is no longer in the pool are left out of the map.
    """
    rows = np.array([row for row in sample(kept) if str(kept.ids[row]) in texts], dtype=np.int64)
    missing = sum(str(key) not in texts for key in kept.ids[kept.picks])
    if missing:
        say(f"{missing} of the picks are no longer in the pool; they are listed by their ids")
    vectors, _ = standardise(store.vectors([texts[str(kept.ids[row])] for row in rows]), len(rows))
    shown = MapRows(rows, project(vectors, method, kept.about["seed"]), method)
    page = render(kept, texts, shown, f"What to label next: {Path(kept.about['pool']).name}")
    write_bytes(out, page.encode())
    say(f"wrote {'the page to stdout' if out is None else out}")
