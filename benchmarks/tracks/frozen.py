"""The track `frozen`: a small head on the vectors of an encoder that isn't trained.

The head is trained anew in every round, so a model depends on its labels and seed alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from sklearn.preprocessing import StandardScaler
from torch import nn

from benchmarks.data import Dataset
from benchmarks.tracks.encodings import encode
from benchmarks.tracks.learner import FloatArray, Network, as_tensor
from benchmarks.tracks.settings import TrackSettings
from benchmarks.tracks.surprisal import surprisal

HEAD = "head.safetensors"
WIDTH, DROPOUT = 128, 0.5
STEPS, LEARNING_RATE, WEIGHT_DECAY = 100, 3e-3, 1e-2
#: Rows that pass the head at a time, so that a large pool needs no large buffers.
CHUNK_ROWS = 16_384


class Head(nn.Module):
    """One hidden layer, which is the representation, and one on top of it."""

    def __init__(self, n_columns: int, n_classes: int) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(n_columns, WIDTH), nn.ReLU())
        self.top = nn.Sequential(nn.Dropout(DROPOUT), nn.Linear(WIDTH, n_classes))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.top(self.hidden(X))
        return logits


class FrozenModel:
    """The model of a cell on the track `frozen`."""

    def __init__(self, dataset: Dataset, settings: TrackSettings, seed: int) -> None:
        self.dataset = dataset
        self.settings = settings
        self.seed = seed
        self.train, self.test = standardised(dataset, settings)

    def _new_head(self) -> Head:
        return Head(self.train.shape[1], len(self.dataset.classes))

    def _use(self, head: Head) -> None:
        self.head = head
        self.__dict__.pop("_representation", None)

    def fit(self, labelled: NDArray[np.intp]) -> None:
        """Train a new head on the labelled rows."""
        X = self.train[labelled]
        y = torch.from_numpy(self.dataset.train.labels[labelled])
        with _alone(self.seed):
            head = self._new_head().train()
            optimizer = torch.optim.AdamW(
                head.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True
            )
            schedule = torch.optim.lr_scheduler.OneCycleLR(
                optimizer, LEARNING_RATE, total_steps=STEPS
            )
            for _ in range(STEPS):
                optimizer.zero_grad()
                nn.functional.cross_entropy(head(X), y).backward()
                optimizer.step()
                schedule.step()
        self._use(head)

    def predict_test(self) -> NDArray[np.int64]:
        """Class numbers of the test texts."""
        return self._classify(self._pass(self.head.hidden, self.test)).argmax(axis=1)

    def network(self) -> Network:
        """The trained head, as strategies see it."""
        return Network(self._score, self._classify, self._monte_carlo, self._surprisal)

    def _score(self, rows: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        E = self._representation[rows]
        return self._classify(E), E

    @cached_property
    def _representation(self) -> FloatArray:
        """Of all train rows."""
        return self._pass(self.head.hidden, self.train)

    def _classify(self, E: FloatArray) -> FloatArray:
        logits = self._pass(self.head.top, as_tensor(E))
        return torch.softmax(torch.from_numpy(logits), dim=1).numpy()

    def _pass(self, layers: nn.Module, X: torch.Tensor, dropout: bool = False) -> FloatArray:
        layers.train(dropout)
        with torch.inference_mode(), _one_thread():
            return torch.cat([layers(chunk) for chunk in X.split(CHUNK_ROWS)]).numpy()

    def _monte_carlo(self, rows: NDArray[np.intp], n_passes: int, seed: int) -> FloatArray:
        E = as_tensor(self._representation[rows])
        with _alone(seed):
            passes = [self._pass(self.head.top, E, dropout=True) for _ in range(n_passes)]
        return torch.softmax(torch.from_numpy(np.stack(passes)), dim=2).numpy()

    def _surprisal(self, rows: NDArray[np.intp], seed: int) -> FloatArray:
        return surprisal(self.dataset.train.texts, self.settings, seed)[rows]

    def save(self, folder: Path) -> None:
        """Write the head's weights."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.head.state_dict(), folder / HEAD)

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        with _alone(self.seed):
            head = self._new_head()
        head.load_state_dict(load_file(folder / HEAD))
        self._use(head)


@lru_cache(maxsize=2)
def standardised(dataset: Dataset, settings: TrackSettings) -> tuple[torch.Tensor, torch.Tensor]:
    """Encodings of train and test, every column scaled by train's mean and deviation."""
    train, test = (
        encode(
            part.texts,
            settings.encoder,
            settings.encoder_sha256,
            settings.max_length,
            settings.cache,
        )
        for part in (dataset.train, dataset.test)
    )
    scaler = StandardScaler().fit(train)
    return torch.from_numpy(scaler.transform(train)), torch.from_numpy(scaler.transform(test))


@contextmanager
def _alone(seed: int) -> Iterator[None]:
    """Torch's random numbers from `seed`, and one thread; the caller's are kept."""
    with torch.random.fork_rng([]), _one_thread():
        torch.manual_seed(seed)
        yield


@contextmanager
def _one_thread() -> Iterator[None]:
    """The head is too small for more, and its sums come out the same everywhere."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
