"""Exposes intermediate outputs: the network returns the results of its layers after its outputs.

So an error can be followed through any engine, whatever it hides inside. A layer is an
operator whose result the engine has to keep: in a quantized graph one whose result is quantized, in
a float graph one that no normalization or activation follows alone, because engines fuse these.
A graph whose scales come with each inference, or that quantizes weights only, is a float one here:
its operators take and give floats.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import torch

from assay.toolchain.errors import Unsupported
from assay.toolchain.graph.closure import closure
from assay.toolchain.graph.operators import short_name
from assay.toolchain.types import Model, Quantized

_QUANTIZE = "quantized_decomposed.quantize_per_"
_CHOOSE = "quantized_decomposed.choose_qparams"
_DEQUANTIZE = "quantized_decomposed.dequantize_per_"
_PARTS = ("quantized_decomposed.", "torchao.")
"""Operators that quantize: they are no layers."""

# fmt: off
_MOVES = frozenset(
    (
        "view", "reshape", "permute", "transpose", "t", "flatten", "expand", "slice", "select",
        "unsqueeze", "squeeze", "contiguous", "clone", "to", "_to_copy", "dropout", "dropout_",
        "split", "chunk", "unbind", "cat", "alias", "detach", "item", "_assert_tensor_metadata",
        "getitem", "unfold",
    )
)
# fmt: on
"""Operators that compute nothing and only move data."""

# fmt: off
_FUSED = frozenset(
    (
        "batch_norm", "_native_batch_norm_legit_no_training", "relu", "relu_", "relu6", "relu6_",
        "hardtanh", "hardtanh_", "clamp", "clamp_", "hardswish", "hardswish_", "silu", "silu_",
    )
)
# fmt: on
"""Operators that engines fuse into the operator before them."""


@dataclass(frozen=True)
class Layer:
    """One marked result. `inputs`: the layers that it is computed from, by name."""

    name: str
    operator: str
    module: str
    inputs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The entry of the manifest."""
        return {
            "name": self.name,
            "operator": self.operator,
            "module": self.module,
            "inputs": list(self.inputs),
        }


@dataclass(frozen=True)
class ExposedLayers:
    """A graph that gives out its layers behind its own outputs."""

    quantized: Quantized
    layers: tuple[Layer, ...]
    graph: torch.fx.GraphModule
    """The graph without them: to export a module takes seconds, and is done once."""


def expose_layers(model: Model, quantized: Quantized) -> ExposedLayers:
    """The quantized module, or the float one, with its layers as further outputs.

    Raises:
        Unsupported: it has none.
    """
    graph = get_graph(model, quantized)
    values = find_values(graph)
    if not values:
        raise Unsupported("no layer of this network can be given out")
    layers = describe(graph, values)
    marked = replace(quantized, module=with_outputs(graph, list(values.values())))
    return ExposedLayers(marked, tuple(layers), graph)


def expose_float_layers(model: Model, quantized: ExposedLayers) -> torch.nn.Module:
    """The float module with the same layers as further outputs.

    Raises:
        Unsupported: a layer of the quantized graph is not in the float one by its name.
    """
    graph = get_graph(model, Quantized(model.module, model.inputs, model.example))
    nodes = {node.name: node for node in graph.graph.nodes}
    layers = [layer.name for layer in quantized.layers]
    missing = [name for name in layers if name not in nodes]
    if missing:
        raise Unsupported(f"the float network has no layer {missing[0]}, which quantization made")
    names = node_names(quantized.graph)
    return with_outputs(graph, [after_normalization(nodes[name], names) for name in layers])


def get_graph(model: Model, quantized: Quantized) -> torch.fx.GraphModule:
    """The quantized graph, or the float network's."""
    if isinstance(quantized.module, torch.fx.GraphModule):
        return quantized.module
    if model.exported is not None and quantized.module is model.module:
        exported = model.exported
    else:
        with torch.no_grad():
            exported = torch.export.export(quantized.module, quantized.example)
    module: Any = exported.module()
    return module


def find_values(graph: torch.fx.GraphModule) -> dict[str, torch.fx.Node]:
    """Maps the name of the operator that computes a layer to the node that holds its result."""
    nodes = [node for node in graph.graph.nodes if _computes(node)]
    is_quantized = any(_is(node, _QUANTIZE) for node in graph.graph.nodes) and not any(
        _is(node, _CHOOSE) for node in graph.graph.nodes
    )
    values = {}
    for node in nodes:
        value = _dequantized(node) if is_quantized else _unfused(node)
        if value is not None:
            values[node.name] = value
    return values


def _computes(node: torch.fx.Node) -> bool:
    if node.op != "call_function" or _is(node, *_PARTS):
        return False
    value = node.meta.get("val")
    is_float = isinstance(value, torch.Tensor) and value.is_floating_point()
    return is_float and short_name(node) not in _MOVES


def _is(node: torch.fx.Node, *prefixes: str) -> bool:
    return str(node.target).startswith(prefixes)


def _dequantized(node: torch.fx.Node) -> torch.fx.Node | None:
    """The dequantized result; None for a result that is not quantized."""
    for user in node.users:
        if _is(user, _QUANTIZE):
            return next((after for after in user.users if _is(after, _DEQUANTIZE)), None)
    return None


def _unfused(node: torch.fx.Node) -> torch.fx.Node | None:
    users = list(node.users)
    is_fused = len(users) == 1 and users[0].op != "output" and short_name(users[0]) in _FUSED
    return None if is_fused else node


def node_names(graph: torch.fx.GraphModule) -> frozenset[str]:
    """The names of all nodes."""
    return frozenset(node.name for node in graph.graph.nodes)


def after_normalization(node: torch.fx.Node, quantized: Set[str]) -> torch.fx.Node:
    """The batch normalization behind a convolution, where quantization folded it into that.

    `quantized`: the names of the nodes of the quantized graph.
    """
    users = list(node.users)
    if len(users) != 1 or not short_name(node).startswith("conv"):
        return node
    is_folded = "batch_norm" in short_name(users[0]) and users[0].name not in quantized
    return users[0] if is_folded else node


def describe(graph: torch.fx.GraphModule, values: Mapping[str, torch.fx.Node]) -> Iterator[Layer]:
    """The layers in the order in which they are computed."""
    for node in graph.graph.nodes:
        if node.name in values:
            yield Layer(
                node.name,
                str(node.target),
                module_name_from_node(node),
                tuple(sorted(_sources(node, values))),
            )


def module_name_from_node(node: torch.fx.Node) -> str:
    """The module that the operator was written in: "features.3.conv.0"."""
    stack = node.meta.get("nn_module_stack") or {}
    path = str(list(stack.values())[-1][0]) if stack else ""
    return path.removeprefix("L['self'].").removeprefix("L__self___")


def _sources(node: torch.fx.Node, values: Mapping[str, torch.fx.Node]) -> set[str]:
    """The nearest layers that the node's inputs come from."""

    def sources(source: torch.fx.Node) -> list[torch.fx.Node]:
        return [] if source.name in values else source.all_input_nodes

    reached = closure(node.all_input_nodes, sources)
    return {source.name for source in reached if source.name in values}


def with_outputs(graph: torch.fx.GraphModule, nodes: list[torch.fx.Node]) -> torch.nn.Module:
    """A module that returns a flat tuple: what `graph` returns, then the values of `nodes`."""
    return _ExposedModule(graph, tuple(node.name for node in nodes))


class _ExposedModule(torch.nn.Module):  # type: ignore[misc]
    """Holds the graph's parameters, so that they are exported as such."""

    def __init__(self, graph: torch.fx.GraphModule, names: tuple[str, ...]) -> None:
        super().__init__()
        self.graph_module = graph
        self._names = names

    def forward(self, *inputs: torch.Tensor) -> tuple[Any, ...]:
        """The graph's outputs and the values of the named nodes, flat."""
        kept = dict.fromkeys(self._names)
        leaves = torch.utils._pytree.tree_leaves(
            _LayerRecorder(self.graph_module, kept).run(*inputs)
        )
        return (*leaves, *(kept[name] for name in self._names))


class _LayerRecorder(torch.fx.Interpreter):  # type: ignore[misc]
    """Runs a graph once and puts some of its values into `kept`, by the names that stand there."""

    def __init__(self, graph: torch.fx.GraphModule, kept: dict[str, Any]) -> None:
        super().__init__(graph)
        self._kept = kept

    def run_node(self, node: torch.fx.Node) -> Any:
        """Keeps the value when it is wanted.

        A dequantization is done once more: XNNPACK's passes fail on one that is an output and
        somebody's input too. What is changed in place afterwards is copied.
        """
        value = super().run_node(node)
        if node.name in self._kept:
            self._kept[node.name] = self._own(node, value)
        return value

    def _own(self, node: torch.fx.Node, value: Any) -> Any:
        if _is(node, _DEQUANTIZE):
            return super().run_node(node)
        users = list(node.users)
        if any(user.op == "output" for user in users):
            return value * 1.0  # OpenVINO's frontend fails on what is an output twice.
        is_changed = any(short_name(user).endswith("_") for user in users)
        return value.clone() if is_changed else value
