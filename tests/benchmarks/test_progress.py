"""At a terminal there is a bar for the grid and a line for every round."""

import os
import pty
import re
import subprocess
import sys
import termios


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
