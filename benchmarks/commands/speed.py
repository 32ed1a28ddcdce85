"""`python -m benchmarks speed`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "speed", help="time and memory of queries, of scoring texts and of training, as ratios"
    )
    parser.set_defaults(run=run)
    parser.add_argument("--only", choices=["vectors", "texts"], help="only one half")
    parser.add_argument("--repeat", type=int, default=3, help="runs a case (default: 3)")
    parser.add_argument(
        "--threads", type=int, help="threads a case (default: 1 on vectors, all cores on texts)"
    )
    parser.add_argument(
        "--label",
        type=int,
        nargs="?",
        const=100_000,
        metavar="N",
        help="only this: a first and a second `real-plugin suggest` on N texts (default: 100000)",
    )
    vectors = parser.add_argument_group("queries on vectors")
    vectors.add_argument(
        "--rows", type=int, nargs="+", default=[10_000, 100_000], help="sizes of the pools"
    )
    vectors.add_argument(
        "--columns", type=int, help="dimensions (default: 768, or 384 with --scale)"
    )
    vectors.add_argument(
        "--embeddings",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE.npy",
        help="also measure on these real vectors, an (n, d) array a file",
    )
    scale = parser.add_argument_group("queries on pools in files")
    scale.add_argument(
        "--scale",
        type=int,
        nargs="*",
        metavar="ROWS",
        help="measure these instead, on one process and on a local Dask cluster "
        "(default: 100000 1000000 10000000, the last needs 8 GB of disk)",
    )
    scale.add_argument(
        "--folder", type=Path, help="where the files go while they are needed (default: temporary)"
    )
    texts = parser.add_argument_group("scoring and training on texts")
    texts.add_argument(
        "--encoder",
        default="minilm",
        metavar="NAME_OR_FOLDER",
        help="pretrained encoder (default: minilm)",
    )
    texts.add_argument(
        "--texts",
        type=Path,
        metavar="FILE.jsonl",
        help='lines with "text" and "label" (default: docstrings of installed packages)',
    )
    texts.add_argument("--limit", type=int, default=2000, help="texts to score (default: 2000)")
    texts.add_argument("--max-length", type=int, default=96, help="tokens a text (default: 96)")


def run(arguments: argparse.Namespace) -> int:
    from benchmarks import speed

    options = vars(arguments)
    for name in ("command", "run"):
        del options[name]
    return speed.run(**options)
