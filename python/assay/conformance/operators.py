"""Lists the operators to test: the core ones of torch, and those that exporters leave in."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import torch


@cache
def table() -> dict[str, Any]:
    """data/operators/operators.json."""
    text = resources.files("assay").joinpath("data/operators/operators.json").read_text()
    document: dict[str, Any] = json.loads(text)
    return document


@cache
def core_overloads() -> tuple[str, ...]:
    """The overloads that the installed torch tags as core, "aten.add.Tensor", sorted."""
    found = []
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if isinstance(packet, torch._ops.OpOverloadPacket):
            overloads = (getattr(packet, overload) for overload in packet.overloads())
            found += [str(one) for one in overloads if torch.Tag.core in one.tags]
    return tuple(sorted(found))


def packet_name(operator: str) -> str:
    """The "add" of "aten.add.Tensor"."""
    return operator.split(".")[1]


@cache
def wanted_packets() -> frozenset[str]:
    """The names of all operators that have cases, without overloads."""
    return frozenset(map(packet_name, core_overloads())) | frozenset(table()["beside_core"])


def is_testable(overload: Any) -> bool:
    """True if an overload answers with tensors and changes none that it was given."""
    schema = overload._schema
    is_pure = not schema.is_mutable and not overload.name().endswith("_out")
    return is_pure and any("Tensor" in str(answer.type) for answer in schema.returns)


def split_name(operator: str) -> tuple[str, str]:
    """Names of "aten.add.Tensor" in data: "add.Tensor", "add"."""
    return operator.removeprefix("aten."), packet_name(operator)


def find_entry(
    operator: str,
    section: str,
    is_meant: Callable[[Mapping[str, Any]], bool] = lambda entry: True,
) -> Mapping[str, Any] | None:
    """The first entry of a section of operators.json that names the operator and is meant."""
    names = split_name(operator)
    entries: list[Mapping[str, Any]] = table()[section]
    named = (one for one in entries if any(name in one["operators"] for name in names))
    return next(filter(is_meant, named), None)


def find_reason(operator: str, section: str) -> str | None:
    """The reason that a section of operators.json has for an operator; None without one."""
    entry = find_entry(operator, section)
    return None if entry is None else str(entry["reason"])
