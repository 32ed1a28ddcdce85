"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
import sys

# Threads that wait should sleep: two busy processes would slow each other down tenfold. It
# has to be said before any library starts its threads, and holds for all processes of a run.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from benchmarks.commands import COMMANDS
from benchmarks.errors import UsageError


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and run one command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare query strategies on texts, report what came out, measure speed.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for command in COMMANDS:
        command.add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        code: int = arguments.run(arguments)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return code


if __name__ == "__main__":
    raise SystemExit(main())
