"""Command line of the benchmarks."""

from __future__ import annotations

import argparse
from pathlib import Path


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and run one benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare REAL with other strategies, and measure its speed.",
    )
    commands = parser.add_subparsers(dest="command", required=True)

    digits = commands.add_parser(
        "digits", help="REAL against random, margin and entropy on scikit-learn's digits"
    )
    digits.add_argument("--out", type=Path, default=Path("bench-results"), metavar="DIR")
    digits.add_argument("--seeds", type=int, default=10, help="repetitions (default: 10)")
    digits.add_argument("--rounds", type=int, default=8, help="batches to label (default: 8)")
    digits.add_argument("--batch", type=int, default=20, help="labels a round (default: 20)")

    speed = commands.add_parser(
        "speed", help="time, memory and inertia of a query, side by side with others"
    )
    speed.add_argument(
        "--rows", type=int, nargs="+", default=[10_000, 100_000], help="sizes of the pools"
    )
    speed.add_argument("--columns", type=int, default=768, help="dimensions of generated vectors")
    speed.add_argument(
        "--embeddings",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE.npy",
        help="also measure on these real vectors, an (n, d) array a file",
    )
    speed.add_argument("--repeat", type=int, default=3, help="runs a case (default: 3)")
    speed.add_argument("--threads", type=int, default=1, help="threads a case (default: 1)")

    options = vars(parser.parse_args(argv))
    command = options.pop("command")
    if command == "digits":
        from benchmarks import digits as benchmark
    else:
        from benchmarks import speed as benchmark
    return benchmark.run(**options)


if __name__ == "__main__":
    raise SystemExit(main())
