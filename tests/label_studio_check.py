"""Run where label-studio-sdk is installed: checks tasks, and exports them as annotated.

python label_studio_check.py TASKS.json INTERFACE.xml ANSWERS.json OUT
    validates the tasks against the interface, annotates each with its answer (null is a task
    that was skipped), and lets the SDK's own converter write JSON, JSON_MIN, CSV and TSV to OUT
"""

import json
import sys
from pathlib import Path


def main(tasks, interface, answers, out):
    from label_studio_sdk.converter import Converter
    from label_studio_sdk.label_interface import LabelInterface

    tasks, answers = (json.loads(Path(name).read_text("utf-8")) for name in (tasks, answers))
    config = Path(interface).read_text("utf-8")
    label_interface = LabelInterface(config)
    label_interface.validate()
    for task in tasks:
        assert label_interface.validate_task({"data": task["data"]}), task
        for prediction in task.get("predictions", []):
            errors = label_interface.validate_prediction(prediction, return_errors=True)
            assert not errors, errors
    annotated = [annotate(i, task, answers, label_interface) for i, task in enumerate(tasks, 100)]
    out = Path(out)
    (out / "annotated.json").write_text(json.dumps(annotated), "utf-8")
    for name in ("JSON", "JSON_MIN", "CSV", "TSV"):
        converter = Converter(config, project_dir=str(out))
        options = {"csv_separator": "\t"} if name == "TSV" else {}
        target = out / name
        target.mkdir()
        kind = "CSV" if name == "TSV" else name
        file = target / "result.csv" if kind == "CSV" else target
        converter.convert(str(out / "annotated.json"), str(file), kind, is_dir=False, **options)
    (out / "TSV" / "result.csv").rename(out / "TSV" / "result.tsv")


def annotate(number, task, answers, label_interface):
    answer = answers[task["data"]["real_plugin_id"]]
    annotation = {
        "id": number,
        "completed_by": 1,
        "created_at": "2024-01-01T00:00:00Z",
        "was_cancelled": answer is None,
        "result": [],
    }
    if answer is not None:
        regions = label_interface.create_regions({"label": answer})
        annotation["result"] = [region._dict() for region in regions]
        assert label_interface.validate_annotation(annotation), annotation
    return {**task, "id": number, "annotations": [annotation]}


if __name__ == "__main__":
    main(*sys.argv[1:])
