"""Ways to train the model of a benchmark run.

A track's model has `fit`, `predict_test`, `network` (what strategies see of it), `save`
and `load`.
"""

from __future__ import annotations

from typing import Any

from benchmarks.data import Dataset
from benchmarks.tracks.settings import TrackSettings

TRACKS = {
    "frozen": "encode once, then train a small head a round: full pools, many seeds",
    "finetune": "fine-tune the whole encoder, the protocol of the paper",
}


def make_model(track: str, dataset: Dataset, settings: TrackSettings, seed: int) -> Any:
    """A new model of a track, untrained."""
    if track == "frozen":
        from benchmarks.tracks.frozen import FrozenModel

        return FrozenModel(dataset, settings, seed)
    from benchmarks.tracks.finetune import FinetuneModel

    return FinetuneModel(dataset, settings, seed)


__all__ = ["TRACKS", "TrackSettings", "make_model"]
