"""The datasets of the benchmarks."""

from benchmarks.data.dataset import Dataset, Part, Protocol
from benchmarks.data.description import describe, statistics, table
from benchmarks.data.loading import NAMES, load

__all__ = ["NAMES", "Dataset", "Part", "Protocol", "describe", "load", "statistics", "table"]
