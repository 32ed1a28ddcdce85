"""What a person at a terminal sees of a run; nothing is shown elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

from benchmarks.harness.cells import Cell, State


class Progress:
    """One bar over the rounds of all cells, and a line for every round that finishes."""

    def __init__(self, states: dict[Cell, State]) -> None:
        self.bar = tqdm(
            total=sum(cell.rounds + 1 for cell in states),
            initial=sum(state.finished for state in states.values()),
            desc="rounds",
            unit="round",
            smoothing=0.05,
            disable=None,  # unless standard error is a terminal
        )

    def round_done(self, cell: Cell, record: dict[str, Any]) -> None:
        """Count a finished round, and say what it came to."""
        if self.bar.disable:
            return
        tqdm.write(
            f"{cell}  round {record['round']} of {cell.rounds}: {record['n_labelled']} labels, "
            f"accuracy {100 * record['accuracy']:.2f} %",
            file=sys.stderr,
        )
        self.bar.update()

    def close(self) -> None:
        self.bar.close()
