"""Dataclasses from JSON documents: the fields of a class say what is read, and as what."""

import copyreg
import dataclasses
import functools
import types
import typing
from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

T = TypeVar("T")
_SPECIAL = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class UnknownWordError(ValueError):
    """A document has a word that a literal type lacks."""

    def __init__(self, value: object, known: tuple[object, ...]) -> None:
        super().__init__(f"has {value!r} where one of {', '.join(map(str, known))} belongs")


class HasInterval:
    """A dataclass with `low`, `high` and `confidence`, which is None if there is no interval."""

    low: float | None
    confidence: float | None

    def __post_init__(self) -> None:
        """Replaces the 0 that documents have without an interval by None."""
        if self.low is None:
            object.__setattr__(self, "confidence", None)


def _proxy_of(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(entries)


# Results have such mappings, and come back from the processes of a pool.
copyreg.pickle(MappingProxyType, lambda mapping: (_proxy_of, (dict(mapping),)))


def read_fields(cls: type[T], source: Mapping[str, Any], /, **given: Any) -> T:
    """An instance of a dataclass with the entries of a JSON object that have its fields' names.

    Tuples, mappings and dataclasses are read recursively. An absent entry takes its default, or
    None if the type allows it. `given`: fields that the object does not have.

    Raises:
        KeyError: a required field is absent.
        UnknownWordError: a value is none of those that the literal type of its field lists.
    """
    hints = _hints(typing.cast("Hashable", cls))
    values = dict(given)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if field.name in values:
            continue
        if field.name in source:
            values[field.name] = _read(hints[field.name], source[field.name])
        elif _is_required(field):
            if type(None) not in typing.get_args(hints[field.name]):
                raise KeyError(field.name)
            values[field.name] = None
    return cls(**values)


def number_from_json(entry: Mapping[str, Any]) -> float:
    """The number of {value, special}: NaN and infinities travel by name, for JSON lacks them."""
    special = entry.get("special", "")
    return _SPECIAL[special] if special in _SPECIAL else float(entry["value"])


@functools.cache
def _hints(cls: Hashable) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _is_required(field: "dataclasses.Field[Any]") -> bool:
    missing = dataclasses.MISSING
    return field.default is missing and field.default_factory is missing


def _read(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    arguments = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        (one,) = [option for option in arguments if option is not type(None)]
        return _read(one, value)
    if origin is tuple:
        return tuple(_read(arguments[0], one) for one in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return MappingProxyType({name: _read(arguments[1], one) for name, one in value.items()})
    if dataclasses.is_dataclass(kind):
        return read_fields(typing.cast("type[Any]", kind), value)
    if origin is typing.Literal and value not in arguments:
        raise UnknownWordError(value, arguments)
    if kind is float and isinstance(value, Mapping):
        return number_from_json(value)
    return float(value) if kind is float else value
