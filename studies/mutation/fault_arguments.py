"""Faults of arguments: what is ignored, flipped, swapped or off by one, by an operator's schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kernel_call import Call, Kernel, Tensor

Change = Callable[[Any], Any]
"""Changes an argument's value; None, or the value itself, where there is nothing to change."""

INDICES = ("index", "indices")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(one, int) for one in value)


def _off_by_one(value: Any) -> Any:
    if _is_list(value):
        return [one + 1 for one in value]
    return value + 1 if _is_number(value) else None


def _one_less(value: Any) -> Any:
    if _is_list(value):
        return [one - 1 for one in value]
    return value - 1 if _is_number(value) else None


def _last_off_by_one(value: Any) -> Any:
    return [*value[:-1], value[-1] + 1] if _is_list(value) and value else None


def _reversed(value: Any) -> Any:
    return list(value)[::-1] if _is_list(value) else None


def _scaled(value: Any) -> Any:
    return value * 1.25 if isinstance(value, float) and value else None


def _flipped(value: Any) -> Any:
    return not value if isinstance(value, bool) else None


def _dropped(value: Any) -> Any:
    return _NOTHING if isinstance(value, Tensor) else None


_NOTHING = object()

CHANGES: dict[str, tuple[str, Change]] = {
    "off by one": ("int float number SymInt ints", _off_by_one),
    "one less": ("int SymInt ints", _one_less),
    "last off by one": ("ints", _last_off_by_one),
    "in reverse": ("ints", _reversed),
    "a quarter too large": ("float number", _scaled),
    "flipped": ("bool", _flipped),
    "dropped": ("Tensor?", _dropped),
}
"""Each fault by name: the kinds of arguments that it can concern, and the change."""

NO_NUMBERS = ("dtype", "layout", "memory_format", "device", "pin_memory")
"""Arguments whose numbers in a schema are names."""

WORDS = {
    "approximate": ("none", "tanh"),
    "rounding_mode": ("trunc", "floor", None),
    "reduce": ("sum", "prod", "mean", "amax", "amin"),
}
"""Arguments that are words."""


def _kind(argument: Any) -> str:
    """The kind "ints" of int[2]?, "Tensor?" of one that may be absent; else the type's name."""
    text = str(argument.type)
    is_list, is_optional = "List[" in text, "Optional[" in text
    name = text.replace("Optional[", "").replace("List[", "").rstrip("]")
    if name in ("int", "SymInt") and is_list:
        return "ints"
    return name + "?" * (name == "Tensor" and is_optional and not is_list)


def _kernel(name: str, change: Change) -> Kernel:
    def kernel(call: Call) -> Sequence[Tensor]:
        changed = change(call.arguments[name])
        if changed is None:
            return call.right
        return call.run(**{name: None if changed is _NOTHING else changed})

    return kernel


def _default(argument: Any) -> Iterator[tuple[str, Kernel]]:
    """The argument is ignored."""
    value = argument.default_value
    if argument.has_default_value() and argument.name not in NO_NUMBERS:
        yield (
            f"{argument.name} ignored",
            lambda call: call.run(**{argument.name: value}),
        )


def _words(argument: Any) -> Iterator[tuple[str, Kernel]]:
    for word in WORDS.get(argument.name, ()):
        yield (
            f"{argument.name} is always {word}",
            lambda call, word=word: call.run(**{argument.name: word}),
        )


def _shifted(step: int) -> Change:
    def change(index: Any) -> Any:
        if isinstance(index, Tensor) and not index.dtype.is_floating_point:
            return (index + step).clamp(0, max(int(index.max()), 0)) if index.numel() else None
        if isinstance(index, list):
            return [one if one is None else change(one) for one in index]
        return None

    return change


def _indices(argument: Any) -> Iterator[tuple[str, Kernel]]:
    if argument.name in INDICES:
        yield f"{argument.name} one too large", _kernel(argument.name, _shifted(1))
        yield f"{argument.name} one too small", _kernel(argument.name, _shifted(-1))


def _changes(argument: Any) -> Iterator[tuple[str, Kernel]]:
    kind = _kind(argument)
    if argument.name in NO_NUMBERS or (kind == "Tensor?" and argument.has_default_value()):
        return
    for text, (kinds, change) in CHANGES.items():
        if kind in kinds.split():
            yield f"{argument.name} {text}", _kernel(argument.name, change)


def argument_faults(overload: Any) -> dict[str, Kernel]:
    """The faults of all arguments of an operator, by name."""
    return {
        name: kernel
        for argument in overload._schema.arguments
        for make in (_default, _changes, _words, _indices)
        for name, kernel in make(argument)
    }
