"""Functions of a user's files, of importable modules and of installed packages."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.errors import UsageError

ENTRY_POINTS = "real_plugin.strategies"


def installed_strategies() -> dict[str, EntryPoint]:
    """The entry points of other packages, by name."""
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def load(point: EntryPoint) -> Any:
    """What an entry point names."""
    try:
        return point.load()
    except Exception as error:
        package = f" of {point.dist.name}" if point.dist else ""
        raise UsageError(
            f"The installed strategy {point.name}{package} can't be loaded: {_say(error)}."
        ) from error


def import_file(file: Path) -> tuple[ModuleType, str]:
    """The module in a file, and the SHA-256 of the file."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} can't be read: {error.strerror}.") from error
    where = hashlib.sha256(str(file.resolve()).encode() + content).hexdigest()[:16]
    name = f"_strategy_{where}"
    if name not in sys.modules:
        module = ModuleType(name)
        module.__file__ = str(file)
        sys.modules[name] = module  # dataclasses and pickle look it up
        try:
            exec(compile(content, str(file), "exec"), vars(module))  # what was hashed, no cache
        except Exception as error:
            del sys.modules[name]
            raise UsageError(f"{file} can't be imported: {_say(error)}.") from error
    return sys.modules[name], hashlib.sha256(content).hexdigest()


def import_module(name: str) -> ModuleType | None:
    """The module of that name; None if there is none."""
    try:
        return importlib.import_module(name)
    except Exception as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{name}.".startswith(f"{missing}."):
            return None
        raise UsageError(f"{name} can't be imported: {_say(error)}.") from error


def attribute(module: ModuleType, where: str, name: str) -> Any:
    """A function of a module; `where` is what the user calls the module."""
    if not hasattr(module, name):
        own = (f for f in vars(module).values() if getattr(f, "__module__", "") == module.__name__)
        functions = [f.__name__ for f in own if inspect.isfunction(f)]
        choice = f"it has {', '.join(functions)}" if functions else "it has no functions"
        raise UsageError(f"{where} has no function {name!r}; {choice}.")
    return getattr(module, name)


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
