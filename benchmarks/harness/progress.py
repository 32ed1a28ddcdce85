"""What is shown of a run: a bar and a line a round at a terminal, a line a cell in a log."""

from __future__ import annotations

import sys
import time
from typing import Any

from tqdm import tqdm

from benchmarks.harness.cells import Cell, State


class Progress:
    """Follows the rounds of all cells, on standard error."""

    def __init__(self, states: dict[Cell, State]) -> None:
        self.n_cells = len(states)
        self.n_done = sum(state.name == "done" for state in states.values())
        n_rounds = sum(cell.rounds + 1 for cell in states)
        n_finished = sum(state.finished for state in states.values())
        self.n_rounds_left = n_rounds - n_finished
        self.n_rounds_here = 0
        self.started = time.monotonic()
        self.bar = tqdm(
            total=n_rounds,
            initial=n_finished,
            desc="rounds",
            unit="round",
            smoothing=0.05,
            disable=None,  # unless standard error is a terminal
        )

    def round_done(self, cell: Cell, record: dict[str, Any]) -> None:
        """Count a finished round, and say what it came to."""
        is_last = record["round"] == cell.rounds
        self.n_done += is_last
        self.n_rounds_left -= 1
        self.n_rounds_here += 1
        came_to = f"{record['n_labelled']} labels, accuracy {100 * record['accuracy']:.2f} %"
        if not self.bar.disable:
            line = f"{cell}  round {record['round']} of {cell.rounds}: {came_to}"
            tqdm.write(line, file=sys.stderr)
            self.bar.update()
        elif is_last:
            done = f"cell {self.n_done} of {self.n_cells} done, about {self.time_left()} left"
            print(f"{done}: {cell}: {came_to}", file=sys.stderr, flush=True)

    def time_left(self) -> str:
        """How long the rest takes at the pace so far, such as 1:02:03 or 02:03."""
        seconds = (time.monotonic() - self.started) / self.n_rounds_here * self.n_rounds_left
        return tqdm.format_interval(seconds)

    def close(self) -> None:
        self.bar.close()
