"""From a name to a strategy: built in, of a toolkit, of a user's file, or installed."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.errors import UsageError
from benchmarks.strategies import toolkits
from benchmarks.strategies.options import allowed_by, check_known, join, split
from benchmarks.strategies.references import (
    attribute,
    import_file,
    import_module,
    installed_strategies,
    load,
)
from benchmarks.strategies.registry import BUILT_IN, OURS
from benchmarks.strategies.strategy import Strategy


@dataclass(frozen=True)
class Toolkit:
    """A library whose strategies have names of their own."""

    library: str
    extra: str
    names: Collection[str]  #: with options where a name needs them
    excluded: dict[str, str]  #: and why


TOOLKITS = {
    "skactiveml": Toolkit(
        "scikit-activeml", "skactiveml", toolkits.SKACTIVEML, toolkits.SKACTIVEML_EXCLUDED
    ),
    "modal": Toolkit("modAL", "modal", toolkits.MODAL, toolkits.MODAL_EXCLUDED),
}


def find(name: str) -> Strategy:
    """The strategy of a name, with its options checked.

    Parameters
    ----------
    name : str
        A name of `listing()`, an installed entry point, ``path/to/file.py:function`` or
        ``package.module:function``; with options, ``name@key=value,key=value``.

    Raises
    ------
    UsageError
        If there is no such strategy or option, or if it can't be loaded.
    """
    base, options = split(name)
    prefix, _, rest = base.partition(":")
    if base in OURS:
        return _of_ours(base, options)
    if prefix in TOOLKITS and rest:
        return _of_a_toolkit(prefix, rest, options)
    if base in (installed := installed_strategies()):
        return _of_a_function(base, load(installed[base]), options)
    if prefix and rest:
        return _of_a_reference(base, options)
    raise _unknown(name)


def listing() -> str:
    """A table of all names and what they do."""
    rows = dict(BUILT_IN)
    for name, point in sorted(installed_strategies().items()):
        package = f"{point.dist.name} {point.dist.version}" if point.dist else "a package"
        rows.setdefault(name, f"installed: {point.value} of {package}")
    rows["path/to/file.py:function"] = "a function of your own: (learner, X_pool, n_instances)"
    rows["package.module:function"] = "the same, importable"
    rows["NAME@key=value,key=value"] = "any of these with options"
    width = max(map(len, rows))
    return "\n".join(f"{name:{width}}  {text}" for name, text in rows.items())


def _of_ours(base: str, options: dict[str, Any]) -> Strategy:
    built_in = OURS[base]
    check_known(base, options, allowed_by(built_in.function))
    if built_in.check is not None:
        built_in.check(**options)
    return Strategy(join(base, options), built_in.function, options)


def _of_a_toolkit(prefix: str, name: str, options: dict[str, Any]) -> Strategy:
    toolkit, base = TOOLKITS[prefix], f"{prefix}:{name}"
    if name in toolkit.excluded:
        raise UsageError(f"{base} can't be used here: {toolkit.excluded[name]}.")
    if name not in {split(known)[0] for known in toolkit.names}:
        raise _unknown(base)
    try:
        module = importlib.import_module(f"benchmarks.strategies.{prefix}")
    except ImportError as error:
        raise UsageError(
            f'{base} needs {toolkit.library}: pip install ".[{toolkit.extra}]" ({error}).'
        ) from error
    check_known(base, options, module.allowed_options(name))
    module.check(options)
    return Strategy(join(base, options), module.strategy(name), options)


def _of_a_function(
    base: str, function: Any, options: dict[str, Any], fingerprint: str = ""
) -> Strategy:
    """A function from outside, if it has the shape of a strategy."""
    if not callable(function):
        raise UsageError(f"{base} is {function!r}; a strategy must be a function.")
    _check_arguments(base, function)
    check_known(base, options, allowed_by(function))
    return Strategy(join(base, options), function, options, fingerprint)


def _check_arguments(base: str, function: Callable[..., Any]) -> None:
    try:
        inspect.signature(function).bind_partial(None, None, n_instances=1)
    except TypeError as error:
        raise UsageError(
            f"{base} can't be called as function(learner, X_pool, n_instances=...): {error}."
        ) from error


def _of_a_reference(base: str, options: dict[str, Any]) -> Strategy:
    """`path/to/file.py:function` or `package.module:function`."""
    where, _, name = base.rpartition(":")
    if where.endswith(".py"):
        module, fingerprint = import_file(Path(where))
        base = f"{Path(where).as_posix()}:{name}"
        return _of_a_function(base, attribute(module, where, name), options, fingerprint)
    importable = import_module(where)
    if importable is None:
        raise _unknown(base)
    return _of_a_function(base, attribute(importable, where, name), options)


def _unknown(name: str) -> UsageError:
    known = {known.lower(): known for known in (*BUILT_IN, *installed_strategies())}
    close = difflib.get_close_matches(split(name)[0].lower(), known, n=3)
    hint = f" Did you mean {' or '.join(known[c] for c in close)}?" if close else ""
    syntax = " Options are written name@key=value,key=value." if "@" in name else ""
    return UsageError(
        f"There is no strategy {name!r}.{hint}{syntax} All names: python -m benchmarks list "
        "strategies; or give a function of your own, path/to/file.py:function."
    )
