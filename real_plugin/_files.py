"""Files that are either written whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def replace_file(file: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary file, then put it in the place of `file`."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def replace_folder(folder: Path, write: Callable[[Path], None]) -> None:
    """Let `write` fill a temporary folder, then put it in the place of `folder`."""
    temporary = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    write(temporary)
    shutil.rmtree(folder, ignore_errors=True)
    temporary.replace(folder)


def default_cache() -> Path:
    """Where encodings are kept: $REAL_PLUGIN_CACHE, or the user's cache folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("REAL_PLUGIN_CACHE") or Path(home) / "real_plugin")
