"""Label Studio: tasks with pre-annotations out, annotations in.

The formats are those of its import API and of its exports JSON and JSON_MIN; its CSV and TSV
exports are tables like any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from real_plugin._errors import UsageError
from real_plugin.labeling.console import shortened
from real_plugin.labeling.labels import Given, check_label
from real_plugin.labeling.suggestion import Suggestion

#: Names of the interface's parts; exports call the columns so.
TEXT, LABEL = "text", "label"
#: The exports' "id" is that of Label Studio's task.
ID = "real_plugin_id"


def tasks(suggestion: Suggestion, model_version: str) -> list[dict[str, Any]]:
    """The batch as tasks: text and id as data, the reason as metadata, the prediction."""
    found = []
    for row, reason in zip(suggestion.rows.tolist(), suggestion.picks.reasons, strict=True):
        task: dict[str, Any] = {
            "data": {TEXT: suggestion.pool.texts[row], ID: suggestion.pool.ids[row]},
            "meta": {"reason": reason, "strategy": suggestion.strategy},
        }
        if suggestion.scores.P is not None:
            name = suggestion.scores.classes[suggestion.predicted[row]]
            task["predictions"] = [
                {
                    "model_version": model_version,
                    "score": round(float(suggestion.confidence[row]), 4),
                    "result": [_choice(name)],
                }
            ]
        found.append(task)
    return found


def _choice(name: str) -> dict[str, Any]:
    return {"from_name": LABEL, "to_name": TEXT, "type": "choices", "value": {"choices": [name]}}


def interface(classes: Sequence[str]) -> str:
    """The labelling interface that the tasks are for."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Text", name=TEXT, value=f"${TEXT}")
    choices = ElementTree.SubElement(view, "Choices", name=LABEL, toName=TEXT, choice="single")
    for name in classes:
        ElementTree.SubElement(choices, "Choice", value=name)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def read_export(file: Path, data: bytes) -> list[Given]:
    """The labels of a JSON or JSON_MIN export."""
    try:
        records = json.loads(data)
    except ValueError as error:
        raise UsageError(
            f"{file} is not JSON ({error}); give Label Studio's export as JSON, JSON_MIN, CSV or "
            "TSV."
        ) from error
    if not isinstance(records, list) or not all(isinstance(item, dict) for item in records):
        raise UsageError(f"{file} is not a list of tasks; give Label Studio's export as JSON.")
    found = []
    for number, record in enumerate(records, start=1):
        place = f"{file}, task {record.get('id', number)}"
        data_of = record.get("data") if "annotations" in record else record
        if not isinstance(data_of, dict):
            raise UsageError(f'{place} has no "data"; give Label Studio\'s export as JSON.')
        key, text = data_of.get(ID), data_of.get(TEXT)
        if key is None and not isinstance(text, str):
            raise UsageError(
                f'{place} has neither "{ID}" nor "{TEXT}" in its data; import the tasks that '
                "`real-plugin suggest --format label-studio` wrote."
            )
        for name in _names(record, place):
            found.append(Given(name, place, None if key is None else str(key), text))
    return found


def _names(record: dict[str, Any], place: str) -> Iterator[str]:
    """The classes that annotators chose: several if there were several of them."""
    if "annotations" not in record:  # JSON_MIN
        label = check_label(record.get(LABEL), LABEL, place)
        if label is not None:
            yield label
        return
    for annotation in record["annotations"]:
        if annotation.get("was_cancelled") or annotation.get("skipped"):
            continue
        results = annotation.get("result") or []
        choices = [item for item in results if item.get("type") == "choices"]
        ours = [item for item in choices if item.get("from_name") == LABEL] or choices
        chosen = [name for item in ours for name in item["value"]["choices"]]
        if len(chosen) > 1:
            raise UsageError(
                f"{place} has {len(chosen)} choices, {shortened(', '.join(chosen))}; a text has "
                "one label here, texts with several are not supported."
            )
        if chosen and (label := check_label(chosen[0], LABEL, place)):
            yield label
