"""Values of a captured graph that no input changes, computed before it is annotated."""

import operator
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
        if is_written(node):
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


def is_written(node: Node) -> bool:
    """True if an operator writes in place to what a node holds, itself or through its views.

    All reads of one buffer, or of buffers that share memory, are one value.
    """
    return any(_is_written(read) for read in _reads_of_same(node))


def is_written_through_view(node: Node) -> bool:
    """True if an operator writes in place to a part of what a node makes."""
    return any(
        _is_written(user)
        for read in _reads_of_same(node)
        for user in read.users
        if _is_view(user, read)
    )


def _reads_of_same(node: Node) -> list[Node]:
    if node.op != "get_attr":
        return [node]
    storage = attribute_of(node).untyped_storage().data_ptr()
    reads = node.graph.find_nodes(op="get_attr")
    return [read for read in reads if _storage_of(read) == storage] if storage else [node]


def _storage_of(node: Node) -> int | None:
    try:
        begin: int = attribute_of(node).untyped_storage().data_ptr()
    except (AssertionError, AttributeError):  # another thing than a tensor, such as a graph
        return None
    return begin


def _is_written(node: Node) -> bool:
    for user in node.users:
        written = _aliased(user, node, is_write=True)
        if written or (_is_view(user, node) and _is_written(user)):
            return True
    return False


def _is_view(user: Node, node: Node) -> bool:
    """True if what an operator makes may share the memory of a value that it does not change."""
    return user.target is operator.getitem or _aliased(user, node, is_write=False)


def _aliased(user: Node, node: Node, is_write: bool) -> bool:
    """True if an operator takes a value to write to it, or to give a view of it."""
    target = user.target
    if not isinstance(target, torch._ops.OpOverload):
        return False
    names = (a.name for a in target._schema.arguments)
    given = dict(zip(names, user.args, strict=False)) | user.kwargs
    return any(
        a.alias_info is not None
        and a.alias_info.is_write is is_write
        and node in torch.utils._pytree.tree_leaves(given.get(a.name))
        for a in target._schema.arguments
    )
