"""`real-plugin init`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from real_plugin.labeling.commands.options import (
    ENCODER,
    MAX_LENGTH,
    STRATEGY,
    add_column_options,
    add_model_options,
    given_columns,
)

DESCRIPTION = """\
Makes a project: a folder that remembers the pool's file and columns, the encoder and its
vectors, what was suggested, what came back, the model and a learning curve. After it:

  real-plugin suggest -n 100 -o batch.csv     in the folder, or with --project DIR
  real-plugin merge batch.csv                 when its labels are filled in

The pool stays where it is. Rows can be added to it at any time.
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "init",
        help="make a project folder",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("directory", type=Path, metavar="DIR", help="the folder to make")
    parser.add_argument("--pool", type=Path, required=True, metavar="FILE", help="the texts")
    parser.add_argument(
        "--labels",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="labels there are already",
    )
    add_column_options(parser)
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.console import say
    from real_plugin.labeling.merging import ADVICE
    from real_plugin.labeling.project import Project, Settings
    from real_plugin.labeling.reading import read_sources

    sources = read_sources(
        arguments.pool, arguments.labels, given_columns(arguments), arguments.encoding, ADVICE
    )
    columns = sources.pool.columns
    settings = Settings(
        pool=os.path.relpath(arguments.pool, arguments.directory),
        text_column=str(columns.text),
        id_column=columns.id,
        label_column=columns.label,
        encoding=arguments.encoding,
        encoder=_encoder(arguments.encoder or ENCODER),
        max_length=arguments.max_length or MAX_LENGTH,
        strategy=arguments.strategy or STRATEGY,
        finetune=arguments.finetune,
        classes=arguments.classes,
    )
    project = Project.create(arguments.directory, settings)
    with project.lock():
        project.add_labels(sources.labels, ", ".join(map(str, arguments.labels)), correct=False)
    say(
        f"made the project {arguments.directory}; now: real-plugin suggest --project "
        f"{arguments.directory} -n 100 -o batch.csv"
    )
    return 0


def _encoder(name: str) -> str:
    """A folder by its whole path, so that the project can be used from anywhere."""
    return str(Path(name).resolve()) if Path(name).is_dir() else name
