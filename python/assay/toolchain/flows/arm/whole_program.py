"""Takes the one delegate that a whole program became, with what its values are to the model.

Quantize and dequantize at the edge of the program stay outside of such a delegate: it takes and
gives integers. They become parameters of the program's inputs and outputs. Anything else outside
has nothing to execute it.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from assay.toolchain.dtypes import dtype_name
from assay.toolchain.errors import Unsupported
from assay.toolchain.file_formats.program_ports import ProgramPort, ProgramPorts
from assay.toolchain.flows.executorch.delegation import describe_delegation, lowered_modules
from assay.toolchain.flows.executorch.edge import Lowered
from assay.toolchain.flows.program_manifest import Source
from assay.toolchain.graph.operators import (
    dequantization,
    operator_nodes,
    output_nodes,
    placeholders,
    quantization,
    walk_graphs,
)
from assay.toolchain.types import BoundaryValue

_MOST_NAMED = 8


@dataclass(frozen=True)
class WholeProgram:
    """A delegate that is the whole program.

    `content`: what the backend made. `delegation`: counts for the manifest; the quantize and
    dequantize that became parameters are not among those left.
    """

    content: bytes
    ports: ProgramPorts
    delegation: dict[str, Any]


def take_whole(lowered: Lowered, backend: str, source: Source) -> WholeProgram:
    """The delegate of a program of which nothing else is left. `source` has the model's names.

    Raises:
        Unsupported: operators stay outside, which the text names; the program is no delegate; or
            the model changes a buffer.
    """
    exported = lowered.edge.exported_program()
    changed = sorted(exported.graph_signature.buffers_to_mutate.values())
    if changed:
        raise Unsupported(
            f"the model changes the buffer {', '.join(changed)}, which nothing keeps between "
            "inferences"
        )
    graph = exported.graph_module
    described = describe_delegation(lowered)
    delegates = list(lowered_modules(graph))
    ports, used = _find_ports(exported) if len(delegates) == 1 else (None, set())
    left = [node for one in walk_graphs(graph) for node in operator_nodes(one) if node not in used]
    if ports is None or left:
        raise Unsupported(_explain(described["operators_left"], left, len(delegates), backend))
    return WholeProgram(
        bytes(delegates[0].processed_bytes),
        ProgramPorts(_named(ports.inputs, source.inputs), _named(ports.outputs, source.outputs)),
        {
            "delegates": described["delegates"],
            "nodes_delegated": described["nodes_delegated"],
            "operators_delegated": described["operators_delegated"],
        },
    )


def refuse_open_sizes(source: Source) -> None:
    """A program of these formats has the sizes that it is lowered with.

    Raises:
        Unsupported: the model leaves a size open.
    """
    for value in (*source.inputs, *source.outputs):
        if -1 in (value["shape"] or ()):
            raise Unsupported(f"the program has fixed sizes, and '{value['name']}' has an open one")


def values_from_ports(ports: Sequence[ProgramPort]) -> list[BoundaryValue]:
    """Inputs or outputs for the manifest."""
    return [
        {
            "name": port.name,
            "dtype": port.dtype,
            "shape": list(port.shape),
            "quantization": port.quantization,
        }
        for port in ports
    ]


def _find_ports(
    exported: torch.export.ExportedProgram,
) -> tuple[ProgramPorts | None, set[torch.fx.Node]]:
    """The ports of the only delegate, and the quantize and dequantize nodes that they replace."""
    graph = exported.graph_module
    names = set(exported.graph_signature.user_inputs)
    given = [node for node in placeholders(graph) if node.name in names]
    call = next(node for node in graph.graph.nodes if _is_call(node))
    used: set[torch.fx.Node] = set()
    inputs: dict[torch.fx.Node, ProgramPort] = {}
    for place, argument in enumerate(call.args[1:]):
        source, parameters = _source(argument)
        if source not in given or source in inputs:
            return None, used
        inputs[source] = _port(source, place, argument, parameters)
        used |= {argument} - {source}
    outputs = []
    for node in output_nodes(graph.graph):
        parameters = dequantization(node)
        result = node if parameters is None else node.args[0]
        if result.target is not operator.getitem or result.args[0] is not call:
            return None, used
        outputs.append(_port(node, int(result.args[1]), result, parameters))
        used |= {node} - {result}
    if set(inputs) != set(given):
        return None, used
    return ProgramPorts(tuple(inputs[node] for node in given), tuple(outputs)), used


def _named(
    ports: Sequence[ProgramPort], values: Sequence[BoundaryValue]
) -> tuple[ProgramPort, ...]:
    """The names that the values had before the lowering made new nodes of them."""
    return tuple(
        replace(port, name=value["name"]) for port, value in zip(ports, values, strict=True)
    )


def _is_call(node: torch.fx.Node) -> bool:
    return getattr(node.target, "__name__", "") == "executorch_call_delegate"


def _source(argument: Any) -> tuple[Any, dict[str, Any] | None]:
    """The node behind a quantize, with its parameters; any other node is its own source."""
    parameters = quantization(argument)
    return (argument, None) if parameters is None else (argument.args[0], parameters)


def _port(
    named: torch.fx.Node, place: int, stored: torch.fx.Node, parameters: dict[str, Any] | None
) -> ProgramPort:
    """`named` has the model's name, `stored` the type and shape of what the program exchanges."""
    value = stored.meta["val"]
    shape = tuple(int(size) for size in value.shape)
    return ProgramPort(named.name, place, dtype_name(value.dtype), shape, parameters)


def _explain(
    counted: Sequence[dict[str, Any]], left: Sequence[torch.fx.Node], delegates: int, backend: str
) -> str:
    if not left:
        return (
            f"the program is no single delegate of {backend} with an input and output for each of "
            f"the model's (delegates: {delegates})"
        )
    named = ", ".join(
        f"{entry['count']} {entry['name']}" + (f" ({entry['reason']})" if entry["reason"] else "")
        for entry in counted[:_MOST_NAMED]
    )
    more = f" and {len(counted) - _MOST_NAMED} more kinds" if len(counted) > _MOST_NAMED else ""
    return f"outside of {backend}, where nothing executes them, stay {named}{more}"
