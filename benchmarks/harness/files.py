"""Files that are either written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from benchmarks.errors import UsageError
from real_plugin._files import replace_file, replace_folder


class StorageError(UsageError):
    """The disk doesn't take what a run has to keep; nothing earlier is lost."""


@contextmanager
def storing(where: Path) -> Iterator[None]:
    """Turn what the system says of a full or broken disk into one clear error."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StorageError(
            f"{where} can't be written: {reason}. What was finished before is "
            "intact; make room, or check the permissions, and run the same command again."
        ) from error


def write_file(file: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file, then put it in the place of `file`."""
    with storing(file):
        replace_file(file, write)


def write_json(file: Path, content: Any) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    write_file(file, lambda temporary: _write_text(temporary, text))


def _write_text(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")


def read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def write_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary folder, then put it in the place of `folder`."""
    with storing(folder):
        replace_folder(folder, write)
