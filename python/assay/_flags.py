"""Writes keywords of Python as flags of the command line."""

from __future__ import annotations

import json
import numbers
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay._options import Texts


def flags_from_options(options: Mapping[str, Any]) -> list[str]:
    """The command line's flags; None and False are left out, a list is the flag once an entry."""
    flags: list[str] = []
    for name, given in options.items():
        value = bool(given) if _is_boolean(given) else given
        if value is None or value is False:
            continue
        flag, words = _WRITERS.get(name, (_flag_from_name(name), _words))
        flags += [flag] if value is True else [f"{flag}={word}" for word in words(value)]
    return flags


def flag_from_name(name: str) -> str:
    """The flag that a keyword stands for: "input_shapes" is --input-shape."""
    return _WRITERS[name][0] if name in _WRITERS else _flag_from_name(name)


def _flag_from_name(name: str) -> str:
    return f"--{name.rstrip('_').replace('_', '-')}"


def _words(value: Any) -> list[str]:
    return [str(one) for one in _listed(value)]


def _durations(value: Any) -> list[str]:
    """Numbers are seconds, to the nanosecond."""
    is_number = isinstance(value, numbers.Real)
    return [f"{value:.9f}".rstrip("0").rstrip(".") + "s" if is_number else str(value)]


def _settings(value: Mapping[str, Any]) -> list[str]:
    """The words "name=value,value"; booleans are written in lower case."""
    return [f"{name}={','.join(map(_setting, _listed(one)))}" for name, one in value.items()]


def _labels(value: Mapping[str, Any] | Texts) -> list[str]:
    """The words "name=value" of a mapping; names alone of a list."""
    return _settings(value) if isinstance(value, Mapping) else _words(value)


def _setting(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=_plain)


def _is_boolean(value: Any) -> bool:
    """True for booleans of Python and of numpy, whose own type is no number."""
    return type(value).__name__ in ("bool", "bool_")


def _plain(value: Any) -> Any:
    """A number of numpy or another library as one of Python, a mapping as a dict."""
    if isinstance(value, Mapping):
        return dict(value)
    if _is_boolean(value):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value)


def _shapes(value: Sequence[Sequence[int] | str]) -> list[str]:
    if value and all(isinstance(one, numbers.Integral) for one in value):
        value = [value]  # type: ignore[list-item]  # One shape.
    return [one if isinstance(one, str) else ",".join(map(str, one)) for one in value]


def _document(value: Mapping[str, Any]) -> list[str]:
    return [json.dumps(dict(value))]


def _listed(value: Any) -> list[Any]:
    is_one = isinstance(value, (str, numbers.Number, Mapping, Path)) or _is_boolean(value)
    return [value] if is_one else list(value)


_WRITERS: dict[str, tuple[str, Callable[[Any], list[str]]]] = {
    "args": ("--args", _document),
    "budget": ("--budget", _durations),
    "dimensions": ("--dimension", _settings),
    "for_": ("--for", _durations),
    "input_shapes": ("--input-shape", _shapes),
    "job_timeout": ("--job-timeout", _durations),
    "label": ("--label", _labels),
    "launch_timeout": ("--launch-timeout", _durations),
    "options": ("--option", _settings),
    "scenario": ("--scenario", _settings),
    "sensors": ("--sensors", _durations),
    "time_budget": ("--time-budget", _durations),
}
"""Keywords with their own form on the command line: flag, and the function that writes a value."""
