"""`python -m benchmarks speed`: ratios measured side by side in one run."""

from benchmarks.speed.runner import run

__all__ = ["run"]
