"""Holds quantized weights against their float ones: a fault of a quantizer is not the backend's.

A reference of the quantized graph has the quantizer's faults as the program has them, so comparing
these two shows none. Rounding moves the largest weight of a tensor by half a step at most, and a
quantizer that clips it does so because the others gain. Where the largest one is far off and the
weights as a whole are too, they were clipped or scaled wrongly.

Only what an operator calls its weight is held: other constants are quantized as activations are.
"""

import math
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import torch

from assay.toolchain.errors import JobError
from assay.toolchain.graph.operators import short_name
from assay.toolchain.graph.written_state import written_attributes
from assay.toolchain.graph.written_values import is_pure

MOST_ERROR = 0.3
"""Share of the largest weight, and of the rms: half a step of three bits is 0.17 of the largest."""

_MOST_ELEMENTS = 4096
"""So many elements stand for a weight, evenly spread: all of them would double the memory."""

_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)

_ROUNDING = ("quantized_decomposed.quantize_", "quantized_decomposed.dequantize_")

Held = tuple[str, int]
"""A weight by the name of the operator that takes it and its place among the arguments."""


@dataclass(frozen=True)
class Extract:
    """Some elements of a weight, the largest first: their places and values. `count`: of all."""

    count: int
    places: torch.Tensor
    values: torch.Tensor


@dataclass(frozen=True)
class HeldWeights:
    """An extract of each weight of a float graph."""

    extracts: Mapping[Held, Extract]
    sources: Mapping[str, tuple[str, ...]]
    """The names of the values that each operator takes in addition to its weights."""

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
                if extract := self.extracts.get((node.name, place)):
                    check_weight(f"{node.name} ({node.target})", extract, _value(graph, weight))


def hold_weights(graph: torch.fx.GraphModule) -> HeldWeights:
    """Notes the weights of a float graph, before a quantizer changes the graph."""
    constants = _constants(graph)
    extracts, sources = {}, {}
    for node in graph.graph.nodes:
        if node.op != "call_function" or node in constants or _is_folded(node):
            continue
        sources[node.name] = _sources(node, constants)
        for place, weight in _weights(node, constants):
            if extract := find_extract(_value(graph, weight)):
                extracts[node.name, place] = extract
    return HeldWeights(extracts, sources)


def check_linear_weights(module: torch.nn.Module, quantized: torch.nn.Module) -> None:
    """Compares the weights of linear layers that torchao quantized with those of the module.

    Raises:
        JobError: the quantizer changed a weight more than rounding does.
    """
    for name, layer in quantized.named_modules():
        if not isinstance(layer, torch.nn.Linear):
            continue
        extract = find_extract(module.get_submodule(name).weight)
        if extract is not None and hasattr(layer.weight, "__tensor_flatten__"):
            check_weight(name, extract, layer.weight.dequantize())


def find_extract(weight: Any) -> Extract | None:
    """Some elements of a weight; None of what has none but zeros, is not finite, or is no float."""
    if not isinstance(weight, torch.Tensor) or weight.dtype not in _DTYPES or not weight.numel():
        return None
    flat = weight.detach().reshape(-1)
    low, high = (float(bound) for bound in flat.aminmax())
    if not (math.isfinite(low) and math.isfinite(high)) or low == high == 0:
        return None
    largest = flat.argmax() if high >= -low else flat.argmin()
    others = torch.arange(0, flat.numel(), -(-flat.numel() // _MOST_ELEMENTS))
    places = torch.cat([largest.reshape(1), others])
    return Extract(flat.numel(), places, flat[places].double())


def check_weight(name: str, extract: Extract, quantized: Any) -> None:
    """Compares elements of a float weight with what the quantizer made of them.

    Raises:
        JobError: the largest and all of them together are further off than rounding can bring them.
    """
    if not isinstance(quantized, torch.Tensor) or quantized.numel() != extract.count:
        return
    made = quantized.detach().reshape(-1)[extract.places].double()
    error = made - extract.values
    most = MOST_ERROR * extract.values.abs()
    is_near = bool(error[0].abs() <= most[0]) or bool(error[1:].norm() <= most[1:].norm())
    if not is_near:
        raise JobError(
            f"the quantizer made {made[0]:.4g} of {extract.values[0]:.4g}, the largest weight of "
            f"{name}, and the others are as far off: that is no rounding but a fault of the "
            "quantizer, and not the backend's; leave this operator out of the quantization, or "
            "take another quantizer or version of it",
            reason_code="quantize_failed",
        )


def _constants(graph: torch.fx.GraphModule) -> set[torch.fx.Node]:
    """The nodes that depend on no input and no state, such as weights and what dequantizes them.

    Computing one changes nothing: state is what an operator writes to.
    """
    state, found = written_attributes(graph), set[torch.fx.Node]()
    for node in graph.graph.nodes:
        is_computed = node.op == "call_function" and node.all_input_nodes and is_pure(node)
        is_fixed = node.op == "get_attr" and str(node.target) not in state
        if is_fixed or (is_computed and found.issuperset(node.all_input_nodes)):
            found.add(node)
    return found


def _weights(
    node: torch.fx.Node, constants: Set[torch.fx.Node]
) -> Iterator[tuple[int, torch.fx.Node]]:
    """The constants that an operator takes as its weight, each with its place."""
    schema = getattr(node.target, "_schema", None)
    if node.op == "call_function" and node not in constants and schema is not None:
        for place, (value, argument) in enumerate(zip(node.args, schema.arguments, strict=False)):
            is_constant = isinstance(value, torch.fx.Node) and value in constants
            if is_constant and argument.name == "weight":
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
    """True if quantization multiplies the weights by those of the norm behind the operator."""
    return any("batch_norm" in short_name(user) for user in node.users)
