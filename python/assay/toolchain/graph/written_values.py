"""Finds the values of a graph that its operators write to, also through views or in lists."""

import operator
from collections.abc import Iterator
from typing import Any

from assay.toolchain.graph.closure import closure


def is_pure(node: Any) -> bool:
    """True if an operator is known to write nothing and to draw nothing at random."""
    import torch

    if node.target is operator.getitem:
        return True
    overload = node.target
    if not isinstance(overload, torch._ops.OpOverload):
        return False
    is_random = torch.Tag.nondeterministic_seeded in overload.tags
    return not (overload._schema.is_mutable or is_random)


def written_values(graph: Any) -> set[Any]:
    """The nodes of a graph whose memory an operator writes to.

    A view and what it is a view of are both among them.
    """
    written = (source for node in graph.nodes for source in _shared(node, only_written=True))
    return closure(written, _shared)


def _shared(node: Any, *, only_written: bool = False) -> Iterator[Any]:
    """The arguments whose memory an operator writes to, or gives out as its result too."""
    if node.target is operator.getitem and not only_written:
        yield from node.all_input_nodes
    for parameter, value in _arguments(node):
        alias = parameter.alias_info
        if alias is not None and (alias.is_write or not only_written):
            several = value if isinstance(value, (list, tuple)) else [value]
            yield from (one for one in several if hasattr(one, "target"))


def _arguments(node: Any) -> Iterator[tuple[Any, Any]]:
    """Parameters of an operator with what they are given; none of what is no operator."""
    parameters = getattr(getattr(node.target, "_schema", None), "arguments", ())
    for place, parameter in enumerate(parameters):
        if place < len(node.args):
            yield parameter, node.args[place]
        elif parameter.name in node.kwargs:
            yield parameter, node.kwargs[parameter.name]
