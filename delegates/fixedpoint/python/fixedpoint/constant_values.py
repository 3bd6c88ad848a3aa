"""Values of a captured graph that no input changes, computed before it is annotated."""

from typing import Any

import torch
from torch.fx import Node

from fixedpoint.graph_edit import attribute_of


def constant_value(node: object) -> torch.Tensor | None:
    """The value of a node that only parameters, buffers and numbers make; None: an input does."""
    try:
        value = _value(node)
    except _NotConstant:
        return None
    return value if isinstance(value, torch.Tensor) else None


class _NotConstant(Exception):
    """An input, a random number or something that changes is among what makes the value."""


def _value(node: Any) -> Any:
    if not isinstance(node, Node):
        return node
    if node.op == "get_attr":
        if any(_changes(user, node) for user in node.users):
            raise _NotConstant
        return attribute_of(node).detach()
    target = node.target
    if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):
        raise _NotConstant
    if torch.Tag.nondeterministic_seeded in target.tags:
        raise _NotConstant
    args, kwargs = torch.fx.node.map_aggregate((node.args, dict(node.kwargs)), _value)
    if target._schema.is_mutable:
        args = torch.utils._pytree.tree_map_only(torch.Tensor, torch.Tensor.clone, args)
    return target(*args, **kwargs)


def _changes(user: Node, node: Node) -> bool:
    """Whether an operator writes to a value in place."""
    target = user.target
    if not isinstance(target, torch._ops.OpOverload):
        return False
    written = [a.alias_info is not None and a.alias_info.is_write for a in target._schema.arguments]
    return any(w and a is node for w, a in zip(written, user.args, strict=False))
