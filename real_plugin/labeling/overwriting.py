"""A batch that was labelled and not merged yet is not written over."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

from real_plugin._errors import UsageError
from real_plugin.labeling.columns import Columns
from real_plugin.labeling.console import count
from real_plugin.labeling.errors import ConflictError
from real_plugin.labeling.labels import Given, Label
from real_plugin.labeling.merging import read_given
from real_plugin.labeling.tables import read_table


def check_overwrite(file: Path, labels: Mapping[str, Label], inputs: Collection[Path]) -> None:
    """Raise an error unless `file` is a batch whose labels are all known."""
    if any(file.resolve() == other.resolve() for other in inputs):
        raise UsageError(f"{file} is read, so it is not written over; name another file with -o.")
    if not file.stat().st_size:
        return
    if not _is_batch(file):
        raise UsageError(f"{file} exists and is no batch of ours; name another file with -o.")
    unknown = [item for item in _labels_in(file) if not _is_known(item, labels)]
    if unknown:
        raise ConflictError(
            f"{file} has {count(len(unknown), 'label')} that would be lost, the first is "
            f"{unknown[0].place}; merge it first (`real-plugin merge {file} ...`), or name "
            "another file with -o."
        )


def _is_batch(file: Path) -> bool:
    try:
        if file.suffix.lower() == ".json":
            tasks = json.loads(file.read_bytes())
            return all("data" in task and "annotations" not in task for task in tasks)
        return {"prediction", "probability", "reason"} <= set(read_table(file).columns)
    except (UsageError, ValueError, TypeError):
        return False


def _labels_in(file: Path) -> list[Given]:
    return [] if file.suffix.lower() == ".json" else read_given(file, Columns())


def _is_known(item: Given, labels: Mapping[str, Label]) -> bool:
    found = labels.get(str(item.id))
    return found is not None and found.label == item.label
