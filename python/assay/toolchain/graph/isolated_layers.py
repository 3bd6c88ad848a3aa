"""Isolated layers: each layer as a network of its own, fed the reference values of its inputs.

With exact inputs a layer shows its own error and none that it inherits. A piece of a
network is the part of its graph between the nearest layers before a layer and the layer itself. All
pieces are outputs of one graph, which takes the values of layers as inputs: one lowering, one
launch.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from assay.toolchain.dtypes import dtype_name
from assay.toolchain.errors import RequestError, Unsupported
from assay.toolchain.graph.closure import closure
from assay.toolchain.graph.intermediate_outputs import (
    Layer,
    after_normalization,
    expose_layers,
    find_values,
    get_graph,
    node_names,
)
from assay.toolchain.graph.operators import placeholders
from assay.toolchain.models.inputs import cast_spec
from assay.toolchain.suggest import unknown_name
from assay.toolchain.tensors import Sample, cast_sample, run_module
from assay.toolchain.types import InputSpec, Model, Quantized

ALL = "*"
"""Instead of names of layers: each of them."""

MOST_NOISE = 0.01
"""Squared L2 norm by that of the value; a piece that is wired wrongly is off by a tenth or more."""


@dataclass(frozen=True)
class Point:
    """The point where a layer's result leaves the graph (`value`), and what others use (`cut`).

    A quantized layer is cut before it is quantized: its users quantize what they are fed, which
    changes nothing in a value that was quantized so before.
    """

    cut: torch.fx.Node
    value: torch.fx.Node


Source = int | str
"""A source of a piece: an input of the network by its number, or a layer by its name."""


@dataclass(frozen=True)
class IsolatedLayers:
    """`quantized` computes `layers`, in this order, from `sources`."""

    quantized: Quantized
    layers: tuple[Layer, ...]
    sources: tuple[Source, ...]
    marked: torch.nn.Module
    """The whole network, with all its layers behind its outputs."""
    names: tuple[str, ...]
    """The names of all layers of the network."""
    graph: torch.fx.GraphModule
    """The whole network, which was cut into these layers."""

    def feed(self, sample: Sample, outputs: Sequence[torch.Tensor]) -> Sample:
        """The inputs of the pieces, from a sample and the outputs of the `marked` network."""
        values = self.values(outputs)
        return tuple(
            sample[source] if isinstance(source, int) else values[source] for source in self.sources
        )

    def values(self, outputs: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
        """Layers by name, among the outputs of the marked network."""
        return dict(zip(self.names, outputs[len(outputs) - len(self.names) :], strict=True))

    def check(self, outputs: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> None:
        """Holds what the pieces compute against the same layers of the marked network.

        Raises:
            Unsupported: one computes something else: the graph hides what it depends on.
        """
        values = self.values(outputs)
        for layer, result in zip(self.layers, results, strict=True):
            wanted = values[layer.name].double()
            noise = (result.double() - wanted).square().sum()
            if float(noise) > MOST_NOISE * float(wanted.square().sum()):
                text = f"{layer.name} by itself does not compute what it does in the network"
                raise Unsupported(text)


def isolate_layers(model: Model, quantized: Quantized, wanted: Sequence[str]) -> IsolatedLayers:
    """The pieces of the quantized network, or of the float one, of the layers `wanted`.

    Raises:
        RequestError: there is no layer of that name.
        Unsupported: the network has no layers.
    """
    marked = expose_layers(model, quantized)
    layers = _choose(marked.layers, wanted)
    graph = out_of_place(marked.graph)
    points = _points_from_values(graph, find_values(marked.graph))
    sources = tuple(_find_sources(graph, points, [layer.name for layer in layers]))
    whole = marked.quantized.module
    names = tuple(layer.name for layer in marked.layers)
    module = cut(graph, points, [layer.name for layer in layers], sources)
    pieces = IsolatedLayers(quantized, layers, sources, whole, names, marked.graph)
    example = pieces.feed(quantized.example, run_module(whole, quantized.example))
    specs = tuple(_spec_of(tensor) for tensor in example)
    apart = replace(quantized, module=module, inputs=specs, example=example)
    return replace(pieces, quantized=_with_fed_calibration(quantized, apart, pieces))


def isolate_float_layers(model: Model, pieces: IsolatedLayers) -> Quantized:
    """The pieces of the float network: they take the inputs as float32.

    Raises:
        Unsupported: a layer of the quantized graph is not in the float one by its name.
    """
    graph = out_of_place(get_graph(model, Quantized(model.module, model.inputs, model.example)))
    nodes = {node.name: node for node in graph.graph.nodes}
    names = [layer.name for layer in pieces.layers]
    used = {*names, *(source for source in pieces.sources if isinstance(source, str))}
    missing = sorted(used - set(nodes))
    if missing:
        raise Unsupported(f"the float network has no layer {missing[0]}, which quantization made")
    kept = node_names(pieces.graph)
    ends = {name: after_normalization(nodes[name], kept) for name in used}
    points = {name: Point(end, end) for name, end in ends.items()}
    return Quantized(
        cut(graph, points, names, pieces.sources),
        tuple(cast_spec(spec, "float32") for spec in pieces.quantized.inputs),
        cast_sample(pieces.quantized.example, torch.float32),
    )


def _choose(layers: Sequence[Layer], wanted: Sequence[str]) -> tuple[Layer, ...]:
    names = [layer.name for layer in layers]
    for name in wanted:
        if name != ALL and name not in names:
            raise RequestError(unknown_name("layer", name, names))
    return tuple(layer for layer in layers if ALL in wanted or layer.name in wanted)


def _points_from_values(
    graph: torch.fx.GraphModule, values: Mapping[str, torch.fx.Node]
) -> dict[str, Point]:
    nodes = {node.name: node for node in graph.graph.nodes}
    return {name: Point(nodes[name], nodes[value.name]) for name, value in values.items()}


def _find_sources(
    graph: torch.fx.GraphModule, points: Mapping[str, Point], wanted: Sequence[str]
) -> Iterator[Source]:
    """The sources of the pieces of `wanted`, in the order of the graph."""
    names = {point.cut: name for name, point in points.items()}
    inputs = placeholders(graph)
    ends = {*names, *inputs}
    needed: set[torch.fx.Node] = set()
    for name in wanted:
        inside = _inside(points[name], ends)
        needed |= {source for node in inside for source in node.all_input_nodes} & ends - inside
    for node in graph.graph.nodes:
        if node in needed:
            yield names[node] if node in names else inputs.index(node)


def _inside(point: Point, ends: set[torch.fx.Node]) -> set[torch.fx.Node]:
    """The nodes that compute the layer, back to the nearest of `ends`."""

    def sources(node: torch.fx.Node) -> list[torch.fx.Node]:
        return [
            source for source in node.all_input_nodes if source is point.cut or source not in ends
        ]

    return closure([point.value], sources)


def cut(
    graph: torch.fx.GraphModule,
    points: Mapping[str, Point],
    wanted: Sequence[str],
    sources: Sequence[Source],
) -> torch.fx.GraphModule:
    """A graph that takes `sources` and returns the layers `wanted`, each a copy of its own."""
    inputs = placeholders(graph)
    taken = [
        inputs[source] if isinstance(source, int) else points[source].cut for source in sources
    ]
    made = torch.fx.Graph()
    fed = {node: made.placeholder(f"fed_{number}") for number, node in enumerate(taken)}
    results = []
    for name in wanted:
        inside = _inside(points[name], set(fed))
        copies = dict(fed)
        for node in graph.graph.nodes:
            if node in inside:
                copies[node] = made.node_copy(node, copies.__getitem__)
        results.append(copies[points[name].value])
    made.output(tuple(results))
    return torch.fx.GraphModule(graph, made)


def out_of_place(graph: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The graph without in-place operators, since a piece may be fed their first argument.

    Raises:
        Unsupported: such an operator has no other form.
    """
    copied = torch.fx.Graph()
    made: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in graph.graph.nodes:
        made[node] = copied.node_copy(node, made.__getitem__)
        if _changes_its_argument(node):
            made[node].target = _other_form(node.target)
            changed = node.args[0]
            # Whoever reads the argument from here on reads what became of it.
            made.update({old: made[node] for old, new in made.items() if new is made[changed]})
    return torch.fx.GraphModule(graph, copied)


def _changes_its_argument(node: torch.fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.name.endswith("_") and schema.is_mutable


def _other_form(target: Any) -> Any:
    packet = getattr(torch.ops.aten, target._schema.name.removeprefix("aten::")[:-1], None)
    form = getattr(packet, target._overloadname, None)
    if form is None:
        raise Unsupported(f"{target} changes its argument, and a piece cannot be fed that")
    return form


def _spec_of(tensor: torch.Tensor) -> InputSpec:
    return InputSpec(tuple(tensor.shape), dtype_name(tensor.dtype))


def _with_fed_calibration(
    quantized: Quantized, apart: Quantized, pieces: IsolatedLayers
) -> Quantized:
    """Lets a quantization of the lowered program calibrate on the inputs of the pieces."""
    quantize_lowered = quantized.quantize_lowered
    if quantize_lowered is None:
        return apart

    def feed(sample: Sample) -> Sample:
        return pieces.feed(sample, run_module(pieces.marked, sample))

    return replace(apart, quantize_lowered=lambda lowered: quantize_lowered(lowered, feed))
