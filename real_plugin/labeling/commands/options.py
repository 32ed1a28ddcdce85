"""Options that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from real_plugin.labeling.columns import Columns
from real_plugin.labeling.strategies import STRATEGIES

ENCODER, MAX_LENGTH, STRATEGY = "minilm", 96, "real"


def add_project_option(parser: Any) -> None:
    parser.add_argument(
        "--project",
        type=Path,
        metavar="DIR",
        help="the project's folder (default: the current one, if it is a project)",
    )


def add_column_options(parser: Any) -> None:
    group = parser.add_argument_group(
        "columns", "guessed from their names if not given; the guesses are printed"
    )
    group.add_argument("--text-column", metavar="NAME", help="the texts")
    group.add_argument(
        "--id-column",
        metavar="NAME",
        help="what a row is known by (- for none: then it is known by its text)",
    )
    group.add_argument("--label-column", metavar="NAME", help="the labels (- for none)")
    group.add_argument(
        "--encoding", metavar="NAME", help="of text files, such as latin-1 (default: UTF-8)"
    )


def given_columns(arguments: argparse.Namespace) -> Columns:
    """The columns that were named."""
    return Columns(arguments.text_column, arguments.label_column, arguments.id_column)


def add_model_options(parser: Any) -> None:
    group = parser.add_argument_group("the model")
    group.add_argument(
        "--encoder",
        metavar="NAME_OR_FOLDER",
        help=f"pretrained encoder: minilm, a folder, or a name on the hub (default: {ENCODER})",
    )
    group.add_argument(
        "--max-length",
        type=positive,
        metavar="N",
        help=f"tokens a text; longer ones are cut off (default: {MAX_LENGTH})",
    )
    group.add_argument(
        "--finetune",
        action="store_true",
        help="train the whole encoder instead of a linear head on its vectors: slower by far, "
        "usually more accurate",
    )
    group.add_argument(
        "--strategy",
        choices=STRATEGIES,
        help=f"how to pick (default: {STRATEGY}); real-pool and so on are its variants",
    )
    group.add_argument(
        "--classes",
        nargs="+",
        default=[],
        metavar="NAME",
        help="all classes, for the labelling interface, if some have no labels yet",
    )


def positive(text: str) -> int:
    """An integer of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number
