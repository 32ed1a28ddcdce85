"""`real-plugin merge`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from real_plugin._errors import UsageError
from real_plugin.labeling.commands.options import (
    add_column_options,
    add_project_option,
    given_columns,
)

if TYPE_CHECKING:
    from real_plugin.labeling.project import Project

DESCRIPTION = """\
Takes labels back: from Label Studio's export (JSON, JSON_MIN, CSV or TSV), or from a batch whose
column of labels was filled in.

  real-plugin merge export.json labels.csv     into a .csv, .tsv or .jsonl file, made if need be
  real-plugin merge export.json                into the project

Labels are added, never changed. If one contradicts another, all such rows are listed and nothing
is written (exit code 3). Labels that are known already are skipped, and so are rows without one.
In a project, labels of rows that were never suggested are welcome.
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "merge",
        help="take labels back",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument("source", type=Path, metavar="FILE", help="what came back")
    parser.add_argument(
        "labels", type=Path, nargs="?", metavar="LABELS", help="file to add to (not in a project)"
    )
    parser.add_argument(
        "--correct",
        action="store_true",
        help="in a project, let new labels replace earlier ones of the same rows",
    )
    add_project_option(parser)
    add_column_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.project import find_project

    if arguments.labels is not None:
        if arguments.project is not None or arguments.correct:
            raise UsageError("give either LABELS or --project; --correct is for projects.")
        return _into_file(arguments)
    project = find_project(arguments.project)
    if project is None:
        raise UsageError(
            "there is no project here; name a file of labels to add to, or --project."
        )
    with project.lock():
        return _into_project(project, arguments)


def _into_file(arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.console import say
    from real_plugin.labeling.merging import described, merge_into_file, read_given

    columns = given_columns(arguments)
    given = read_given(arguments.source, columns, arguments.encoding)
    new, known = merge_into_file(given, arguments.labels, columns)
    say(f"{arguments.labels}: {described(new, known)}")
    return 0


def _into_project(project: Project, arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.console import count, say
    from real_plugin.labeling.labels import match, settle
    from real_plugin.labeling.merging import ADVICE, described, read_given

    pool = project.read_pool()
    given = read_given(arguments.source, given_columns(arguments), arguments.encoding)
    labels = settle(match(given, pool), ADVICE)
    merged = project.add_labels(labels, str(arguments.source), arguments.correct)
    corrected = f", {merged.corrected:,} corrected" * (merged.corrected > 0)
    say(f"{described(merged.new, merged.known)}{corrected}")
    suggested = project.suggested()
    others = sum(key not in suggested for key in labels)
    if others:
        say(f"  {count(others, 'row')} of them had not been suggested")
    say(f"{count(len(project.labels()), 'label')} in all")
    project.write_curve()
    return 0
