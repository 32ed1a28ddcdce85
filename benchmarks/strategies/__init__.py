"""Query strategies by name: `find("real").query(learner, X_pool, 100, random_state=0)`.

A strategy is a function in modAL's shape: ``function(learner, X_pool, n_instances=...)``,
with ``random_state=`` and options of its own if it likes. It returns positions in `X_pool`,
modAL's pair of indices and metrics, or a `real_plugin.Selection`. `Learner` says what it
may ask of the model.
"""

from benchmarks.strategies.learner import Learner
from benchmarks.strategies.lookup import find, listing
from benchmarks.strategies.registry import BUILT_IN
from benchmarks.strategies.strategy import Picks, Strategy, StrategyError

__all__ = ["BUILT_IN", "Learner", "Picks", "Strategy", "StrategyError", "find", "listing"]
