"""The track `finetune`: the encoder itself is trained, by the protocol of the paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.data import Dataset
from benchmarks.tracks.learner import FloatArray, Network, as_tensor
from benchmarks.tracks.settings import TrackSettings
from benchmarks.tracks.surprisal import surprisal
from real_plugin.text import TransformerClassifier
from real_plugin.text.training import fit_uninterrupted


class FinetuneModel:
    """The model of a cell on the track `finetune`."""

    def __init__(self, dataset: Dataset, settings: TrackSettings, seed: int) -> None:
        self.dataset = dataset
        self.settings = settings
        self.options = {
            "precision": settings.precision,
            "training_precision": settings.training_precision,
            "random_state": seed,
            "max_epochs": settings.first_epochs,
            "progress": False,
            "validation_data": None,
        }
        if settings.validation and len(dataset.validation):
            validation = dataset.validation
            self.options["validation_data"] = (validation.texts, validation.labels)
        self.classifier = TransformerClassifier(
            settings.encoder,
            classes=range(len(dataset.classes)),
            max_length=settings.max_length,
            **self.options,
        )

    def fit(self, labelled: NDArray[np.intp]) -> None:
        """Train on the labelled rows: anew at first, then on from the current weights."""
        texts, labels = self._texts(labelled), self.dataset.train.labels[labelled]
        fit_uninterrupted(self.classifier, texts, labels)

    def predict_test(self) -> NDArray[np.int64]:
        """Class numbers of the test texts."""
        return self.classifier.predict_proba(self.dataset.test.texts).argmax(axis=1)

    def network(self) -> Network:
        """The fine-tuned network, as strategies see it."""
        return Network(self._score, self._classify, self._monte_carlo, self._surprisal)

    def _texts(self, rows: NDArray[np.intp]) -> list[str]:
        return [self.dataset.train.texts[row] for row in rows]

    def _score(self, rows: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        return self.classifier.predict_proba(self._texts(rows), return_embeddings=True)

    def _classify(self, E: FloatArray) -> FloatArray:
        head = self.classifier.module_.head.eval()
        with torch.inference_mode():
            vectors = as_tensor(E).to(self.classifier.device)
            return torch.softmax(head(vectors), dim=1).cpu().numpy()

    def _monte_carlo(self, rows: NDArray[np.intp], n_passes: int, seed: int) -> FloatArray:
        return self.classifier.predict_proba_mc(self._texts(rows), n_passes, random_state=seed)

    def _surprisal(self, rows: NDArray[np.intp], seed: int) -> FloatArray:
        return surprisal(self.dataset.train.texts, self.settings, seed)[rows]

    def save(self, folder: Path) -> None:
        """Write the classifier."""
        self.classifier.save(folder)

    def load(self, folder: Path) -> None:
        """Read what `save` wrote, to go on from there."""
        self.classifier = TransformerClassifier.load(folder, **self.options)
