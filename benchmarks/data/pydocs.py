"""pydocs: which package is a sentence from? Real text that needs no download."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections import Counter
from pathlib import Path

import numpy as np

from benchmarks.data import parts
from benchmarks.data.dataset import Dataset, Part, Protocol
from benchmarks.data.docstrings import harvest
from benchmarks.errors import UsageError

#: The classes, as pip calls them, and the names to import.
PACKAGES = {
    "distributed": "distributed",
    "fonttools": "fontTools",
    "huggingface_hub": "huggingface_hub",
    "matplotlib": "matplotlib",
    "networkx": "networkx",
    "numpy": "numpy",
    "pandas": "pandas",
    "scikit-learn": "sklearn",
    "scipy": "scipy",
    "sympy": "sympy",
}
MOST_A_PACKAGE = 1_000
#: Upper ends of the parts' shares.
PARTS = {"train": 0.7, "validation": 0.8, "test": 1.0}
PROTOCOL = Protocol(warm_up=50, batch_size=50, rounds=6, max_length=32)


def load(train_limit: int | None, split_seed: int) -> Dataset:
    """First sentences of public docstrings, the package being the class.

    Which sentences are used, in which part and in which order, is up to their hashes: a new
    version of a package moves only the sentences it changes. The seed is for `train_limit`.
    """
    source = ", ".join(f"{package} {_version(package)}" for package in PACKAGES)
    rows: dict[str, list[tuple[str, str, int]]] = {name: [] for name in PARTS}
    for label, package in enumerate(found := sentences()):
        for sentence in found[package]:
            rows[_part(sentence)].append((_digest(sentence), sentence, label))
    made = {name: _as_part(sorted(part)) for name, part in rows.items()}
    made["train"] = parts.limit_asked(made["train"], train_limit, split_seed, "train")
    return Dataset(
        "pydocs", tuple(PACKAGES), **made, protocol=PROTOCOL, source=f"docstrings of {source}"
    )


def sentences() -> dict[str, list[str]]:
    """For every package at most 1,000 sentences that no other one has, by their hash."""
    folders = {package: _folder(package) for package in PACKAGES}
    harvested = {package: harvest(folder) for package, folder in folders.items()}
    packages_with = Counter(sentence for found in harvested.values() for sentence in found)
    return {
        package: sorted((s for s in found if packages_with[s] == 1), key=_digest)[:MOST_A_PACKAGE]
        for package, found in harvested.items()
    }


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(PACKAGES[package])  # finds it without importing it
    if spec is None or not spec.submodule_search_locations:
        raise _missing(package)
    return Path(spec.submodule_search_locations[0])


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError as error:
        raise _missing(package) from error


def _missing(package: str) -> UsageError:
    return UsageError(
        f"pydocs is made of the docstrings of {', '.join(PACKAGES)}, but {package} isn't "
        'installed: pip install ".[skactiveml,text,bench]"'
    )


def _digest(sentence: str) -> str:
    return hashlib.sha256(sentence.encode("utf-8", "surrogatepass")).hexdigest()


def _part(sentence: str) -> str:
    # By the end of the hash: its start decides which sentences are taken at all.
    position = int(_digest(sentence)[-8:], 16) / 16**8
    return next(name for name, end in PARTS.items() if position < end)


def _as_part(rows: list[tuple[str, str, int]]) -> Part:
    labels = np.array([label for _, _, label in rows], dtype=np.int64)
    return Part([sentence for _, sentence, _ in rows], labels)
