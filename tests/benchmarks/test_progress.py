"""At a terminal there is a bar for the grid and a line for every round; logs tell the time left."""

import os
import pty
import re
import subprocess
import sys
import termios

from benchmarks.harness import progress
from benchmarks.harness.cells import Cell, State


def read_all(descriptor):
    chunks = []
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # the other side has closed
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks).decode()


def test_a_bar_and_a_line_a_round(command, tmp_path):
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 200))
    line = [sys.executable, "-m", "benchmarks", *command(tmp_path, strategy=("real", "random"))]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = read_all(ours)
    os.close(ours)
    assert process.wait() == 0, shown
    lines = re.findall(r"topics frozen (\S+) b=12 seed=0  round (\d) of 3: (\d+) labels", shown)
    expected = [(name, str(n), str(10 + 12 * n)) for name in ("real", "random") for n in range(4)]
    assert lines == expected
    assert re.search(r"rounds: 100%.*8/8 \[\d\d:\d\d<\d\d:\d\d", shown)


def test_the_time_left_goes_by_the_rounds_of_this_run(monkeypatch, capsys):
    clock = iter([100.0, 160.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    done, begun, waiting = (Cell("d", "frozen", "random", 10, 2, seed) for seed in range(3))
    states = {done: State("done", 3), begun: State("begun", 1), waiting: State("waiting", 0)}
    shown = progress.Progress(states)
    for number in (1, 2):  # 60 seconds for two of five rounds
        shown.round_done(begun, {"round": number, "n_labelled": 30, "accuracy": 0.5})
    assert capsys.readouterr().err == (
        "cell 2 of 3 done, about 01:30 left: d frozen random b=10 seed=1: 30 labels, "
        "accuracy 50.00 %\n"
    )
