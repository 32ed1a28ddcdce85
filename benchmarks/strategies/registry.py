"""The strategies that every installation knows, in the order in which they are listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.strategies import actune, badge, bald, cal, centres, real, toolkits, uncertainty


@dataclass(frozen=True)
class BuiltIn:
    """A strategy of ours; `check` refuses values of its options, as keyword arguments."""

    function: Callable[..., Any]
    description: str
    check: Callable[..., None] | None = None


OURS: dict[str, BuiltIn] = {
    "real": BuiltIn(real.strategy("real"), "REAL: pseudo errors where they are dense", real.check),
    "real-pool": BuiltIn(
        real.strategy("pool"), "REAL pool: largest epsilon of the whole pool", real.check
    ),
    "real-uniform": BuiltIn(
        real.strategy("uniform"), "REAL uniform: the same budget for every cluster", real.check
    ),
    "real-cluster": BuiltIn(
        real.strategy("cluster"), "REAL cluster: largest epsilon of each cluster", real.check
    ),
    "real-entropy": BuiltIn(
        real.strategy("entropy"), "REAL entropy: pseudo errors of largest entropy", real.check
    ),
    "real-soft": BuiltIn(
        real.strategy("soft"), "REAL soft: rows that represent the model's doubt", real.check
    ),
    "random": BuiltIn(uncertainty.random, "uniform, without replacement"),
    "entropy": BuiltIn(uncertainty.max_entropy, "largest entropy of the prediction"),
    "margin": BuiltIn(uncertainty.margin, "smallest margin between the two best classes"),
    "least-confidence": BuiltIn(
        uncertainty.least_confidence, "smallest probability of the predicted class"
    ),
    "plm-km": BuiltIn(centres.plm_km, "PLM-KM: nearest to the centres of the representations"),
    "badge": BuiltIn(badge.badge, "BADGE: k-means++ on gradient embeddings"),
    "bald": BuiltIn(bald.bald, "BALD: mutual information under Monte-Carlo dropout", bald.check),
    "alps": BuiltIn(centres.alps, "ALPS: nearest to the centres of surprisal embeddings"),
    "cal": BuiltIn(cal.cal, "CAL: divergence from the nearest labelled texts", cal.check),
    "actune": BuiltIn(
        actune.actune, "AcTune without self-training: uncertain, mixed regions", actune.check
    ),
}

#: REAL and what is made from it.
REALS = tuple(name for name in OURS if name == "real" or name.startswith("real-"))

#: Name and description of all, the toolkits' included.
BUILT_IN: dict[str, str] = {
    **{name: built_in.description for name, built_in in OURS.items()},
    **{f"skactiveml:{name}": text for name, text in toolkits.SKACTIVEML.items()},
    **{f"modal:{name}": text for name, text in toolkits.MODAL.items()},
}
