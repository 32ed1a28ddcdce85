"""`python -m benchmarks list`."""

from __future__ import annotations

import argparse
from typing import Any

from benchmarks.commands.options import add_data_options, data_options


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("list", help="the datasets or the strategies there are")
    parser.set_defaults(run=run)
    parser.add_argument("what", choices=["datasets", "strategies"])
    parser.add_argument(
        "--dataset",
        nargs="+",
        metavar="NAME_OR_PATH",
        help="datasets to describe (default: all that have a name)",
    )
    add_data_options(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.what == "strategies":
        from benchmarks.strategies import listing

        print(listing())
        return 0
    from benchmarks.data import NAMES, describe

    print(describe(arguments.dataset or NAMES, **data_options(arguments)))
    return 0
