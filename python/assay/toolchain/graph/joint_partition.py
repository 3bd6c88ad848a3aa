"""Finds the part of a joint program that a node belongs to, and what of each part was delegated.

Parts share nothing but constants, so nodes that feed each other belong together, into delegates and
out of them; a program's inputs and outputs say which part that is. Names of modules are no help:
quantizing and lowering lose them.
"""

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from assay.toolchain.graph.operators import (
    operator_name,
    operator_nodes,
    output_nodes,
    placeholders,
)
from assay.toolchain.sampled_model import Span


@dataclass
class _Groups:
    """Nodes that belong together: a forest whose roots stand for a group each."""

    above: dict[torch.fx.Node, torch.fx.Node] = field(default_factory=dict)

    def find(self, node: torch.fx.Node) -> torch.fx.Node:
        while (above := self.above.get(node, node)) is not node:
            self.above[node] = self.above.get(above, above)
            node = above
        return node

    def join(self, first: torch.fx.Node, second: torch.fx.Node) -> None:
        self.above[self.find(first)] = self.find(second)


Reasons = dict[str, str | None]
"""Reasons why operators were left, by name."""


def describe_parts(
    exported: torch.export.ExportedProgram,
    spans: Sequence[Span],
    *,
    reasons: Reasons,
    takes_all: bool = False,
) -> list[dict[str, Any]]:
    """Lists for each part its span and {nodes_delegated, nodes_not_delegated, operators_left}.

    `exported`: a program whose delegates hold the graphs that they were made from. `takes_all`:
    its flow delegates everything and shows no delegate.
    """
    graph = exported.graph_module
    groups = _Groups()
    delegated = list(_join(graph, groups))
    owners = _owners(exported, spans, groups)
    taken: list[Counter[str]] = [Counter() for _ in spans]
    left: list[Counter[str]] = [Counter() for _ in spans]
    for counters, nodes in ((left, list(operator_nodes(graph))), (taken, delegated)):
        for node in nodes:
            part = owners.get(groups.find(node))
            if part is not None:
                counters[part][operator_name(node.target)] += 1
    if takes_all:
        taken, left = left, [Counter() for _ in spans]
    return [
        {**span.to_json(), "delegation": _delegation(taken[number], left[number], reasons)}
        for number, span in enumerate(spans)
    ]


def _delegation(taken: Counter[str], left: Counter[str], reasons: Reasons) -> dict[str, Any]:
    return {
        "nodes_delegated": taken.total(),
        "nodes_not_delegated": left.total(),
        "operators_left": [
            {"name": name, "count": left[name], "reason": reasons.get(name)}
            for name in sorted(left)
        ],
    }


def _join(graph: torch.fx.GraphModule, groups: _Groups) -> Iterator[torch.fx.Node]:
    """Joins what feeds each other; yields the nodes inside of delegates."""
    constants = {node for node in graph.graph.nodes if node.op == "get_attr"}
    for node in graph.graph.nodes:
        if _is_delegate_call(node):
            yield from _join_delegate(graph, node, groups)
        elif node.op == "call_function" and not _is_result_of_delegate(node):
            for source in node.all_input_nodes:
                if source not in constants and not _is_delegate_call(source):
                    groups.join(node, source)


def _join_delegate(
    graph: torch.fx.GraphModule, call: torch.fx.Node, groups: _Groups
) -> Iterator[torch.fx.Node]:
    """Joins a delegate's inside, and its inputs and outputs with what lies outside."""
    inside = getattr(graph, str(call.args[0].target)).original_module.graph_module
    yield from _join(inside, groups)
    yield from operator_nodes(inside)
    places = placeholders(inside)
    for place, argument in zip(places[-len(call.args) + 1 :], call.args[1:], strict=False):
        if isinstance(argument, torch.fx.Node):
            groups.join(place, argument)
    answers = output_nodes(inside.graph)
    for user in call.users:
        if user.target is operator.getitem:
            groups.join(user, answers[user.args[1]])


def _is_delegate_call(node: torch.fx.Node) -> bool:
    return getattr(node.target, "__name__", "") == "executorch_call_delegate"


def _is_result_of_delegate(node: torch.fx.Node) -> bool:
    sources = node.all_input_nodes
    return node.target is operator.getitem and _is_delegate_call(sources[0])


def _owners(
    exported: torch.export.ExportedProgram, spans: Sequence[Span], groups: _Groups
) -> dict[torch.fx.Node, int]:
    """The part of each group, by its root."""
    nodes = {node.name: node for node in exported.graph.nodes}
    signature = exported.graph_signature
    owners: dict[torch.fx.Node, int] = {}
    for number, span in enumerate(spans):
        names = [
            *list(signature.user_inputs)[slice(*span.inputs)],
            *list(signature.user_outputs)[slice(*span.outputs)],
        ]
        for name in names:
            if str(name) in nodes:
                owners.setdefault(groups.find(nodes[str(name)]), number)
    return owners
