"""The manifest's program for flows that take an exported program as a whole, or refuse it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.types import BoundaryValue

if TYPE_CHECKING:
    import torch

    from assay.toolchain.sampled_model import Span


@dataclass(frozen=True)
class Source:
    """The manifest's account of an exported program; take it before a conversion rewrites it."""

    inputs: list[BoundaryValue]
    outputs: list[BoundaryValue]
    operators: Counter[str]
    parts: list[dict[str, Any]]


def describe_source(
    exported: "torch.export.ExportedProgram", parts: "Sequence[Span]" = ()
) -> Source:
    """The values at the boundary, and the operators; of a joint program part by part, too."""
    from assay.toolchain.graph.joint_partition import describe_parts
    from assay.toolchain.graph.operators import boundary, count_operators

    nodes = {node.name: node for node in exported.graph.nodes}
    inputs, outputs = (
        [_value(nodes, name, quantization) for name, quantization in side]
        for side in boundary(exported)
    )
    described = describe_parts(exported, parts, reasons={}, takes_all=True)
    return Source(inputs, outputs, count_operators(exported), described)


def _value(nodes: Mapping[str, Any], name: str, quantization: Any) -> BoundaryValue:
    from assay.toolchain.dtypes import dtype_name

    meta = nodes[name].meta.get("val") if name in nodes else None
    shape = getattr(meta, "shape", None)
    return {
        "name": name,
        "dtype": dtype_name(getattr(meta, "dtype", type(meta).__name__)),
        "shape": None if shape is None else [s if isinstance(s, int) else -1 for s in shape],
        "quantization": quantization,
    }


def describe_whole(
    source: Source,
    files: Sequence[Path],
    *,
    made: Mapping[str, int] | None = None,
    inputs: Sequence[BoundaryValue] | None = None,
    outputs: Sequence[BoundaryValue] | None = None,
) -> dict[str, Any]:
    """The manifest's program: one method, everything taken.

    `made`: what the operators became, by name. `inputs` and `outputs`: the boundary as the
    engine's own format tells it; None for the exported program's.
    """
    program = {
        "bytes": sum(path.stat().st_size for path in files) if files else None,
        "methods": [
            {
                "name": "forward",
                "inputs": list(source.inputs if inputs is None else inputs),
                "outputs": list(source.outputs if outputs is None else outputs),
                "planned_arena_bytes": [],
            }
        ],
        "delegates": [],
        "nodes_delegated": source.operators.total(),
        "nodes_not_delegated": 0,
        "operators_delegated": dict(sorted(source.operators.items())),
        "operators_left": [],
    }
    if source.parts:
        program["parts"] = source.parts
    return program if made is None else {**program, "operators_made": dict(sorted(made.items()))}
