"""What a benchmark runs on: texts and classes in three parts, and how to use them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Part:
    """Texts, and the number of every text's class."""

    texts: list[str]
    labels: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.texts)


@dataclass(frozen=True)
class Protocol:
    """How a dataset is used: labels at first, labels a round, rounds, tokens a text."""

    warm_up: int
    batch_size: int
    rounds: int
    max_length: int


@dataclass(frozen=True, eq=False)
class Dataset:
    """A classification task.

    `train` is the pool with hidden labels; `validation` may be empty. The labels number
    the `classes`. `source` says in a line where the texts are from.
    """

    name: str
    classes: tuple[str, ...]
    train: Part
    validation: Part
    test: Part
    protocol: Protocol
    source: str

    def parts(self) -> dict[str, Part]:
        return {"train": self.train, "validation": self.validation, "test": self.test}

    @property
    def fingerprint(self) -> str:
        """A hash of the classes and of every text and label, in their order."""
        digest = hashlib.sha256(repr(self.classes).encode())
        for name, part in self.parts().items():
            digest.update(f"{name} {len(part)}".encode())
            digest.update(part.labels.tobytes())
            for text in part.texts:
                encoded = text.encode("utf-8", "surrogatepass")
                digest.update(len(encoded).to_bytes(8, "little") + encoded)
        return digest.hexdigest()

    def save(self, file: Path) -> None:
        """Write texts and labels as Parquet: the columns part, text and label."""
        frames = [
            pd.DataFrame({"part": name, "text": part.texts, "label": part.labels})
            for name, part in self.parts().items()
        ]
        pd.concat(frames, ignore_index=True).to_parquet(file, index=False)
