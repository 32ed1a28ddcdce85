"""What is shown of a run: a bar and a line a round at a terminal, a line a cell in a log."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

from benchmarks.harness.cells import Cell, State


class Progress:
    """Follows the rounds of all cells, on standard error."""

    def __init__(self, states: dict[Cell, State]) -> None:
        self.n_cells = len(states)
        self.n_done = sum(state.name == "done" for state in states.values())
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
        is_last = record["round"] == cell.rounds
        self.n_done += is_last
        came_to = f"{record['n_labelled']} labels, accuracy {100 * record['accuracy']:.2f} %"
        if not self.bar.disable:
            line = f"{cell}  round {record['round']} of {cell.rounds}: {came_to}"
            tqdm.write(line, file=sys.stderr)
            self.bar.update()
        elif is_last:
            line = f"cell {self.n_done} of {self.n_cells} done: {cell}: {came_to}"
            print(line, file=sys.stderr, flush=True)

    def close(self) -> None:
        self.bar.close()
