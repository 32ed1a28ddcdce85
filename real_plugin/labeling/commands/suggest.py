"""`real-plugin suggest`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from real_plugin._errors import UsageError
from real_plugin.labeling.commands.options import (
    ENCODER,
    MAX_LENGTH,
    STRATEGY,
    add_column_options,
    add_model_options,
    add_project_option,
    given_columns,
    positive,
)

if TYPE_CHECKING:
    from real_plugin.labeling.project import Project
    from real_plugin.labeling.suggestion import Suggestion

LABEL_STUDIO = "label-studio"
DESCRIPTION = """\
Trains on what is labelled, scores the rest, picks the rows to label next, and writes them with
the model's prediction, its probability and the reason for the pick.

  real-plugin suggest pool.csv -n 100 -o batch.csv                        no labels yet
  real-plugin suggest pool.csv --labels labels.csv -n 100 -o batch.csv
  real-plugin suggest pool.csv --labels a.csv b.xlsx -n 50 -o - > batch.csv
  real-plugin suggest -n 100 -o tasks.json --format label-studio          in a project

Files are .csv, .tsv, .jsonl, .parquet or .xlsx. Labels may be in files of their own, with the
pool's ids or texts, and in a column of the pool that is partly empty. A batch has an empty
column for the labels: fill it in, and give the file back as --labels or to `merge`.
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "suggest",
        help="pick the next rows to label",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "pool", type=Path, nargs="?", metavar="POOL", help="the texts (left out in a project)"
    )
    parser.add_argument(
        "--labels", type=Path, nargs="+", default=[], metavar="FILE", help="what is labelled"
    )
    parser.add_argument(
        "-n", type=positive, default=100, metavar="N", help="how many rows (default: 100)"
    )
    parser.add_argument(
        "-o", "--out", metavar="FILE", help="where to write them; - is stdout (default: batch.csv)"
    )
    parser.add_argument(
        "--format",
        choices=["csv", "tsv", "jsonl", "parquet", "xlsx", LABEL_STUDIO],
        help="of the batch (default: by the name of the file; .json is label-studio)",
    )
    parser.add_argument(
        "--explain", type=Path, metavar="PAGE.html", help="also write the page of `explain`"
    )
    parser.add_argument("--seed", type=int, default=0, help="of random draws (default: 0)")
    parser.add_argument(
        "--again",
        action="store_true",
        help="in a project, also pick from rows that were suggested and have not come back",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="where vectors are kept (default: $REAL_PLUGIN_CACHE or ~/.cache/real_plugin)",
    )
    add_project_option(parser)
    add_column_options(parser)
    add_model_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.project import find_project

    if arguments.pool is not None:
        if arguments.project is not None:
            raise UsageError("give either a POOL or --project, which has one.")
        return _without_project(arguments)
    project = find_project(arguments.project)
    if project is None:
        raise UsageError(
            "there is no POOL and no project here; give a file of texts, or a project's folder "
            "with --project."
        )
    _check_project_options(arguments)
    with project.lock():
        return _in_project(project, arguments)


def _without_project(arguments: argparse.Namespace) -> int:
    from real_plugin._files import default_cache
    from real_plugin.labeling.reading import read_sources
    from real_plugin.labeling.suggestion import suggest
    from real_plugin.labeling.vectors import VectorStore

    given = given_columns(arguments)
    advice = "Keep one label a row, and try again."
    sources = read_sources(arguments.pool, arguments.labels, given, arguments.encoding, advice)
    output = Output(arguments, sources.labels, {arguments.pool, *arguments.labels})
    store = VectorStore(
        arguments.cache or default_cache(),
        arguments.encoder or ENCODER,
        arguments.max_length or MAX_LENGTH,
    )
    suggestion = suggest(
        sources.pool,
        sources.labels,
        store,
        arguments.n,
        strategy=arguments.strategy or STRATEGY,
        finetune=arguments.finetune,
        seed=arguments.seed,
    )
    output.write(suggestion, arguments.classes, store.encoder)
    _explain(suggestion, store, arguments.explain)
    return 0


def _in_project(project: Project, arguments: argparse.Namespace) -> int:
    from real_plugin.labeling.labels import labels_of_pool, settle
    from real_plugin.labeling.project import CORRECT
    from real_plugin.labeling.reading import say_pool
    from real_plugin.labeling.rounds import as_round
    from real_plugin.labeling.suggestion import suggest
    from real_plugin.labeling.vectors import VectorStore

    settings = project.settings
    pool = project.read_pool()
    say_pool(pool, settings.columns)
    project.add_labels(settle(labels_of_pool(pool), CORRECT), pool.table.file, correct=False)
    labels = project.labels()
    output = Output(arguments, labels, {Path(pool.table.file)})
    store = VectorStore(arguments.cache or project.cache, settings.encoder, settings.max_length)
    suggestion = suggest(
        pool,
        labels,
        store,
        arguments.n,
        strategy=arguments.strategy or settings.strategy,
        finetune=arguments.finetune or settings.finetune,
        leave_out=set() if arguments.again else project.suggested(),
        seed=arguments.seed,
    )
    output.write(suggestion, [*settings.classes, *arguments.classes], store.encoder)
    kept = as_round(suggestion, settings.encoder, settings.max_length)
    project.add_round(kept, suggestion.batch())
    project.save_model(suggestion.scores.model)
    project.write_curve()
    _explain(suggestion, store, arguments.explain)
    return 0


def _check_project_options(arguments: argparse.Namespace) -> None:
    fixed = ("encoder", "max_length", "text_column", "id_column", "label_column", "encoding")
    named = [name for name in (*fixed, "labels") if getattr(arguments, name)]
    if "labels" in named:
        raise UsageError("labels go into a project with `real-plugin merge FILE`, not --labels.")
    if named:
        option = "--" + named[0].replace("_", "-")
        raise UsageError(
            f"{option} is fixed when a project is made; make another one with `init`."
        )


class Output:
    """Where a batch goes; checked before the work, so that nothing labelled is overwritten."""

    def __init__(self, arguments: argparse.Namespace, labels: Any, inputs: set[Path]) -> None:
        from real_plugin.labeling.overwriting import check_overwrite
        from real_plugin.labeling.tables import format_of, output_file

        is_tasks = arguments.format == LABEL_STUDIO
        name = arguments.out or ("tasks.json" if is_tasks else "batch.csv")
        self.file = output_file(name)
        if arguments.format:
            self.format = arguments.format
        elif self.file is None:
            self.format = "csv"
        else:
            self.format = LABEL_STUDIO if self.file.suffix == ".json" else format_of(self.file)
        if self.file is not None and self.file.is_file():
            check_overwrite(self.file, labels, inputs)

    def write(self, suggestion: Suggestion, classes: list[str], encoder: str) -> None:
        """Write the batch, and say what was done."""
        from real_plugin.labeling.console import count, say
        from real_plugin.labeling.summary import print_labels, print_picks
        from real_plugin.labeling.tables import write_table

        print_labels(suggestion)
        print_picks(suggestion)
        if self.format == LABEL_STUDIO:
            self._write_tasks(suggestion, classes, encoder)
        else:
            write_table(self.file, suggestion.batch(), self.format)
        where = "stdout" if self.file is None else str(self.file)
        say(f"wrote {count(len(suggestion.rows), 'row')} to {where}")

    def _write_tasks(self, suggestion: Suggestion, classes: list[str], encoder: str) -> None:
        from real_plugin.labeling import label_studio
        from real_plugin.labeling.console import say
        from real_plugin.labeling.suggestion import known_classes
        from real_plugin.labeling.tables import write_bytes

        version = f"real-plugin {encoder}, {len(suggestion.labels)} labels"
        tasks = label_studio.tasks(suggestion, version)
        text = json.dumps(tasks, indent=1, ensure_ascii=False) + "\n"
        write_bytes(self.file, text.encode())
        names = known_classes(suggestion.labels, classes)
        if self.file is None:
            return
        if not names:
            say("  no class is known yet, so there is no interface for Label Studio: --classes")
            return
        beside = self.file.with_suffix(".xml")
        write_bytes(beside, label_studio.interface(names).encode())
        say(f"  {beside} is the labelling interface to paste into Label Studio's settings")


def _explain(suggestion: Suggestion, store: Any, page: Path | None) -> None:
    if page is None:
        return
    from real_plugin.labeling.explaining import write_page
    from real_plugin.labeling.rounds import as_round

    pool = suggestion.pool
    kept = as_round(suggestion, store.encoder, store.max_length)
    write_page(page, kept, dict(zip(pool.ids, pool.texts, strict=True)), store, "tsne")
