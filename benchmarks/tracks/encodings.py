"""Vectors of a frozen encoder, computed once and kept on disk."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from real_plugin._hash import text_sha256


@cache
def encoder_sha256(encoder: str) -> str:
    """A hash of an encoder's weights and of its tokenizer, wherever they come from."""
    from real_plugin.text.pretrained import load_encoder, load_tokenizer

    digest = hashlib.sha256(load_tokenizer(encoder).backend_tokenizer.to_str().encode())
    for name, weights in sorted(load_encoder(encoder).state_dict().items()):
        digest.update(f"{name} {tuple(weights.shape)}".encode())
        digest.update(weights.contiguous().numpy().tobytes())
    return digest.hexdigest()


def encode(
    texts: Sequence[str], encoder: str, sha256: str, max_length: int, cache: Path
) -> NDArray[np.float32]:
    """[CLS] vectors of texts in float32, memory-mapped from the cache.

    `sha256` is the encoder's own hash, so that the encoder is loaded only if the vectors
    are not there yet.
    """
    from real_plugin.text import TransformerClassifier

    def compute() -> NDArray[np.float32]:
        classifier = TransformerClassifier(encoder, max_length=max_length, precision="float32")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Texts longer than")  # as the protocol says
            vectors: NDArray[np.float32] = classifier.embed(list(texts))
        return vectors

    return cached(cache / "encodings", (sha256, text_sha256(texts), max_length), compute)


def cached(folder: Path, key: tuple[Any, ...], compute: Any) -> NDArray[Any]:
    """The array that belongs to `key`, computed by one process and read by all others."""
    file = folder / f"{hashlib.sha256(repr(key).encode()).hexdigest()}.npy"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{file}.lock"):
            if not file.exists():
                temporary = file.with_suffix(".part.npy")
                np.save(temporary, compute())
                temporary.replace(file)
    array: NDArray[Any] = np.load(file, mmap_mode="r")
    return array
