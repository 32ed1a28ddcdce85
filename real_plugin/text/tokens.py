"""Texts as token ids: checked, truncated, batched."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Ids = NDArray[np.int64]


def check_texts(X: Any) -> Any:
    """`X` if it can be tokenised: a sequence of str, or an integer matrix of token ids."""
    if isinstance(X, str):
        raise TypeError(f"X is a single text, {X[:40]!r}; pass a list of texts, [X].")
    if is_id_matrix(X):
        return X
    if isinstance(X, dict) or not hasattr(X, "__len__"):
        raise TypeError(
            f"X is a {type(X).__name__}; pass a list, array or Series of str, or the integer "
            "matrix from tokenize()."
        )
    if getattr(X, "ndim", 1) != 1:
        raise ValueError(
            f"X has shape {X.shape}; pass one text a row (for a DataFrame its text column), or "
            "the integer matrix from tokenize()."
        )
    return X


def is_id_matrix(X: Any) -> bool:
    """Whether X is a matrix of numbers, which must then be what `tokenize` gives."""
    if getattr(X, "ndim", 0) != 2 or not hasattr(X, "dtype"):
        return False
    return np.asarray(X[:0]).dtype.kind in "iuf"


def as_list(X: Any, start: int, stop: int) -> list[str]:
    """Rows `start` to `stop` as a list of str, whatever index a Series has."""
    block = X.iloc[start:stop] if hasattr(X, "iloc") else X[start:stop]
    texts = block.tolist() if hasattr(block, "tolist") else list(block)
    for offset, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"X[{start + offset}] is {text!r} of type {type(text).__name__}; every text must "
                "be a str (drop missing ones, or replace them by '')."
            )
    return texts


class Tokens:
    """Tokenises texts, or unpads rows of an id matrix, and says once when it truncates."""

    def __init__(self, tokenizer: Any, max_length: int) -> None:
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.has_warned = False

    def __call__(self, X: Any, start: int = 0, stop: int | None = None) -> list[Ids]:
        stop = len(X) if stop is None else stop
        if is_id_matrix(X):
            return self._unpad(np.asarray(X[start:stop]))
        if isinstance(X, list) and X and isinstance(X[0], np.ndarray):
            return X[start:stop]  # token ids already, from a dataset
        texts = as_list(X, start, stop)
        encoded = self._encode(texts)
        self._warn_of_truncation(texts, encoded)
        return [np.asarray(ids, dtype=np.int64) for ids in encoded]

    def _encode(self, texts: list[str], truncate: bool = True) -> list[list[int]]:
        if not texts:
            return []
        options = {"truncation": True, "max_length": self.max_length} if truncate else {}
        ids: list[list[int]] = self.tokenizer(texts, verbose=False, **options)["input_ids"]
        return ids

    def _warn_of_truncation(self, texts: list[str], encoded: list[list[int]]) -> None:
        if self.has_warned:
            return
        for text, ids in zip(texts, encoded, strict=True):
            if len(ids) == self.max_length and len(self._encode([text], False)[0]) > len(ids):
                self.has_warned = True
                warnings.warn(
                    f"Texts longer than max_length={self.max_length} tokens are cut off, such as "
                    f"{text[:40]!r}...; a larger max_length keeps more of them. Said once.",
                    stacklevel=2,
                )
                return

    def _unpad(self, numbers: NDArray[Any]) -> list[Ids]:
        vocabulary = len(self.tokenizer)
        with np.errstate(invalid="ignore"):  # NaN is no id either
            matrix = numbers.astype(np.int64)
        if (matrix != numbers).any() or ((matrix < 0) | (matrix >= vocabulary)).any():
            raise ValueError(
                f"X is a matrix of numbers from {numbers.min()} to {numbers.max()}, but not of "
                f"ids in a vocabulary of {vocabulary} tokens; pass texts, or the matrix from "
                "tokenize() of the same model."
            )
        matrix = matrix[:, : self.max_length]
        is_token = matrix != self.tokenizer.pad_token_id
        lengths = matrix.shape[1] - is_token[:, ::-1].argmax(axis=1)
        lengths[~is_token.any(axis=1)] = 1
        return [row[:length] for row, length in zip(matrix, lengths, strict=True)]


def pad(rows: Sequence[Ids], pad_id: int) -> dict[str, torch.Tensor]:
    """`rows` as one batch, padded to the longest of them."""
    longest = max(len(ids) for ids in rows)
    input_ids = np.full((len(rows), longest), pad_id, dtype=np.int64)
    attention_mask = np.zeros((len(rows), longest), dtype=np.int64)
    for row, ids in enumerate(rows):
        input_ids[row, : len(ids)] = ids
        attention_mask[row, : len(ids)] = 1
    return {
        "input_ids": torch.from_numpy(input_ids),
        "attention_mask": torch.from_numpy(attention_mask),
    }


class TokenDataset(torch.utils.data.Dataset):  # type: ignore[type-arg]
    """Token ids and class numbers, for the training loop."""

    def __init__(self, X: list[Ids], y: NDArray[np.int64]) -> None:
        self.X, self.y = X, y

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, i: int) -> tuple[Ids, int]:
        return self.X[i], int(self.y[i])


def collate(items: list[tuple[Ids, int]], pad_id: int) -> tuple[dict[str, torch.Tensor], Any]:
    """A training batch."""
    rows, labels = zip(*items, strict=True)
    return pad(rows, pad_id), torch.tensor(labels)


def batches_by_length(rows: Sequence[Ids], tokens_per_batch: int) -> Iterator[NDArray[np.intp]]:
    """Positions in `rows`, longest first, so many at a time as the budget of tokens takes."""
    lengths = np.array([len(ids) for ids in rows])
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        size = max(1, tokens_per_batch // int(lengths[order[start]]))
        yield order[start : start + size]
        start += size
