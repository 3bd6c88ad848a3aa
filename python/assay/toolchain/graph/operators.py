"""Operators of exported graphs, and the names and quantization at their boundary.

A node is a call_function node (branches of control flow included) that is neither a getitem nor
the call of a delegate nor memory plumbing. Quantize and dequantize are nodes.
"""

import operator
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from assay.toolchain.dtypes import dtype_name

_PLUMBING = ("executorch_call_delegate", "getitem", "alloc", "free")


def operator_name(target: Any) -> str:
    """The operator with its namespace and overload: "aten.add.Tensor"."""
    # An edge operator holds the overload that it stands for; an overload holds what has no name.
    is_overload = isinstance(target, torch._ops.OpOverload)
    overload = target if is_overload else getattr(target, "_op", target)
    if isinstance(overload, torch._ops.OpOverload):
        return str(overload)
    return str(getattr(overload, "__name__", overload))


def short_name(node: torch.fx.Node) -> str:
    """The operator's name alone, "conv2d" of aten.conv2d.default."""
    if node.target is operator.getitem:
        return "getitem"
    return str(node.target).removeprefix("aten.").split(".")[0]


def walk_graphs(module: torch.fx.GraphModule) -> Iterator[torch.fx.GraphModule]:
    """The module and the graphs of its control flow, without those inside of delegates."""
    yield module
    for node in module.graph.nodes:
        if node.op != "get_attr":
            continue
        branch = getattr(module, str(node.target), None)
        if isinstance(branch, torch.fx.GraphModule) and not hasattr(branch, "backend_id"):
            yield from walk_graphs(branch)


def operator_nodes(module: torch.fx.GraphModule) -> Iterator[torch.fx.Node]:
    """The nodes that count, by the definition at the head of this file."""
    for node in module.graph.nodes:
        if node.op == "call_function" and node.target is not operator.getitem:
            name = getattr(node.target, "__name__", str(node.target))
            if name not in _PLUMBING:
                yield node


def placeholders(graph: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """The nodes of the graph's inputs, in order."""
    return [node for node in graph.graph.nodes if node.op == "placeholder"]


def output_nodes(graph: torch.fx.Graph) -> list[torch.fx.Node]:
    """The nodes of the graph's outputs, flat; outputs that are no nodes are left out."""
    leaves = torch.utils._pytree.tree_leaves(graph.output_node().args[0])
    return [leaf for leaf in leaves if isinstance(leaf, torch.fx.Node)]


def count_operators(exported: torch.export.ExportedProgram) -> Counter[str]:
    """Counts each operator of the program."""
    return Counter(
        operator_name(node.target)
        for graph in walk_graphs(exported.graph_module)
        for node in operator_nodes(graph)
    )


def random_operators(exported: torch.export.ExportedProgram) -> list[str]:
    """The operators of the program that draw at random, each once."""
    found = {
        operator_name(node.target)
        for graph in walk_graphs(exported.graph_module)
        for node in operator_nodes(graph)
        if _draws(node)
    }
    return sorted(found)


def _draws(node: torch.fx.Node) -> bool:
    """True if a call draws: a dropout outside of training or of nothing does not."""
    overload = node.target
    is_drawing = torch.Tag.nondeterministic_seeded in getattr(overload, "tags", ())
    if not is_drawing or not isinstance(overload, torch._ops.OpOverload):
        return False
    parameters = [parameter.name for parameter in overload._schema.arguments]
    given = {one.name: one.default_value for one in overload._schema.arguments}
    given |= dict(zip(parameters, node.args, strict=False)) | dict(node.kwargs)
    is_off = any(given.get(name) is False for name in ("train", "training"))
    return not is_off and given.get("dropout_p") != 0


Boundary = list[tuple[str, dict[str, Any] | None]]
"""Name and quantization of each input or output."""


def boundary(exported: torch.export.ExportedProgram) -> tuple[Boundary, Boundary]:
    """Names and quantization of the user's inputs and outputs, in order.

    A value is quantized when it goes through quantize (inputs) or comes out of dequantize
    (outputs) right at the edge of the graph, and nowhere else.
    """
    nodes = {node.name: node for node in exported.graph.nodes}
    signature = exported.graph_signature
    inputs = [(str(name), _input_quantization(nodes.get(name))) for name in signature.user_inputs]
    outputs = [
        (str(name), _quantization(nodes.get(name), "dequantize")) for name in signature.user_outputs
    ]
    return inputs, outputs


def quantization(node: Any) -> dict[str, Any] | None:
    """The parameters of a per-tensor quantize node; None for any other node."""
    return _quantization(node, "quantize")


def dequantization(node: Any) -> dict[str, Any] | None:
    """The parameters of a per-tensor dequantize node; None for any other node."""
    return _quantization(node, "dequantize")


def _input_quantization(node: Any) -> dict[str, Any] | None:
    users = [] if node is None else list(node.users)
    return _quantization(users[0], "quantize") if len(users) == 1 else None


def _quantization(node: Any, kind: str) -> dict[str, Any] | None:
    """The parameters of a per-tensor quantize or dequantize node; None for any other node."""
    if node is None or f"quantized_decomposed.{kind}_per_tensor.default" != operator_name(
        node.target
    ):
        return None
    _, scale, zero_point, low, high, dtype = node.args[:6]
    return {
        "scale": float(scale),
        "zero_point": int(zero_point),
        "quant_min": int(low),
        "quant_max": int(high),
        "dtype": dtype_name(dtype),
    }
