"""`python -m benchmarks report`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("report", help="what a run found, as one page")
    parser.set_defaults(run=run)
    parser.add_argument("directory", type=Path, metavar="DIR", help="the --out of a run")
    parser.add_argument(
        "--paper-figures", type=Path, metavar="DIR", help="also write the figures as PDF and PNG"
    )


def run(arguments: argparse.Namespace) -> int:
    from benchmarks import report

    return report.run(arguments.directory, arguments.paper_figures)
