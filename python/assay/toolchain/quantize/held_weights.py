"""Holds quantized weights against their float ones: a fault of a quantizer is not the backend's.

A reference of the quantized graph has the quantizer's faults as the program has them, so comparing
these two shows none. Rounding moves the largest weight of a tensor by half a step at most; one
that is far off was clipped or scaled wrongly.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import torch

from assay.toolchain.errors import JobError
from assay.toolchain.graph.operators import short_name

MOST_ERROR = 0.3
"""Share of the largest weight: half a step of three bits is 0.17 of it."""

_ROUNDING = ("quantized_decomposed.quantize_", "quantized_decomposed.dequantize_")

Held = tuple[str, int]
"""A weight by the name of the operator that takes it and its place among the arguments."""


@dataclass(frozen=True)
class HeldWeights:
    """The largest element of each weight of a float graph: where it is, and its value."""

    peaks: Mapping[Held, tuple[int, float]]
    sources: Mapping[str, tuple[str, ...]]
    """The names of the values that each operator takes beside its weights."""

    def check(self, graph: torch.nn.Module) -> None:
        """Compares the weights of the quantized graph.

        What a quantizer moved weights between operators for, as SmoothQuant does, is left out.

        Raises:
            JobError: the quantizer changed a weight more than rounding does.
        """
        if not isinstance(graph, torch.fx.GraphModule):
            return
        constants = _constants(graph)
        for node in graph.graph.nodes:
            if _sources(node, constants) != self.sources.get(node.name):
                continue
            for place, weight in _weights(node, constants):
                if peak := self.peaks.get((node.name, place)):
                    check_peak(f"{node.name} ({node.target})", peak, _value(graph, weight))


def hold_weights(graph: torch.fx.GraphModule) -> HeldWeights:
    """Notes the weights of a float graph, before a quantizer changes the graph."""
    constants = _constants(graph)
    peaks, sources = {}, {}
    for node in graph.graph.nodes:
        if node.op != "call_function" or node in constants or _is_folded(node):
            continue
        sources[node.name] = _sources(node, constants)
        for place, weight in _weights(node, constants):
            if not _is_bias(node, place) and (peak := find_peak(_value(graph, weight))):
                peaks[node.name, place] = peak
    return HeldWeights(peaks, sources)


def check_linear_weights(module: torch.nn.Module, quantized: torch.nn.Module) -> None:
    """Compares the weights of linear layers that torchao quantized with those of the module.

    Raises:
        JobError: the quantizer changed a weight more than rounding does.
    """
    for name, layer in quantized.named_modules():
        if not isinstance(layer, torch.nn.Linear):
            continue
        peak = find_peak(module.get_submodule(name).weight)
        if peak is not None and hasattr(layer.weight, "__tensor_flatten__"):
            check_peak(name, peak, layer.weight.dequantize())


def find_peak(weight: Any) -> tuple[int, float] | None:
    """Place and value of the largest element; None of what has none, or is no float."""
    if not isinstance(weight, torch.Tensor) or not weight.is_floating_point() or not weight.numel():
        return None
    flat = weight.detach().reshape(-1)
    place = int(flat.abs().argmax())
    value = float(flat[place])
    return (place, value) if value else None


def check_peak(name: str, peak: tuple[int, float], quantized: torch.Tensor) -> None:
    """Compares the largest element of a float weight with what the quantizer made of it.

    Raises:
        JobError: it is further off than rounding can bring it.
    """
    place, value = peak
    found = quantized.detach().reshape(-1)
    if place >= found.numel():
        return
    made = float(found[place])
    if not abs(made - value) <= MOST_ERROR * abs(value):
        raise JobError(
            f"the quantizer made {made:.4g} of {value:.4g}, the largest weight of {name}: that is "
            "no rounding but a fault of the quantizer, and not the backend's; leave this operator "
            "out of the quantization, or take another quantizer or version of it",
            reason_code="quantize_failed",
        )


def _constants(graph: torch.fx.GraphModule) -> set[torch.fx.Node]:
    """The nodes that depend on no input, such as weights and what dequantizes them."""
    found: set[torch.fx.Node] = set()
    for node in graph.graph.nodes:
        is_computed = node.op == "call_function" and node.all_input_nodes
        if node.op == "get_attr" or (is_computed and found.issuperset(node.all_input_nodes)):
            found.add(node)
    return found


def _weights(
    node: torch.fx.Node, constants: Set[torch.fx.Node]
) -> Iterator[tuple[int, torch.fx.Node]]:
    """The constants that an operator takes, each with its place."""
    if node.op == "call_function" and node not in constants:
        for place, value in enumerate(node.args):
            if isinstance(value, torch.fx.Node) and value in constants:
                yield place, value


def _value(graph: torch.fx.GraphModule, node: torch.fx.Node) -> Any:
    """A constant, computed for this call only: all of them would double the memory."""
    if node.op == "get_attr":
        return torch.fx.Interpreter(graph).fetch_attr(str(node.target))
    values = {source: _value(graph, source) for source in node.all_input_nodes}
    arguments = torch.fx.map_arg((node.args, node.kwargs), values.__getitem__)
    with torch.no_grad():
        return node.target(*arguments[0], **arguments[1])


def _sources(node: torch.fx.Node, constants: Set[torch.fx.Node]) -> tuple[str, ...]:
    """Names of the values that a node takes, past rounding."""
    return tuple(
        _before_rounding(source).name for source in node.all_input_nodes if source not in constants
    )


def _before_rounding(node: torch.fx.Node) -> torch.fx.Node:
    while str(node.target).startswith(_ROUNDING):
        node = node.all_input_nodes[0]
    return node


def _is_folded(node: torch.fx.Node) -> bool:
    """Whether quantization multiplies the weights by those of the norm behind the operator."""
    return any("batch_norm" in short_name(user) for user in node.users)


def _is_bias(node: torch.fx.Node, place: int) -> bool:
    """Whether an argument is a bias, which quantizers correct."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or place >= len(schema.arguments):
        return False
    return bool(schema.arguments[place].name == "bias")
