"""A project: a folder that remembers the pool, the labels, the rounds and the vectors.

Labels are in a journal, ``labels/000001.json`` and so on. A file of it is written at once and
never changed; whatever else is in the folder can be made again from the pool and the journal.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from real_plugin._errors import UsageError
from real_plugin._files import replace_file, replace_folder
from real_plugin._records import Record
from real_plugin.labeling.columns import Columns
from real_plugin.labeling.errors import BusyError, conflicting
from real_plugin.labeling.labels import Label
from real_plugin.labeling.pool import Pool, read_pool
from real_plugin.labeling.rounds import Round, load_round, save_round
from real_plugin.labeling.tables import write_table

if TYPE_CHECKING:
    from real_plugin.labeling.stopping import Point

SETTINGS = "real-plugin.json"
FORMAT = 1
CORRECT = (
    "Remove the wrong ones from the file; or, if the new ones are right, merge with --correct: "
    "the old ones stay in the journal, and are no longer used."
)


@dataclass(frozen=True)
class Settings:
    """What `init` fixes."""

    pool: str  #: relative to the project's folder
    text_column: str
    id_column: str | None
    label_column: str | None
    encoding: str | None
    encoder: str
    max_length: int
    strategy: str
    finetune: bool
    classes: list[str] = field(default_factory=list)
    format: int = FORMAT

    @property
    def columns(self) -> Columns:
        """The columns as they were found; "-" where there is none, so that none is guessed."""
        return Columns(self.text_column, self.label_column or "-", self.id_column or "-")


@dataclass(frozen=True)
class Merged:
    """What became of labels that were merged."""

    new: int
    known: int
    corrected: int


class Project:
    """A project's folder; everything that changes it happens under its lock."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root = root
        self.settings = settings

    @classmethod
    def create(cls, root: Path, settings: Settings) -> Project:
        """Make the folder; an existing project is never replaced."""
        file = root / SETTINGS
        if file.exists():
            raise UsageError(
                f"{root} is a project already; choose another folder, or go on with `suggest`."
            )
        root.mkdir(parents=True, exist_ok=True)
        _write_json(file, asdict(settings))
        return cls(root, settings)

    @classmethod
    def open(cls, root: Path) -> Project:
        file = root / SETTINGS
        if not file.is_file():
            raise UsageError(
                f"{root} is no project (it has no {SETTINGS}); make one with `real-plugin init "
                "DIR --pool FILE`, or name its folder with --project."
            )
        content = _read_json(file)
        known = {field.name for field in fields(Settings)}
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise UsageError(f"{file} is of another version of real_plugin.")
        if set(content) - known or "pool" not in content:
            raise UsageError(f"{file} is not valid; restore it from a copy.")
        return cls(root, Settings(**content))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One process at a time; another one is told so at once."""
        try:
            with FileLock(self.root / ".lock", timeout=0):
                yield
        except Timeout:
            raise BusyError(
                f"{self.root} is in use by another real-plugin; wait until it is done."
            ) from None

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    @property
    def model_folder(self) -> Path:
        return self.root / "model"

    def read_pool(self) -> Pool:
        file = Path(os.path.normpath(self.root / self.settings.pool))
        return read_pool(file, self.settings.columns, self.settings.encoding)

    # The journal

    def labels(self) -> dict[str, Label]:
        """All labels that came back; of corrected ones, the last."""
        found: dict[str, Label] = {}
        for file in self._journal():
            for entry in _read_json(file)["labels"]:
                found[entry["id"]] = Label(
                    entry["id"], entry["label"], entry["text"], f"{file.parent.name}/{file.name}"
                )
        return found

    def _journal(self) -> list[Path]:
        return _numbered(self.root / "labels", r"(\d{6})\.json")

    def add_labels(self, labels: dict[str, Label], source: str, correct: bool) -> Merged:
        """Append to the journal all of `labels` that are new, or nothing if some conflict."""
        before = self.labels()
        new = [label for key, label in labels.items() if key not in before]
        changed = [
            label
            for key, label in labels.items()
            if key in before and before[key].label != label.label
        ]
        if changed and not correct:
            lines = [
                f"{label.id}: {before[label.id].label!r} ({before[label.id].place}), "
                f"{label.label!r} ({label.place})"
                for label in changed
            ]
            raise conflicting(lines, CORRECT)
        if new or changed:
            self._append(source, [*new, *changed])
        return Merged(len(new), len(labels) - len(new) - len(changed), len(changed))

    def _append(self, source: str, labels: Sequence[Label]) -> None:
        journal = self._journal()
        number = int(journal[-1].stem) + 1 if journal else 1
        content = {
            "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "source": source,
            "labels": [
                {"id": label.id, "label": label.label, "text": label.text, "place": label.place}
                for label in labels
            ],
        }
        _write_json(self.root / "labels" / f"{number:06}.json", content)

    # Rounds

    def round_folders(self) -> list[Path]:
        return _numbered(self.root / "rounds", r"(\d{4})")

    def rounds(self) -> list[Round]:
        return [load_round(folder) for folder in self.round_folders()]

    def suggested(self) -> set[str]:
        """Ids of all rows that were ever suggested."""
        return {str(key) for kept in self.rounds() for key in kept.ids[kept.picks]}

    def add_round(self, kept: Round, batch: Sequence[dict[str, Any]]) -> int:
        """Keep a round; its number."""
        folders = self.round_folders()
        number = int(folders[-1].name) + 1 if folders else 1
        folder = self.root / "rounds" / f"{number:04}"
        replace_folder(folder, lambda temporary: save_round(temporary, kept, batch))
        return number

    def save_model(self, model: Any) -> None:
        """Keep a model in the place of the last one; None keeps that."""
        if model is not None:
            replace_folder(self.model_folder, model.save)

    def write_curve(self) -> None:
        """Write the learning curve, which rounds and journal tell, as ``curve.csv``."""
        from real_plugin.labeling.stopping import curve

        rows = [_curve_row(point) for point in curve(self.rounds(), self.labels())]
        if rows:
            write_table(self.root / "curve.csv", rows, "csv")


def _curve_row(point: Point) -> Record:
    row: Record = {"round": point.round, "labels": point.labels}
    for what, found in (("labels", point.on_labels), ("pool", point.on_pool)):
        for ending in ("value", "low", "high"):
            value = "" if found is None else round(getattr(found, ending), 4)
            row[f"accuracy_on_{what}_{ending}".removesuffix("_value")] = value
    row["batch_right"], row["batch_labelled"] = point.batch or ("", "")
    agreement = point.agreement
    row["kappa"] = "" if agreement is None else round(agreement.kappa, 4)
    row["changed_predictions"] = "" if agreement is None else agreement.changed
    return row


def find_project(option: Path | None) -> Project | None:
    """The project that is named, or the one of the current folder if it is one."""
    if option is not None:
        return Project.open(option)
    here = Path()
    return Project.open(here) if (here / SETTINGS).is_file() else None


def need_project(option: Path | None) -> Project:
    """As `find_project`; none is an error."""
    project = find_project(option)
    if project is None:
        raise UsageError("there is no project here; name its folder with --project.")
    return project


def _numbered(folder: Path, pattern: str) -> list[Path]:
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in found if re.fullmatch(pattern, path.name))


def _write_json(file: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    def write(temporary: Path) -> None:
        temporary.write_text(text, encoding="utf-8")

    replace_file(file, write)


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{file} is not valid JSON ({error}); restore it from a copy.") from error
