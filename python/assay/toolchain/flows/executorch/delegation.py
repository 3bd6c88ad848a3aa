"""Counts what was delegated and what was left, and says why where the stack does.

What counts as a node stands in graph/operators.py; here they are those of the edge graph.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from assay.toolchain.flows.executorch.edge import Lowered
from assay.toolchain.graph.joint_partition import describe_parts
from assay.toolchain.graph.operators import operator_name, operator_nodes, walk_graphs
from assay.toolchain.sampled_model import Span


def describe_delegation(lowered: Lowered, parts: Sequence[Span] = ()) -> dict[str, Any]:
    """Delegates, counts and reasons over all methods, for the manifest's program.

    `parts`: those of a joint program, which are described one by one.
    """
    left: Counter[str] = Counter()
    left_nodes: dict[str, list[str]] = {}
    taken: Counter[str] = Counter()
    delegates: dict[str, Counter[str]] = {}
    for method in sorted(lowered.edge.methods):
        for graph in walk_graphs(lowered.edge.exported_program(method).graph_module):
            for node in operator_nodes(graph):
                name = operator_name(node.target)
                left[name] += 1
                left_nodes.setdefault(name, []).append(node.name)
            for module in lowered_modules(graph):
                taken.update(operators_inside(module))
                delegates.setdefault(module.backend_id, Counter()).update(_sizes(module))
    reasons = {name: _reason(lowered, name, left_nodes[name]) for name in sorted(left)}
    document = {
        "delegates": [{"backend": backend, **delegates[backend]} for backend in sorted(delegates)],
        "nodes_delegated": taken.total(),
        "nodes_not_delegated": left.total(),
        "operators_delegated": dict(sorted(taken.items())),
        "operators_left": [
            {"name": name, "count": left[name], "reason": reason}
            for name, reason in reasons.items()
        ],
    }
    if parts:
        exported = lowered.edge.exported_program()
        document["parts"] = describe_parts(exported, parts, reasons=reasons)
    return document


def verdict(delegated: int, left: int) -> str:
    """Full: nothing left; none: nothing delegated; partial otherwise."""
    if delegated == 0:
        return "none"
    return "partial" if left else "full"


def lowered_modules(module: torch.fx.GraphModule) -> Iterator[Any]:
    """The delegates of one graph, each call once."""
    for node in module.graph.nodes:
        if node.op == "get_attr" and hasattr(getattr(module, str(node.target), None), "backend_id"):
            yield getattr(module, str(node.target))


def operators_inside(module: Any) -> Counter[str]:
    """The operators that one delegate took, delegates nested in it included."""
    operators: Counter[str] = Counter()
    for graph in walk_graphs(module.original_module.graph_module):
        operators.update(operator_name(node.target) for node in operator_nodes(graph))
        for nested in lowered_modules(graph):
            operators.update(operators_inside(nested))
    return operators


def _sizes(module: Any) -> dict[str, int]:
    named = module.named_data_store_output
    buffers = [] if named is None else named.buffers
    return {
        "count": 1,
        "processed_bytes": len(module.processed_bytes),
        "named_data_bytes": sum(len(buffer) for buffer in buffers),
    }


def _reason(lowered: Lowered, name: str, nodes: list[str]) -> str | None:
    """Says why operators called `name` were left: the reason logged most often for these nodes.

    Falls back on what was logged for the operator, then on the partitioner having no rule for it.
    """
    if lowered.partitioner is None:
        return "the recipe has no partitioner"
    by_node: Counter[str] = Counter()
    by_operator: Counter[str] = Counter()
    for (node, target, reason), count in lowered.rejections.items():
        if target == name:
            by_operator[reason] += count
            by_node[reason] += count * (node in nodes)
    for reasons in (+by_node, by_operator):
        if reasons:
            return reasons.most_common(1)[0][0]
    if lowered.rules is not None and name.split(".", 1)[-1] not in lowered.rules:
        return f"the {lowered.partitioner} partitioner has no rule for this operator"
    return None
