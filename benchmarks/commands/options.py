"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_data_options(parser: Any) -> None:
    group = parser.add_argument_group("data")
    group.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="folder of the paper's datasets, DIR/NAME/train.jsonl and so on (default: the "
        "Hugging Face hub)",
    )
    group.add_argument("--text-column", metavar="NAME", help='of your own files (default: "text")')
    group.add_argument(
        "--label-column", metavar="NAME", help='of your own files (default: "label")'
    )
    group.add_argument(
        "--train-limit", type=positive, metavar="N", help="draw at most N rows of train"
    )
    group.add_argument(
        "--validation-limit", type=positive, metavar="N", help="and at most N of validation"
    )
    group.add_argument(
        "--split-seed", type=int, default=0, metavar="SEED", help="of these draws (default: 0)"
    )


def data_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_data_options` as arguments of `benchmarks.data.load`."""
    names = (
        *("data_dir", "text_column", "label_column"),
        *("train_limit", "validation_limit", "split_seed"),
    )
    return {name: getattr(arguments, name) for name in names}


def positive(text: str) -> int:
    """An integer of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def positive_or_auto(text: str) -> int | str:
    """An integer of at least 1, or "auto"."""
    return text if text == "auto" else positive(text)


def seeds(text: str) -> list[int]:
    """Seeds by their number ("5": 0 to 4), as a range ("3-7") or as a list ("3,8")."""
    try:
        if "," in text or "-" in text:
            found: list[int] = []
            for part in text.strip(",").split(","):
                first, _, last = part.partition("-")
                found += range(int(first), int(last or first) + 1)
        else:
            found = list(range(int(text)))
    except ValueError:
        found = []
    if not found:
        raise argparse.ArgumentTypeError(
            f"{text!r} are no seeds; give their number (5), a range (0-4; 0-0 is seed 0 alone) "
            "or a list (3,8)"
        )
    return found
