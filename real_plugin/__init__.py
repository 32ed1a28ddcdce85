"""REAL, Representative Errors for Active Learning, for modAL and scikit-activeml."""

from real_plugin._version import __version__
from real_plugin.modal import (
    STRATEGIES,
    real_cluster_query,
    real_entropy_query,
    real_pool_query,
    real_query,
    real_soft_query,
    real_uniform_query,
)
from real_plugin.result import Selection
from real_plugin.selection import select

__all__ = [
    "STRATEGIES",
    "Selection",
    "__version__",
    "real_cluster_query",
    "real_entropy_query",
    "real_pool_query",
    "real_query",
    "real_soft_query",
    "real_uniform_query",
    "select",
]
