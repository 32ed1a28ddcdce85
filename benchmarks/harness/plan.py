"""From the options of a run to its configuration and its cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks import strategies
from benchmarks.data import Dataset, load
from benchmarks.errors import UsageError
from benchmarks.harness.cells import FULL, Cell
from benchmarks.strategies.options import join, split
from benchmarks.strategies.registry import REALS
from benchmarks.tracks.encodings import encoder_sha256


@dataclass(frozen=True)
class Options:
    """What a user asks for."""

    dataset: Sequence[str]
    strategy: Sequence[str]
    track: Sequence[str] = ("frozen",)
    seeds: Sequence[int] = (0,)
    encoder: str = "minilm"
    batch_size: Sequence[int] = ()
    n_clusters: Sequence[int | str] = ()
    rounds: int | None = None
    warm_up: int | None = None
    max_length: int | None = None
    data_dir: Path | None = None
    text_column: str | None = None
    label_column: str | None = None
    train_limit: int | None = None
    validation_limit: int | None = None
    split_seed: int = 0
    precision: str = "auto"
    training_precision: str = "float32"
    validation: bool = True
    maps: bool = True


@dataclass(frozen=True)
class Plan:
    """A run: what its directory must say, and its cells in the order to do them in."""

    config: dict[str, Any]  #: what results depend on
    locations: dict[str, str]  #: where the encoder and the strategies of files are
    datasets: list[Dataset]
    cells: list[Cell] = field(default_factory=list)


def make_plan(options: Options) -> Plan:
    """Load the datasets, look up the strategies, and check that all of it fits together."""
    names, found, files = find_strategies(options.strategy, options.n_clusters)
    datasets = [
        load(
            name,
            data_dir=options.data_dir,
            text_column=options.text_column,
            label_column=options.label_column,
            train_limit=options.train_limit,
            validation_limit=options.validation_limit,
            split_seed=options.split_seed,
        )
        for name in options.dataset
    ]
    encoder = _encoder_location(options.encoder)
    config = {
        "encoder": {"name": _name_of(encoder), "sha256": _sha256(options.encoder)},
        "precision": options.precision,
        "training_precision": options.training_precision,
        "validation": options.validation,
        "map_seed": min(options.seeds) if options.maps else None,
        "strategies": found,
        "datasets": {dataset.name: _dataset_entry(dataset, options) for dataset in datasets},
    }
    # By seed first: every strategy has its first seeds before any has its last.
    grid = product(options.seeds, datasets, options.track, names)
    cells = [
        Cell(dataset.name, track, strategy, size, rounds, seed)
        for seed, dataset, track, strategy in grid
        for size, rounds in _schedule(strategy, config["datasets"][dataset.name], options)
    ]
    locations = {"encoder": encoder, **files}
    return Plan(config, locations, datasets, list(dict.fromkeys(cells)))


def find_strategies(
    given: Sequence[str], n_clusters: Sequence[int | str]
) -> tuple[list[str], dict[str, dict[str, str]], dict[str, str]]:
    """Canonical names, and for those of files what they were and where they are."""
    names: list[str] = []
    found: dict[str, dict[str, str]] = {}
    files: dict[str, str] = {}
    for name in given:
        if name == FULL:
            names.append(name)
            continue
        for variation in _variations(name, n_clusters):
            strategy = strategies.find(variation)
            canonical = strategy.name
            if strategy.fingerprint:
                canonical, location = _short_and_whole(canonical)
                found[canonical] = {"sha256": strategy.fingerprint}
                files[canonical] = location
            names.append(canonical)
    return names, found, files


def _variations(name: str, n_clusters: Sequence[int | str]) -> list[str]:
    base, options = split(name)
    if not n_clusters or base not in REALS or "n_clusters" in options:
        return [name]
    return [name if k == "auto" else join(base, options | {"n_clusters": k}) for k in n_clusters]


def _short_and_whole(name: str) -> tuple[str, str]:
    """A strategy of a file by the file's own name, and by its whole path."""
    reference, options = split(name)
    where, _, function = reference.rpartition(":")
    file = Path(where)
    return tuple(join(f"{at}:{function}", options) for at in (file.name, file.resolve()))


def _encoder_location(encoder: str) -> str:
    folder = Path(encoder).expanduser()
    return folder.resolve().as_posix() if folder.is_dir() else encoder


def _name_of(encoder: str) -> str:
    """A name on the hub as it is, a folder without what lies above it."""
    return Path(encoder).name if Path(encoder).is_absolute() else encoder


def _sha256(encoder: str) -> str:
    try:
        return encoder_sha256(encoder)
    except (OSError, ValueError, ImportError) as error:
        raise UsageError(f"--encoder: {error}") from error


def _dataset_entry(dataset: Dataset, options: Options) -> dict[str, Any]:
    """A dataset in the configuration: what it is, and how it is used."""
    changes = {
        "warm_up": options.warm_up,
        "max_length": options.max_length,
        "rounds": options.rounds,
        "batch_size": options.batch_size[0] if len(options.batch_size) == 1 else None,
    }
    protocol = replace(dataset.protocol, **{k: v for k, v in changes.items() if v is not None})
    if options.rounds is None:
        budget = dataset.protocol.batch_size * dataset.protocol.rounds
    elif len(options.batch_size) > 1:
        raise UsageError(
            "--rounds can't be given with several --batch-size: each is repeated until the "
            "budget of the dataset is spent. Leave --rounds out, or run one batch size at a time."
        )
    else:
        budget = protocol.batch_size * protocol.rounds
    if protocol.warm_up + budget > len(dataset.train):
        raise UsageError(
            f"{dataset.name} has {len(dataset.train)} rows to train on, but the warm-up takes "
            f"{protocol.warm_up} and the rounds {budget}; lower --warm-up, --batch-size or "
            "--rounds."
        )
    return {
        "sha256": dataset.fingerprint,
        "source": dataset.source,
        "classes": list(dataset.classes),
        "protocol": asdict(protocol),
        "budget": budget,
        "split_seed": options.split_seed,
    }


def _schedule(strategy: str, entry: dict[str, Any], options: Options) -> list[tuple[int, int]]:
    """(batch size, rounds) of every cell of a strategy on a dataset."""
    if strategy == FULL:
        return [(0, 0)]
    budget = entry["budget"]
    sizes = options.batch_size or [entry["protocol"]["batch_size"]]
    for size in sizes:
        if not 1 <= size <= budget:
            raise UsageError(
                f"--batch-size is {size}; it must be at least 1, and at most the budget of "
                f"{budget} labels."
            )
    return [(size, budget // size) for size in sizes]
