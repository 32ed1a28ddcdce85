"""`real-plugin labels`."""

from __future__ import annotations

import argparse
from typing import Any

from real_plugin._errors import UsageError
from real_plugin.labeling.commands.options import add_project_option


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "labels",
        help="write all labels of a project",
        description="Writes all labels of a project as a table, a row a label.",
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "-o", "--out", default="-", metavar="FILE", help="where to (default: -, stdout, as CSV)"
    )
    add_project_option(parser)


def run(arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.console import count, say
    from real_plugin.labeling.project import need_project
    from real_plugin.labeling.tables import format_of, output_file, write_table

    project = need_project(arguments.project)
    labels = project.labels()
    if not labels:
        raise UsageError(f"{project.root} has no labels yet.")
    file = output_file(arguments.out)
    rows = [{"id": x.id, "text": x.text, "label": x.label} for x in labels.values()]
    write_table(file, rows, "csv" if file is None else format_of(file))
    say(f"wrote {count(len(rows), 'label')} to {'stdout' if file is None else file}")
    return 0
