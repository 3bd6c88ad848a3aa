"""Edits of a captured graph that keep the values its nodes have."""

from typing import Any

import torch
from torch.fx import Node

_CHECK = torch.ops.aten._assert_tensor_metadata.default


def call_before(node: Node, target: Any, *args: Any) -> Node:
    """A call before the node, with the value that it has in the captured graph."""
    made = node.graph.call_function(target, args)
    values = torch.fx.map_arg(args, lambda n: n.meta["val"])
    return _described(made, node, target(*values))


def linear_before(node: Node, x: Node, weight: Node, bias: Node | None) -> Node:
    """A linear layer before the node: [..., in] with weights [out, in] and a bias [out]."""
    args = (x, weight) if bias is None else (x, weight, bias)
    made = node.graph.call_function(torch.ops.aten.linear.default, args)
    shape = [*x.meta["val"].shape[:-1], int(attribute_of(weight).shape[0])]
    return _described(made, node, x.meta["val"].new_empty(shape))


def attribute_of(node: Node) -> torch.Tensor:
    """The parameter or buffer that a get_attr node reads."""
    value: Any = node.graph.owning_module
    for name in str(node.target).split("."):
        value = getattr(value, name)
    assert isinstance(value, torch.Tensor)
    return value


def buffer_before(node: Node, name: str, value: torch.Tensor) -> Node:
    """A new constant of the module, read before the node."""
    module = node.graph.owning_module
    assert module is not None
    module.register_buffer(name, value.detach())
    return node.graph.get_attr(name)


def constant_before(node: Node, name: str, value: torch.Tensor) -> Node:
    """A new constant of the module with the value of a captured graph, read before the node."""
    made = buffer_before(node, name, value)
    inputs = [n.meta.get("val") for n in node.all_input_nodes]
    mode = torch._guards.detect_fake_mode(inputs)
    return _described(made, node, value if mode is None else mode.from_tensor(value))


def erase_unused(node: Node) -> None:
    """Erases a node that nothing reads but checks of its type, and what only it has read."""
    is_read = any(user.target != _CHECK for user in node.users)
    if is_read or node.op not in ("call_function", "get_attr"):
        return
    for check in list(node.users):
        node.graph.erase_node(check)
    sources = node.all_input_nodes
    node.graph.erase_node(node)
    for source in sources:
        erase_unused(source)


def replace(node: Node, made: Node) -> None:
    """`made` in the place of the node, which goes away."""
    node.replace_all_uses_with(made)
    node.graph.erase_node(node)


def _described(made: Node, origin: Node, value: Any) -> Node:
    made.meta = {k: v for k, v in origin.meta.items() if k in ("stack_trace", "nn_module_stack")}
    made.meta["val"] = value
    return made
