"""Chooses the nodes that the delegate takes: those that lower, each alone and with the others.

A pattern is lowered by itself first. Then the partitions that ExecuTorch will make are lowered as
the backend will, with the constants' real contents; what is refused there stays outside, and the
rest is divided anew. So whatever a rule raises is a reason, and no conversion ends by it.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from fixedpoint.builder import Builder, Modes
from fixedpoint.constants import Constants
from fixedpoint.lower import lower_pattern, lower_quantize
from fixedpoint.match import (
    DEQUANTIZE,
    QUANTIZE,
    Match,
    NotLowered,
    find_match,
    is_call,
    is_dequantize,
    is_of_input,
)
from fixedpoint.rules.integers import integer_source

logger = logging.getLogger(__name__)


@dataclass
class Choice:
    """Nodes of each partition, and why the other operators were left, by name."""

    partitions: list[list[Node]] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)

    @property
    def taken(self) -> set[Node]:
        """The nodes of all partitions."""
        return {node for partition in self.partitions for node in partition}


def choose(exported: ExportedProgram, boundary: str = "int8", modes: Modes | None = None) -> Choice:
    """Chooses the nodes of a program that the delegate takes."""
    constants = Constants(exported)
    choice = Choice()
    matches = _lowered_alone(exported, constants, modes, choice.reasons)
    outside: set[Node] = set()
    while True:
        matches = _drop_shared(matches, choice.reasons)
        taken = {node for match in matches for node in match.nodes()}
        taken |= _integer_views(matches, taken)
        if boundary == "float":
            taken |= _boundary(exported, taken) - outside
        choice.partitions = _partitions(exported, taken)
        refused: dict[Node, str] = {}
        for partition in choice.partitions:
            refused |= _refused(exported, Builder(constants, modes, set(partition)))
        if not refused:
            break
        by_end = {match.quantize: match for match in matches}
        for node, reason in refused.items():
            blamed = by_end[node].core or node if node in by_end else node
            choice.reasons[_blamed(blamed).name] = reason
        outside |= refused.keys() - by_end.keys()
        matches = [match for match in matches if match.quantize not in refused]
    taken = choice.taken
    for node in floating_operators(exported):
        if node not in taken:
            choice.reasons.setdefault(node.name, "its result is not quantized")
    return choice


def _lowered_alone(
    exported: ExportedProgram,
    constants: Constants,
    modes: Modes | None,
    reasons: dict[str, str],
) -> list[Match]:
    """The patterns that lower by themselves; their quantizes are all quantizes but the inputs'."""
    matches: list[Match] = []

    def judge(node: Node) -> None:
        match = find_match(node)
        ends[node] = match.core or node
        lower_pattern(Builder(constants, modes), match)
        matches.append(match)

    ends: dict[Node, Node] = {}
    for node in exported.graph.nodes:
        if is_call(node, QUANTIZE):
            reason = _reason_not_to(judge, node)
            if reason is not None:
                reasons[_blamed(ends.get(node, node)).name] = reason
    return matches


def _reason_not_to(lower: Callable[[Node], None], node: Node) -> str | None:
    """Tells what lowering a node ends with; None: it lowers.

    A rule that fails in a way of its own refuses as well: the operator stays in floating point.
    """
    try:
        lower(node)
    except NotLowered as error:
        return str(error)
    except Exception as error:
        logger.debug("lowering %s failed", node.name, exc_info=True)
        return f"lowering it failed: {type(error).__name__}: {error}"
    return None


def _refused(exported: ExportedProgram, builder: Builder) -> dict[Node, str]:
    """Lowers the builder's partition as the backend will; boundaries of it that it refuses."""
    ordered = [node for node in exported.graph.nodes if builder.is_inside(node)]
    refused: dict[Node, str] = {}
    for node in ordered:
        if is_call(node, QUANTIZE):
            reason = _reason_not_to(lambda one: lower_quantize(builder, one), node)
            if reason is not None:
                refused[node] = reason
    for node in ordered:
        if node not in refused and not all(map(builder.is_inside, node.users)):
            reason = _reason_not_to(builder.put_output, node)
            if reason is not None:
                refused[node] = reason
    return refused


class _Taken(OperatorSupportBase):  # type: ignore[misc]
    def __init__(self, nodes: set[Node]) -> None:
        self._nodes = nodes

    def is_node_supported(self, submodules: Any, node: Node) -> bool:
        return node in self._nodes


def _partitions(exported: ExportedProgram, taken: set[Node]) -> list[list[Node]]:
    proposed = CapabilityBasedPartitioner(
        exported.graph_module, _Taken(taken), allows_single_node_partition=True
    ).propose_partitions()
    return [list(partition.nodes) for partition in proposed]


def _integer_views(matches: Sequence[Match], taken: set[Node]) -> set[Node]:
    """Views of indices and masks that nothing outside reads: integers do not leave the delegate."""
    views = {
        view for match in matches for node in match.integers() for view in integer_source(node)[1]
    }
    while True:
        outside = {view for view in views if not set(view.users) <= taken | views}
        if not outside:
            return views
        views -= outside


def _boundary(exported: ExportedProgram, taken: set[Node]) -> set[Node]:
    """Quantizes of inputs that patterns read, and dequantizes of results that are outputs."""
    found = set()
    for node in exported.graph.nodes:
        if is_call(node, QUANTIZE) and is_of_input(node):
            readers = {reader for user in node.users for reader in user.users}
            if readers and readers <= taken:
                found.add(node)
        is_result = is_call(node, DEQUANTIZE) and node.args[0] in taken
        if is_result and all(user.op == "output" for user in node.users):
            found.add(node)
    return found


def _blamed(node: Node) -> Node:
    """The operator behind a quantize, if there is one."""
    source = node.args[0] if is_call(node, QUANTIZE) else node
    is_operator = isinstance(source, Node) and source.op == "call_function"
    return source if is_operator and not is_dequantize(source) else node


def _drop_shared(matches: list[Match], reasons: dict[str, str]) -> list[Match]:
    """Drops patterns whose dequantize is read outside too: floats would leave the delegate."""
    while True:
        taken = {node for match in matches for node in match.nodes()}
        kept = []
        for match in matches:
            outside = [u for d in match.dequantizes for u in d.users if u not in taken]
            if outside:
                name = (match.core or match.quantize).name
                reasons[name] = f"its dequantized input is also read by {outside[0].name}"
            else:
                kept.append(match)
        if len(kept) == len(matches):
            return kept
        matches = kept


def floating_operators(exported: ExportedProgram) -> Iterable[Node]:
    """Calls that compute in floating point: neither quantize nor dequantize."""
    for node in exported.graph.nodes:
        is_boundary = is_call(node, QUANTIZE) or is_dequantize(node)
        if node.op == "call_function" and not is_boundary and _makes_float(node):
            yield node


def _makes_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype.is_floating_point
