"""A part of a network: {"ref": "piece:nodes", "args": {"model": MODEL, "nodes": [NAME, …]}}.

The nodes are operators of the exported float graph, any subset of them. What they take of others
becomes an input of the piece, what others take of them an output. The inputs that a piece brings
are the values that the whole network has at these places, for the inputs that the network is
evaluated on: those of the file in `args.inputs` ({"file", "sha256"}), else its own and drawn ones.
"""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch

from assay.conformance.calls import encode
from assay.toolchain.dtypes import dtype_name
from assay.toolchain.errors import RequestError
from assay.toolchain.graph.closure import closure
from assay.toolchain.graph.intermediate_outputs import get_graph
from assay.toolchain.graph.isolated_layers import out_of_place
from assay.toolchain.graph.operators import placeholders
from assay.toolchain.models.inputs import generate_sample, make_labelled_samples
from assay.toolchain.models.loader import Families, load_model, model_spec_from_json
from assay.toolchain.sampled_model import CALIBRATION_SEED, SampledModel
from assay.toolchain.suggest import check_keys, unknown_name
from assay.toolchain.tensors import Sample
from assay.toolchain.types import InputSet, Model, Quantized


@dataclass(frozen=True)
class Cut:
    """A part of a graph: its sources, inner nodes and results, each in the graph's order."""

    sources: tuple[torch.fx.Node, ...]
    inside: tuple[torch.fx.Node, ...]
    results: tuple[torch.fx.Node, ...]


def make_subgraph(args: Mapping[str, Any], families: Families) -> SampledModel:
    """The model of a piece.

    Raises:
        RequestError: the network has no node of a name, or nothing comes out of the nodes.
    """
    check_keys("argument of a piece", args, ("model", "nodes", "inputs"))
    model, graph = _load(args.get("model"), families)
    cut = cut_out(graph, [str(name) for name in args.get("nodes") or []])
    make_whole = _sampler(model, args.get("inputs"))
    probe = _module_from_cut(graph, Cut(tuple(placeholders(graph)), _computing(graph), cut.sources))

    def make_sample(seed: int, sample: int) -> Sample:
        with torch.no_grad():
            values = probe(*make_whole(seed, sample))
        return tuple(
            value.detach().clone(memory_format=torch.contiguous_format) for value in values
        )

    return SampledModel(_module_from_cut(graph, cut), make_sample)


def list_nodes(document: Any, families: Families) -> dict[str, Any]:
    """{nodes: [{name, operator, call}]}: the operators of a model in the order of its graph.

    `call`: the same as an operator case where it can be written as one, else null.
    """
    _, graph = _load(document, families)
    return {
        "nodes": [
            {"name": node.name, "operator": str(node.target), "call": call_from_node(graph, node)}
            for node in _listed(graph)
        ]
    }


def call_from_node(graph: torch.fx.GraphModule, node: torch.fx.Node) -> dict[str, Any] | None:
    """The MODEL "aten:NAME.OVERLOAD" that calls what the node calls, on tensors of its own."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return None
    weights: list[torch.Tensor] = []

    def value_from_node(argument: torch.fx.Node) -> Any:
        if argument.op != "get_attr":
            return argument.meta["val"]
        weights.append(_attribute(graph, str(argument.target)))
        return weights[-1]

    def describe(tensor: torch.Tensor) -> dict[str, Any]:
        dtype = dtype_name(tensor.dtype)
        document = {"shape": [int(size) for size in tensor.shape], "dtype": dtype}
        is_weight = any(tensor is weight for weight in weights)
        return document | ({"constant": True} if is_weight else {})

    try:
        args = encode(torch.fx.node.map_arg(node.args, value_from_node), describe)
        kwargs = encode_items(torch.fx.node.map_arg(node.kwargs, value_from_node), describe)
    except (KeyError, TypeError, ValueError):
        return None
    name = str(node.target).replace(".", ":", 1)
    return {"ref": name, "args": {"args": args, "kwargs": kwargs, "values": "normal"}}


def encode_items(items: Mapping[str, Any], describe: Any) -> dict[str, Any]:
    """Named arguments as a call writes them."""
    return {key: encode(value, describe) for key, value in items.items()}


def cut_out(graph: torch.fx.GraphModule, names: Sequence[str]) -> Cut:
    """The nodes of these names with what belongs to them.

    Raises:
        RequestError: an unknown name, or nothing comes out.
    """
    known = {node.name: node for node in _listed(graph)}
    for name in names:
        if name not in known:
            raise RequestError(unknown_name("node", name, known))
    inside = _closed(known[name] for name in names)
    used = {source for node in inside for source in node.all_input_nodes}
    results = {node for node in inside if _is_result(node, inside)}
    if not results:
        raise RequestError("nothing comes out of these nodes; name some that others use")
    order = list(graph.graph.nodes)
    return Cut(
        tuple(node for node in order if node in used - inside),
        tuple(node for node in order if node in inside),
        tuple(node for node in order if node in results),
    )


def _load(document: Any, families: Families) -> tuple[Model, torch.fx.GraphModule]:
    if document is None:
        raise RequestError('a piece needs the "model" that it is cut from')
    model = load_model(model_spec_from_json(document), families)
    whole = Quantized(model.module, model.inputs, model.example)
    return model, out_of_place(get_graph(model, whole))


def _sampler(model: Model, given: Mapping[str, str] | None) -> Callable[[int, int], Sample]:
    """Makes the network's samples: of its own, of the file `given`, or drawn.

    Calibration draws, as nothing that is evaluated may calibrate.
    """

    @cache
    def samples_of_file() -> list[Sample]:
        assert given is not None
        return make_labelled_samples(InputSet(None, file=given["file"]), model.inputs)[0]

    def make_sample(seed: int, sample: int) -> Sample:
        if model.sampled is not None:
            return model.sampled.make_sample(seed, sample)
        if given is None or seed == CALIBRATION_SEED:
            return generate_sample(InputSet("normal", seed), model.inputs, sample)
        return samples_of_file()[sample % len(samples_of_file())]

    return make_sample


def _computing(graph: torch.fx.GraphModule) -> tuple[torch.fx.Node, ...]:
    kinds = ("call_function", "get_attr")
    return tuple(node for node in graph.graph.nodes if node.op in kinds)


def _listed(graph: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """Operators that make tensors which somebody uses; what takes their parts goes with them."""
    return [
        node
        for node in graph.graph.nodes
        if node.op == "call_function"
        and node.target is not operator.getitem
        and node.users
        and _makes_tensors(node)
    ]


def _makes_tensors(node: torch.fx.Node) -> bool:
    value = node.meta.get("val")
    several = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(one, torch.Tensor) for one in several)


def _closed(nodes: Iterator[torch.fx.Node]) -> set[torch.fx.Node]:
    """The nodes with their weights, computed numbers, and the parts of multiple results."""

    def companions(node: torch.fx.Node) -> list[torch.fx.Node]:
        parts = [user for user in node.users if user.target is operator.getitem]
        return parts + [source for source in node.all_input_nodes if _belongs(source)]

    return closure(nodes, companions)


def _belongs(source: torch.fx.Node) -> bool:
    """True if a piece that uses it has it inside: what is no tensor cannot be an input."""
    if source.op == "placeholder":
        return False
    return source.op == "get_attr" or not isinstance(source.meta.get("val"), torch.Tensor)


def _is_result(node: torch.fx.Node, inside: set[torch.fx.Node]) -> bool:
    is_value = node.op == "call_function" and isinstance(node.meta.get("val"), torch.Tensor)
    return is_value and any(user not in inside for user in node.users)


def _module_from_cut(graph: torch.fx.GraphModule, cut: Cut) -> torch.fx.GraphModule:
    """A graph that takes the cut's sources and returns its results as a tuple."""
    made = torch.fx.Graph()
    copies: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in cut.sources:
        copies[node] = made.placeholder(node.name)
        copies[node].meta = dict(node.meta)
    for node in cut.inside:
        copies[node] = made.node_copy(node, copies.__getitem__)
    made.output(tuple(_whole(made, copies[node], node) for node in cut.results))
    made.eliminate_dead_code()
    return torch.fx.GraphModule(graph, made)


def _whole(made: torch.fx.Graph, copy: torch.fx.Node, node: torch.fx.Node) -> torch.fx.Node:
    """A result in memory of its own: ExecuTorch refuses an expanded one as an output."""
    value = node.meta["val"]
    if copy.op == "placeholder" or all(
        stride != 0 or size == 1 for stride, size in zip(value.stride(), value.shape, strict=True)
    ):
        return copy
    return made.call_function(torch.ops.aten.contiguous.default, (copy,))


def _attribute(graph: torch.fx.GraphModule, path: str) -> torch.Tensor:
    value: torch.Tensor = operator.attrgetter(path)(graph)
    return value
