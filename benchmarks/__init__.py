"""Benchmarks of real_plugin: `python -m benchmarks --help`."""
