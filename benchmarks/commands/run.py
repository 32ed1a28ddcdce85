"""`python -m benchmarks run`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.commands.options import (
    add_data_options,
    data_options,
    positive,
    positive_or_auto,
    seeds,
)

STRATEGIES = ("real", "random", "margin", "entropy", "badge", "cal", "full")
SEEDS = "10"
EPILOG = """\
The run is cut into cells (dataset, track, strategy, batch size, seed), and every round of a
cell is on disk as soon as it is done. Kill it at any moment and start the same command again:
it goes on from there. Start it twice and the two share the work. More strategies, seeds and
datasets can be added to a directory later.

examples:
  python -m benchmarks run --out results
  python -m benchmarks run --out results --dataset snips --data-dir data --strategy real margin
      random skactiveml:Badge my.py:my_query --seeds 20 --encoder roberta-base --jobs 4
  python -m benchmarks run --out tuned --dataset stov --track finetune --strategy real badge full
  python -m benchmarks run --out k --strategy real --n-clusters 10 50 200 --batch-size 25 50 100
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "run",
        help="run strategies on datasets, resumable at every round",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="directory of the results"
    )
    _add_grid(parser.add_argument_group("what to run"))
    _add_model(parser.add_argument_group("the model"))
    add_data_options(parser)
    _add_machine(parser.add_argument_group("where to run it"))


def _add_grid(group: Any) -> None:
    group.add_argument(
        "--dataset",
        nargs="+",
        default=["pydocs"],
        metavar="NAME_OR_PATH",
        help="names of `list datasets`, folders, .jsonl or .csv files (default: pydocs)",
    )
    group.add_argument(
        "--strategy",
        nargs="+",
        default=list(STRATEGIES),
        metavar="NAME",
        help="names of `list strategies`, files path/to/my.py:function, or `full` for the model "
        f"with all labels (default: {' '.join(STRATEGIES)})",
    )
    group.add_argument(
        "--track",
        nargs="+",
        choices=["frozen", "finetune"],
        default=["frozen"],
        help="a head on a frozen encoder, or the protocol of the paper (default: frozen)",
    )
    group.add_argument(
        "--seeds",
        type=seeds,
        default=seeds(SEEDS),
        help=f"how many (5), a range (0-4) or a list (3,8); default: {SEEDS}",
    )
    group.add_argument(
        "--batch-size",
        type=positive,
        nargs="+",
        default=[],
        metavar="N",
        help="labels a round (default: the dataset's own); several share one budget",
    )
    group.add_argument(
        "--n-clusters",
        type=positive_or_auto,
        nargs="+",
        default=[],
        metavar="K",
        help="K of real and its variants; several are compared (default: auto)",
    )
    group.add_argument("--rounds", type=positive, metavar="N", help="rounds after the warm-up")
    group.add_argument("--warm-up", type=positive, metavar="N", help="labels at the start")
    group.add_argument(
        "--divergence",
        action="store_true",
        help="also measure how far batches are from the boundary errors on t-SNE maps (slow; "
        "for the rounds of this command only)",
    )
    group.add_argument(
        "--no-maps",
        dest="maps",
        action="store_false",
        help="don't map the pool of the first batch at the lowest seed for the report",
    )


def _add_model(group: Any) -> None:
    group.add_argument(
        "--encoder",
        default="minilm",
        metavar="NAME_OR_FOLDER",
        help="pretrained encoder: a folder, a name on the hub, or minilm (default)",
    )
    group.add_argument("--max-length", type=positive, metavar="N", help="tokens a text")
    group.add_argument(
        "--precision",
        choices=["auto", "float32", "bfloat16"],
        default="auto",
        help="of scoring when the encoder is fine-tuned (default: auto)",
    )
    group.add_argument(
        "--training-precision",
        choices=["auto", "float32", "bfloat16"],
        default="float32",
        help="of its training (default: float32)",
    )
    group.add_argument(
        "--no-validation",
        dest="validation",
        action="store_false",
        help="fine-tune to the end instead of keeping the best weights by validation labels",
    )


def _add_machine(group: Any) -> None:
    group.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="cells at a time on this machine (default: one a core if all are frozen, else 1)",
    )
    group.add_argument(
        "--threads", type=positive, metavar="N", help="threads a cell (default: cores / jobs)"
    )
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on this Dask cluster, such as tcp://host:8786"
    )
    group.add_argument(
        "--cache",
        type=Path,
        metavar="DIR",
        help="where encodings are kept (default: $REAL_PLUGIN_CACHE or ~/.cache/real_plugin)",
    )
    group.add_argument(
        "--dry-run", action="store_true", help="list the cells and how far they are, do nothing"
    )


def run(arguments: argparse.Namespace) -> int:
    from benchmarks.harness.plan import Options
    from benchmarks.harness.run import run as run_grid
    from real_plugin._files import default_cache

    options = Options(
        dataset=list(dict.fromkeys(arguments.dataset)),
        strategy=arguments.strategy,
        track=list(dict.fromkeys(arguments.track)),
        seeds=arguments.seeds,
        encoder=arguments.encoder,
        batch_size=arguments.batch_size,
        n_clusters=arguments.n_clusters,
        rounds=arguments.rounds,
        warm_up=arguments.warm_up,
        max_length=arguments.max_length,
        precision=arguments.precision,
        training_precision=arguments.training_precision,
        validation=arguments.validation,
        maps=arguments.maps,
        **data_options(arguments),
    )
    return run_grid(
        options,
        out=arguments.out,
        cache=arguments.cache or default_cache(),
        jobs=arguments.jobs,
        threads=arguments.threads,
        scheduler=arguments.scheduler,
        divergence=arguments.divergence,
        dry_run=arguments.dry_run,
    )
