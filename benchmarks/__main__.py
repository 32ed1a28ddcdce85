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
        "speed", help="time and memory of queries, of scoring texts and of training, as ratios"
    )
    speed.add_argument("--only", choices=["vectors", "texts"], help="only one half")
    speed.add_argument("--repeat", type=int, default=3, help="runs a case (default: 3)")
    speed.add_argument(
        "--threads", type=int, help="threads a case (default: 1 on vectors, all cores on texts)"
    )
    vectors = speed.add_argument_group("queries on vectors")
    vectors.add_argument(
        "--rows", type=int, nargs="+", default=[10_000, 100_000], help="sizes of the pools"
    )
    vectors.add_argument("--columns", type=int, default=768, help="dimensions (default: 768)")
    vectors.add_argument(
        "--embeddings",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE.npy",
        help="also measure on these real vectors, an (n, d) array a file",
    )
    texts = speed.add_argument_group("scoring and training on texts")
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

    options = vars(parser.parse_args(argv))
    if options.pop("command") == "digits":
        from benchmarks import digits

        return digits.run(**options)
    from benchmarks import speed as speed_benchmark

    return speed_benchmark.run(**options)


if __name__ == "__main__":
    raise SystemExit(main())
