"""ALPS' embeddings of a train part. They depend on no training, so they are computed once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.preprocessing import normalize

from benchmarks.tracks.encodings import cached
from benchmarks.tracks.learner import FloatArray
from benchmarks.tracks.settings import TrackSettings
from real_plugin._hash import text_sha256

#: Share of the positions whose surprisal counts, as in ALPS.
MLM_PROBABILITY = 0.15


def surprisal(texts: Sequence[str], settings: TrackSettings, seed: int) -> FloatArray:
    """A row a text: surprisal at random positions under the pretrained language model.

    What `TransformerClassifier.surprisal` gives for this seed; only the draw of the
    positions is repeated.
    """
    from real_plugin.text import TransformerClassifier

    def compute() -> FloatArray:
        classifier = TransformerClassifier(settings.encoder, max_length=settings.max_length)
        everywhere: FloatArray = classifier.surprisal(
            list(texts), mlm_probability=1.0, random_state=0
        )
        return everywhere

    # The name, too: the encoder's hash says nothing of the language head.
    key = (settings.encoder, settings.encoder_sha256, text_sha256(texts), settings.max_length)
    vectors = cached(settings.cache / "surprisal", key, compute)
    keep = np.random.default_rng(seed).random(vectors.shape) < MLM_PROBABILITY
    return normalize(np.where(keep, vectors, np.float32(0)), copy=False)
