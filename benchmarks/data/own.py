"""A dataset of the user's own: a folder, or one file."""

from __future__ import annotations

from pathlib import Path

from benchmarks.data import parts
from benchmarks.data.dataset import Dataset, Protocol
from benchmarks.data.rows import READERS, Columns, read_rows
from benchmarks.errors import UsageError
from real_plugin._records import quoted

PARTS = ("train", "validation", "test")
#: What is cut out of train for a part that isn't given.
SHARES = {"test": 0.2, "validation": 0.1}
ROUNDS, MAX_LENGTH = 8, 96


def load(path: Path, columns: Columns, train_limit: int | None, split_seed: int) -> Dataset:
    """Read a folder with train, validation and test as .jsonl or .csv, or one such file.

    Only train is needed, and one file is train. A part that isn't given is cut out of train:
    20 % of its rows for test, 10 % for validation, of each class alike as far as whole rows
    allow; a class of one or two rows has none in test, and every class stays in train.
    """
    files = find_parts(path) if path.is_dir() else {"train": path}
    if "train" not in files:
        raise UsageError(
            f"{path} has no {_file_names('train')}, only "
            f"{quoted(sorted(file.name for file in path.iterdir())[:10])}; give a folder that "
            "has one, or a file itself."
        )
    rows = {name: read_rows(file, columns) for name, file in files.items()}
    shares = {name: share for name, share in SHARES.items() if name not in rows}
    whole = rows["train"]
    rows["train"], cut = parts.cut(whole, shares, split_seed)
    rows |= cut
    classes, numbered = parts.number(rows)
    if not len(numbered["test"]):
        raise UsageError(
            f"{whole.source} has {len(whole)} rows of {len(classes)} classes, too few a class to "
            f"cut a test part out of them; add rows, give a folder with {_file_names('test')}, "
            "or name another --label-column if these are not the classes."
        )
    numbered["train"] = parts.limit_asked(numbered["train"], train_limit, split_seed, "train")
    return Dataset(
        name=path.resolve().name if path.is_dir() else path.stem,
        classes=classes,
        **numbered,
        protocol=protocol(len(classes), len(numbered["train"])),
        source=_source(path, files, shares),
    )


def find_parts(folder: Path) -> dict[str, Path]:
    """The files of a folder's parts, as far as it has them."""
    found = {}
    for name in PARTS:
        files = [folder / f"{name}{suffix}" for suffix in READERS]
        files = [file for file in files if file.is_file()]
        if len(files) > 1:
            raise UsageError(
                f"{folder} has both {' and '.join(file.name for file in files)}; remove or "
                "rename one."
            )
        if files:
            found[name] = files[0]
    return found


def protocol(n_classes: int, n_train: int) -> Protocol:
    """Ten labels a class, but at least 20, as warm-up and in each of 8 rounds.

    Fewer if that would be more than half of train, but at least one.
    """
    fair = max(20, 10 * n_classes)
    size = max(1, min(fair, n_train // (2 * (1 + ROUNDS))))
    return Protocol(warm_up=size, batch_size=size, rounds=ROUNDS, max_length=MAX_LENGTH)


def _file_names(name: str) -> str:
    return " or ".join(f"{name}{suffix}" for suffix in READERS)


def _source(path: Path, files: dict[str, Path], shares: dict[str, float]) -> str:
    read = ", ".join(file.name for file in files.values()) if path.is_dir() else path.name
    folder = path if path.is_dir() else path.parent
    cut = ", ".join(f"{share:.0%} of train for {name}" for name, share in shares.items())
    return f"{read} in the folder {folder.resolve().name}" + (f"; {cut}" if cut else "")
