"""A graph as source: a torch module in a few lines, with its weights and its inputs."""

import copy
import json
import keyword
import math
import operator
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from assay.conformance.calls import decode
from assay.conformance.operator_module import OperatorModule
from assay.reduction.engines import NotWritable
from assay.toolchain.graph.operators import output_nodes

MOST_NODES = 30
WIDTH = 100
"""Columns of a line of a script."""

MOST_WRITTEN, MOST_ANY = 16, 4
"""Elements of a tensor that stand in the script: where its values matter, and where any will do."""


@dataclass
class Source:
    """The lines of a module's class, and the tensors that the script reads from a file."""

    lines: list[str] = field(default_factory=list)
    kept: dict[str, torch.Tensor] = field(default_factory=dict)


def write_module(graph: torch.fx.GraphModule, source: Source, *, needs_values: bool) -> None:
    """Adds `class Net` to the source.

    `needs_values`: whether weights that are too long to write are kept; else any will do.

    Raises:
        NotWritable: too many nodes, or an argument that has no form as source.
    """
    written = _without_asserts(graph)
    nodes = list(written.nodes)
    calls = [node for node in nodes if node.op == "call_function"]
    if len(calls) > MOST_NODES:
        raise NotWritable(f"{len(calls)} operators are too many for a script to be read")
    names = _names(nodes)
    weights = [node for node in nodes if node.op == "get_attr"]
    placeholders = [names[node] for node in nodes if node.op == "placeholder"]
    source.lines.append("class Net(torch.nn.Module):")
    if weights:
        source.lines += ["    def __init__(self):", "        super().__init__()"]
    for node in weights:
        value: torch.Tensor = operator.attrgetter(str(node.target))(graph).detach()
        name = names[node].removeprefix("self.")
        text = tensor_text(value, name, source, needs_values=needs_values)
        source.lines += wrapped(f'        self.register_buffer("{name}", {text})')
    if weights:
        source.lines.append("")
    source.lines.append(f"    def forward(self, {', '.join(placeholders)}):")
    for node in calls:
        source.lines.append(f"        {names[node]} = {_call(node, names)}")
    results = tuple_text([names[node] for node in output_nodes(written)])
    source.lines.append(f"        return {results}")


def _without_asserts(graph: torch.fx.GraphModule) -> torch.fx.Graph:
    """The nodes without those that assert sizes, which export adds again."""
    kept = copy.deepcopy(graph.graph)
    for node in list(kept.nodes):
        if node.target == torch.ops.aten._assert_scalar.default:
            kept.erase_node(node)
    kept.eliminate_dead_code()
    return kept


def graph_from_call(module: OperatorModule) -> torch.fx.GraphModule:
    """The call as it is written, which export may refuse: one node and its outputs.

    Raises:
        NotWritable: a tensor is laid out in another order, for which the script has no words.
    """
    if any(spec.layout != "contiguous" for spec in module.specs):
        raise NotWritable("a layout of the inputs cannot be written, and export takes none")
    graph = torch.fx.Graph()
    numbers = iter(range(len(module.specs)))

    def tensor(_: Mapping[str, Any]) -> torch.fx.Node:
        number = next(numbers)
        if module.specs[number].is_constant:
            return graph.get_attr(f"constant_{number}")
        return graph.placeholder(f"input_{number}")

    call = decode(module.call, tensor)
    result = graph.call_function(module.overload, tuple(call["args"]), call["kwargs"])
    count = len(module.overload._schema.returns)
    if count == 1:
        graph.output((result,))
    else:
        graph.output(
            tuple(graph.call_function(operator.getitem, (result, i)) for i in range(count))
        )
    return torch.fx.GraphModule(module, graph)


def wrapped(line: str) -> list[str]:
    """A call of numbers on as many lines as it needs."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def tuple_text(items: Sequence[str]) -> str:
    """The items as a tuple."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def tensor_text(tensor: torch.Tensor, name: str, source: Source, *, needs_values: bool) -> str:
    """An expression for the tensor: its elements, those of a file, or any."""
    dtype = str(tensor.dtype)
    is_float = tensor.dtype.is_floating_point
    if 0 < tensor.numel() <= (MOST_ANY if is_float and not needs_values else MOST_WRITTEN):
        return f"torch.tensor({_nested(tensor)}, dtype={dtype})"
    shape = list(tensor.shape)
    if needs_values and tensor.numel():
        source.kept[name] = tensor.contiguous().clone()
        return f'kept["{name}"]'
    if is_float:
        return f"torch.randn({shape}, dtype={dtype})"
    return f"torch.zeros({shape}, dtype={dtype})"


def _nested(tensor: torch.Tensor) -> str:
    if tensor.dim() == 0:
        return number_text(tensor)
    return f"[{', '.join(_nested(part) for part in tensor)}]"


def number_text(scalar: torch.Tensor) -> str:
    """The shortest text that gives the same element again."""
    value = scalar.item()
    if isinstance(value, bool) or not isinstance(value, float):
        return repr(value)
    if not math.isfinite(value):
        return f'float("{value}")'
    if scalar.dtype == torch.float64:
        return repr(value)
    digits = next(n for n in range(1, 18) if _is_same(scalar, f"{value:.{n}g}"))
    return repr(float(f"{value:.{digits}g}"))


def _is_same(scalar: torch.Tensor, text: str) -> bool:
    again = torch.tensor(float(text), dtype=torch.float64).to(scalar.dtype)
    return bool(again == scalar)


def _names(nodes: Sequence[torch.fx.Node]) -> dict[torch.fx.Node, str]:
    """Names of the values as source: inputs x, y and so on, weights w0, w1."""
    inputs = [node for node in nodes if node.op == "placeholder"]
    weights = [node for node in nodes if node.op == "get_attr"]
    short = "xyzuvst" if len(inputs) <= 7 else [f"x{i}" for i in range(len(inputs))]
    names = dict(zip(inputs, short, strict=False))
    names |= {node: f"self.w{number}" for number, node in enumerate(weights)}
    taken = {*names.values(), "torch", "self"}
    for node in nodes:
        if node.op == "call_function":
            name = node.name
            while name in taken or keyword.iskeyword(name):
                name += "_"
            names[node] = name
            taken.add(name)
    return names


def _call(node: torch.fx.Node, names: dict[torch.fx.Node, str]) -> str:
    if node.target is operator.getitem:
        return f"{argument_text(node.args[0], names)}[{argument_text(node.args[1], names)}]"
    if not isinstance(node.target, torch._ops.OpOverload):
        raise NotWritable(f"{node.target} has no form as source")
    arguments = [argument_text(argument, names) for argument in node.args]
    arguments += [
        f"{key}={argument_text(argument, names)}" for key, argument in node.kwargs.items()
    ]
    return f"torch.ops.{node.target}({', '.join(arguments)})"


def _quoted(text: str) -> str:
    """A text as source in double quotes, whatever is in it."""
    return json.dumps(text, ensure_ascii=False)


def argument_text(value: Any, names: dict[torch.fx.Node, str]) -> str:
    """An argument of a call as source; `names`: those of the values in it."""
    if isinstance(value, torch.fx.Node):
        return names[value]
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(argument_text(one, names) for one in value)}]"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, torch.device):
        return f'torch.device("{value}")'
    if value is None or isinstance(value, (bool, int, float)):
        return repr(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
        return str(value)
    raise NotWritable(f"an argument of type {type(value).__name__} has no form as source")
