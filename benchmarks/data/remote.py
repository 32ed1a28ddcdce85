"""Where rows are that aren't on this machine: repositories of the hub, and plain files."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from benchmarks.data.rows import Rows, check_label, check_text
from benchmarks.errors import UsageError
from real_plugin._records import quoted

ADVICE = (
    "Check the connection, or get the data elsewhere and name their folder with --data-dir: "
    "train, validation and test as .jsonl."
)
TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class HubSplit:
    """A split of a dataset on the Hugging Face hub, and its two columns.

    Rows are counted from 0, as the hub's viewer does.
    """

    repository: str
    split: str
    text: str
    label: str

    def __str__(self) -> str:
        return f"{self.repository}, {self.split}"

    def read(self) -> Rows:
        table = self._download()
        for column in (self.text, self.label):
            if column not in table.column_names:
                raise UsageError(
                    f'{self} on the Hugging Face hub has no column "{column}", only '
                    f"{quoted(table.column_names)}: it was changed. {ADVICE}"
                )
        texts, labels = table[self.text][:], table[self.label][:]
        names = getattr(table.features[self.label], "names", None)
        if names:  # the labels are numbers of these, and -1 where they are hidden
            labels = [names[i] if i is not None and i >= 0 else None for i in labels]
        rows = Rows(str(self), [], [], list(range(len(texts))), unit="row")
        for row, (text, label) in enumerate(zip(texts, labels, strict=True)):
            rows.texts.append(check_text(text, self.text, rows.place(row)))
            rows.labels.append(check_label(label, self.label, rows.place(row)))
        return rows

    def _download(self) -> Any:
        try:
            import datasets
        except ImportError as error:
            raise UsageError(
                'the Hugging Face hub is read with the package datasets: pip install ".[bench]", '
                "or give --data-dir."
            ) from error
        with _quiet():
            try:
                return datasets.load_dataset(self.repository, split=self.split)
            except Exception as error:  # of several libraries, and others in other versions
                raise UsageError(
                    f"{self} can't be loaded from the Hugging Face hub ({_in_a_line(error)}). "
                    f"{ADVICE}"
                ) from error


@dataclass(frozen=True)
class LineFiles:
    """Two files, of a text a line and of a number a line; the number 1 is the first class.

    Rows with other numbers than those of the classes are left out.
    """

    texts: str
    labels: str
    classes: tuple[str, ...]

    def __str__(self) -> str:
        return self.texts

    def read(self) -> Rows:
        texts, labels = _download_lines(self.texts), _download_lines(self.labels)
        if len(texts) != len(labels):
            raise UsageError(
                f"{self.texts} has {len(texts)} lines, but {self.labels} has {len(labels)}: they "
                f"were changed. {ADVICE}"
            )
        names = {str(i): name for i, name in enumerate(self.classes, start=1)}
        kept = [i for i, label in enumerate(labels) if label.strip() in names]
        if not kept:
            raise UsageError(
                f"{self.labels} has no line that is a number from 1 to {len(names)}: it was "
                f"changed. {ADVICE}"
            )
        return Rows(
            self.texts,
            [texts[i] for i in kept],
            [names[labels[i].strip()] for i in kept],
            [i + 1 for i in kept],
        )


def _download_lines(url: str) -> list[str]:
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            text: str = answer.read().decode("utf-8", "replace")
    except (OSError, HTTPException) as error:
        raise UsageError(f"{url} can't be loaded ({_in_a_line(error)}). {ADVICE}") from error
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def _in_a_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars, and no logging of retries: what matters is raised."""
    import datasets
    import huggingface_hub.utils as hub

    libraries = (datasets, datasets.logging), (hub, hub.logging)
    before = [(bars.are_progress_bars_disabled(), log.get_verbosity()) for bars, log in libraries]
    for bars, log in libraries:
        bars.disable_progress_bars()
        log.set_verbosity(log.CRITICAL)
    try:
        yield
    finally:
        for (bars, log), (disabled, verbosity) in zip(libraries, before, strict=True):
            log.set_verbosity(verbosity)
            if not disabled:
                bars.enable_progress_bars()
