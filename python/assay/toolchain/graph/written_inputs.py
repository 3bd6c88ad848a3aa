"""Which of its inputs a program writes to: whoever calls it again has to give them anew."""

import operator
from collections.abc import Iterator
from typing import Any


def find_written_inputs(exported: Any) -> list[int]:
    """The places of the inputs that an exported program writes to."""
    written = _find_written(exported)
    names = exported.graph_signature.user_inputs
    return [place for place, name in enumerate(names) if name in written]


def _find_written(exported: Any) -> set[str]:
    """Names of the values that a program has from outside and writes to.

    The signature tells them only once in-place operators are taken out of the graph.
    """
    written = set(exported.graph_signature.user_inputs_to_mutate.values())
    for node in exported.graph.nodes:
        for parameter, value in _arguments(node):
            if parameter.alias_info is not None and parameter.alias_info.is_write:
                several = value if isinstance(value, (list, tuple)) else [value]
                written |= {_viewed(one).name for one in several if hasattr(one, "target")}
    return written


def _arguments(node: Any) -> Iterator[tuple[Any, Any]]:
    """Parameters of an operator with what they are given; none of what is no operator."""
    parameters = getattr(getattr(node.target, "_schema", None), "arguments", ())
    for place, parameter in enumerate(parameters):
        if place < len(node.args):
            yield parameter, node.args[place]
        elif parameter.name in node.kwargs:
            yield parameter, node.kwargs[parameter.name]


def _viewed(node: Any) -> Any:
    """The value that a node is a view of, or one of several views."""
    while True:
        if node.target is operator.getitem:
            of, place = node.args
            node = of[place] if isinstance(of, (list, tuple)) else of
            continue
        schema = getattr(node.target, "_schema", None)
        is_view = schema is not None and any(one.alias_info is not None for one in schema.returns)
        viewed = [
            value for one, value in _arguments(node) if is_view and one.alias_info is not None
        ]
        if not viewed or not hasattr(viewed[0], "target"):
            return node
        node = viewed[0]
