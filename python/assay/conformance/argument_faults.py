"""Faults of arguments, and which recorded call shows them.

A backend may ignore an argument, or compute with one value whatever the program says. For each
argument of an operator's schema there is a fault for each of some constants, its default among
them; one more fault answers with an input unchanged. A fault that no call shows is one that a
backend may have and pass every case.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from assay.conformance.calls import decode, find_overload, is_tensor
from assay.conformance.controls import expected_bounds, is_broken, unchanged_passes
from assay.conformance.operator_model import make_operator
from assay.conformance.operators import packet_name, table
from assay.conformance.recorded_calls import RecordedCall, with_dtype
from assay.toolchain.sampled_model import Bound
from assay.toolchain.tensors import Sample, flatten_tensors

UNCHANGED = "the input unchanged"
"""The fault of a backend that takes the operator for a copy."""

WORDS: dict[str, tuple[str | None, ...]] = {
    "approximate": ("none", "tanh"),
    "rounding_mode": (None, "trunc", "floor"),
    "reduce": ("sum", "prod", "mean", "amax", "amin"),
    "mode": ("constant", "reflect", "replicate", "circular"),
}
"""Arguments that are words, and the words."""

_NUMBERS: dict[str, tuple[Any, ...]] = {
    "bool": (False, True),
    "int": (0, 1),
    "SymInt": (0, 1),
    "float": (0.0, 1.0),
    "number": (0.0, 1.0),
    "Scalar": (0.0, 1.0),
}
_LEFT_OUT = ("memory_format", "layout", "device", "pin_memory", "generator")
"""Arguments that no value of an answer can depend on."""


@dataclass(frozen=True)
class Fault:
    """An argument's constant in place of the given value; `value`: as calls write it."""

    argument: str
    value: Any

    @property
    def name(self) -> str:
        """Name in the table of arguments: "keepdim is False"."""
        return self.argument if self.argument == UNCHANGED else f"{self.argument} is {self.value}"


def kind_of(argument: Any) -> tuple[str, bool]:
    """The type of a schema's argument without its option, and whether it is a list."""
    text = str(argument.type)
    is_list = "List[" in text
    name = text.replace("Optional[", "").replace("List[", "").rstrip("]")
    return name, is_list


def arguments_of(operator: str) -> list[Any]:
    """The arguments of the schema that an answer may depend on, except tensors that it needs."""
    return [
        argument
        for argument in find_overload(operator)._schema.arguments
        if argument.name not in _LEFT_OUT
        and (kind_of(argument)[0] != "Tensor" or argument.has_default_value())
    ]


def value_in(call: Mapping[str, Any], operator: str, name: str) -> Any:
    """The value of an argument in a call as calls write it; its default where it is left out."""
    for place, argument in enumerate(find_overload(operator)._schema.arguments):
        if argument.name != name:
            continue
        if place < len(call["args"]):
            return call["args"][place]
        return call["kwargs"].get(name, written_default(argument))
    raise KeyError(name)


def written_default(argument: Any) -> Any:
    """The default of an argument as calls write it; None without one."""
    default = argument.default_value if argument.has_default_value() else None
    return list(default) if isinstance(default, (list, tuple)) else default


def with_argument(
    call: Mapping[str, Any], operator: str, name: str, value: Any
) -> dict[str, Any] | None:
    """The call with another value of an argument; None where those before it have no default."""
    args, kwargs = list(call["args"]), dict(call["kwargs"])
    for place, argument in enumerate(find_overload(operator)._schema.arguments):
        if argument.name == name and (argument.kwarg_only or name in kwargs):
            kwargs[name] = value
            return {**call, "args": args, "kwargs": kwargs}
        if argument.name == name:
            return {**call, "args": [*args[:place], value, *args[place + 1 :]], "kwargs": kwargs}
        if place >= len(args) and argument.name in kwargs:
            args.append(kwargs.pop(argument.name))
        elif place >= len(args) and argument.has_default_value() and not argument.kwarg_only:
            args.append(written_default(argument))
        elif place >= len(args):
            return None
    return None


def faults_of(operator: str, rows: Sequence[RecordedCall]) -> list[Fault]:
    """The faults of an operator: constants by the type of each argument, and what calls give."""
    found = [Fault(UNCHANGED, None)]
    for argument in arguments_of(operator):
        seen = [value_in(row.call, operator, argument.name) for row in rows]
        found += (Fault(argument.name, value) for value in _constants(argument, seen))
    return found


def _constants(argument: Any, seen: Sequence[Any]) -> list[Any]:
    kind, is_list = kind_of(argument)
    constants: list[Any] = []
    if argument.has_default_value():
        constants.append(written_default(argument))
    if kind == "Tensor":
        return constants
    if not is_list and argument.name != "dtype":
        constants += WORDS.get(argument.name, _NUMBERS.get(kind, ()))
    frequent = sorted(
        (one for one in seen if not _has_tensor(one)), key=lambda one: -sum(one == x for x in seen)
    )
    constants += frequent[:1]
    return [one for place, one in enumerate(constants) if _is_new(one, constants[:place])]


def _is_new(value: Any, others: Sequence[Any]) -> bool:
    return not any(
        value == one and isinstance(value, bool) == isinstance(one, bool) for one in others
    )


def _has_tensor(value: Any) -> bool:
    is_in_list = isinstance(value, list) and any(map(_has_tensor, value))
    return is_tensor(value) or is_in_list


class Witness:
    """A call in one type, executed: it tells which faults show in its answers."""

    def __init__(self, row: RecordedCall, dtype: str, values: str, count: int) -> None:
        self.row = row
        args = {**with_dtype(row.call, dtype), "values": values}
        self._model = make_operator(row.ref, args)
        self._samples = [self._model.make_sample(1, index) for index in range(count)]
        self._bounds = expected_bounds(row.ref, args, count)
        with torch.no_grad():
            self._own = [self._model.module(*sample) for sample in self._samples]

    def is_copy(self) -> bool:
        """True if an input, unchanged, is within all bounds."""
        return unchanged_passes(self._samples, self._bounds)

    def look(self, fault: Fault) -> str:
        """Says whether the call would show the fault.

        "shown": a backend with the fault answers out of bounds. "hidden": it does not. "given": the
        call gives that value itself. "refused": eager raises, so no backend has it in silence.
        """
        if fault.argument == UNCHANGED:
            return "hidden" if self.is_copy() else "shown"
        given = value_in(self.row.call, self.row.operator, fault.argument)
        if not _is_new(fault.value, [given]):
            return "given"
        try:
            answers = [self._answer(fault, sample) for sample in self._samples]
        except Exception:
            return "refused"
        parts = zip(answers, self._own, self._bounds, strict=True)
        return "shown" if any(_breaks(*part) for part in parts) else "hidden"

    def _answer(self, fault: Fault, sample: Sample) -> list[torch.Tensor]:
        module = self._model.module
        args, kwargs = module.arguments(sample)
        value = decode(fault.value, lambda document: document)
        named = dict(kwargs)
        schema = module.overload._schema.arguments
        named |= {one.name: arg for one, arg in zip(schema, args, strict=False)}
        named[fault.argument] = value
        positional = []
        for argument in schema:
            if argument.kwarg_only:
                break
            positional.append(named.pop(argument.name, argument.default_value))
        with torch.no_grad():
            return flatten_tensors(module.overload(*positional, **named))


def _breaks(
    answers: Sequence[torch.Tensor], own: Sequence[torch.Tensor], bounds: Sequence[Bound]
) -> bool:
    """True if an output has another shape or type than the right one, or breaks its bound."""
    return any(
        answer.shape != right.shape or answer.dtype != right.dtype or is_broken(answer, bound)
        for answer, right, bound in zip(answers, own, bounds, strict=False)
    )


def is_possible(looks: Sequence[str]) -> bool:
    """True if a backend can have a fault: not if eager raises wherever the value is another."""
    others = [look for look in looks if look != "given"]
    return not others or any(look != "refused" for look in others)


def find_exception(operator: str, fault: Fault) -> str | None:
    """The reason of operators.json why no call can show a fault; None without one."""
    for entry in table()["hidden_arguments"]:
        names = (operator.removeprefix("aten."), packet_name(operator), "*")
        is_named = any(name in entry["operators"] for name in names)
        is_meant = "values" not in entry or not _is_new(fault.value, entry["values"])
        if is_named and is_meant and fault.argument in entry["arguments"]:
            return str(entry["reason"])
    return None


def by_operator(rows: Sequence[RecordedCall]) -> Iterator[tuple[str, list[RecordedCall]]]:
    """The rows of each operator, in the order of their names."""
    for operator in sorted({row.operator for row in rows}):
        yield operator, [row for row in rows if row.operator == operator]
