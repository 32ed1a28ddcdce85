"""`real-plugin explain`."""

from __future__ import annotations

import argparse
from typing import Any

from real_plugin._errors import UsageError
from real_plugin.labeling.commands.options import add_project_option, positive

DESCRIPTION = """\
Writes one HTML page for a batch of a project: a map of the pool with its clusters, pseudo errors
and picks, and the list of picks with their reasons. It needs no network and can be passed on;
note that it contains texts. Without a project: `real-plugin suggest ... --explain PAGE.html`.
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "explain",
        help="a page about a batch: where it lies and why it was picked",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "-o",
        "--out",
        default="explain.html",
        metavar="PAGE.html",
        help="where to write it; - is stdout (default: explain.html)",
    )
    parser.add_argument(
        "--round", type=positive, metavar="N", help="which batch (default: the last one)"
    )
    parser.add_argument(
        "--projection",
        choices=["tsne", "pca"],
        default="tsne",
        help="how the texts get onto the plane (default: tsne, which takes some seconds)",
    )
    add_project_option(parser)


def run(arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.explaining import write_page
    from real_plugin.labeling.project import need_project
    from real_plugin.labeling.rounds import load_round
    from real_plugin.labeling.tables import output_file
    from real_plugin.labeling.vectors import VectorStore

    project = need_project(arguments.project)
    folders = project.round_folders()
    number = arguments.round or len(folders)
    if not 1 <= number <= len(folders):
        raise UsageError(
            f"{project.root} has {len(folders)} batches; make one with `real-plugin suggest`"
            + (" or name one of them with --round." if folders else ".")
        )
    out = output_file(arguments.out)
    pool = project.read_pool()
    settings = project.settings
    write_page(
        out,
        load_round(folders[number - 1]),
        dict(zip(pool.ids, pool.texts, strict=True)),
        VectorStore(project.cache, settings.encoder, settings.max_length),
        arguments.projection,
    )
    return 0
