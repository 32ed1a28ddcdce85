"""The commands of `python -m benchmarks`, each with its options."""

from benchmarks.commands import listing, report, run, speed

COMMANDS = (run, report, listing, speed)
