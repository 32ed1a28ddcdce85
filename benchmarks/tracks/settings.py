"""What every model of a run shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TrackSettings:
    """The encoder and how it is used."""

    encoder: str  #: folder, name on the hub, or "minilm"
    encoder_sha256: str  #: hash of its weights
    max_length: int  #: tokens a text
    cache: Path  #: where encodings are kept
    precision: str = "auto"  #: of scoring on the track `finetune`
    training_precision: str = "float32"  #: of training there
    validation: bool = True  #: whether `finetune` keeps the best weights by validation data
    first_epochs: int = 10  #: of the first training on `finetune`
