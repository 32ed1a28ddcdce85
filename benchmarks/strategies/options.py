"""Options of a strategy: `name@key=value,key=value`."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Collection
from typing import Any

from benchmarks.errors import UsageError

#: What the harness passes itself.
ARGUMENTS = ("learner", "X_pool", "n_instances", "random_state")

_NAME_AND_OPTIONS = re.compile(r"(?P<base>.*?)@(?P<options>[A-Za-z_]\w*=.*)", re.DOTALL)
_COMMA = re.compile(r",(?=[A-Za-z_]\w*=)")


def split(name: str) -> tuple[str, dict[str, Any]]:
    """The name without its options, and the options. Values are JSON where they can be."""
    match = _NAME_AND_OPTIONS.fullmatch(name.strip())
    if match is None:
        return name.strip(), {}
    options: dict[str, Any] = {}
    for item in _COMMA.split(match["options"]):
        key, _, text = item.partition("=")
        if key in options:
            raise UsageError(f"{name} has the option {key} twice.")
        options[key] = _value(text)
    return match["base"], options


def join(base: str, options: dict[str, Any]) -> str:
    """The one spelling of a name with its options: these in alphabetical order."""
    if not options:
        return base
    return base + "@" + ",".join(f"{key}={_text(options[key])}" for key in sorted(options))


def without(name: str, option: str) -> str:
    """A strategy's name without one of its options; the others stay."""
    base, options = split(name)
    options.pop(option, None)
    return join(base, options)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _text(value: Any) -> str:
    is_plain = isinstance(value, str) and _value(value) == value == value.strip()
    return value if is_plain else json.dumps(value, sort_keys=True)


def allowed_by(function: Callable[..., Any]) -> list[str] | None:
    """The options of a function: its arguments but those of every strategy; None: any."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    named = [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [name for name in named[2:] if name not in ARGUMENTS]  # the first two go by place


def check_known(base: str, options: dict[str, Any], allowed: Collection[str] | None) -> None:
    """Raise if the strategy `base` doesn't take one of the options."""
    for key in options:
        if key in ARGUMENTS:
            raise UsageError(f"{key} is no option of {base}: every run passes it itself.")
        if allowed is not None and key not in allowed:
            choice = f"it takes {', '.join(sorted(allowed))}" if allowed else "it takes none"
            raise UsageError(f"Strategy {base} has no option {key!r}; {choice}.")


def check_whole_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{name} is {value!r}; it must be a whole number, 1 or more.")
