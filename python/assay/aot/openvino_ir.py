"""Lowering for OpenVINO: an exported program becomes an IR, an .xml with a .bin beside it.

OpenVINO's conversion takes a whole program or fails: nothing of it is left to anybody else.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.aot.errors import MissingDependency, RequestError, Unsupported
from assay.aot.suggest import check_keys

if TYPE_CHECKING:
    import torch

FLOW = "openvino"
ENGINE, PRODUCT = "openvino", "openvino_ir"
PROGRAM, WEIGHTS = "program.xml", "program.bin"
OPTIONS = ("compress_to_fp16",)
"""`compress_to_fp16`: weights are stored as float16; what computes is the engine's option."""

_NOT_OPERATORS = ("Parameter", "Constant", "Result")
_DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}
_DTYPES |= {"i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8"}
_DTYPES |= {"u8": "uint8", "u16": "uint16", "boolean": "bool"}


def check_options(options: Mapping[str, Any]) -> None:
    """Refuses unknown options and values of the wrong type.

    Raises:
        RequestError: as it says.
    """
    check_keys("option of the openvino lowering", options, OPTIONS)
    for key, value in options.items():
        if not isinstance(value, bool):
            raise RequestError(f"{key} takes bool, not {value!r}")


def convert(exported: "torch.export.ExportedProgram") -> Any:
    """The program as an openvino.Model, with the shapes that it was exported with.

    Raises:
        MissingDependency: OpenVINO is not installed.
        Unsupported: OpenVINO has no conversion for an operator.
    """
    try:
        import openvino
    except ImportError as error:
        raise MissingDependency(f"the openvino lowering needs openvino: {error}") from error
    shapes = [
        openvino.PartialShape([openvino.Dimension(*size) for size in shape])
        for shape in _input_shapes(exported)
    ]
    try:  # Without shapes the conversion leaves every size open.
        return openvino.convert_model(exported, input=shapes)
    except openvino.frontend.OpConversionFailure as error:
        raise Unsupported(f"OpenVINO cannot convert this program: {_first_lines(error)}") from error


def _input_shapes(exported: "torch.export.ExportedProgram") -> list[list[tuple[int, int]]]:
    """Least and greatest size of each dimension of the inputs; -1: it has no bound."""
    nodes = {node.name: node for node in exported.graph.nodes}
    ranges = {str(symbol): bounds for symbol, bounds in exported.range_constraints.items()}
    return [
        [_bounds(size, ranges) for size in nodes[str(name)].meta["val"].shape]
        for name in exported.graph_signature.user_inputs
    ]


def _bounds(size: Any, ranges: Mapping[str, Any]) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    known = ranges.get(str(size))
    if known is None:
        return 0, -1
    return int(known.lower), int(known.upper) if known.upper.is_Integer else -1


def serialize(model: Any, options: Mapping[str, Any], folder: Path) -> list[Path]:
    """Writes the .xml and its .bin.

    Returns:
        The files, the program first.
    """
    import openvino

    path = folder / PROGRAM
    is_compressed = bool(options.get("compress_to_fp16", False))
    openvino.save_model(model, str(path), compress_to_fp16=is_compressed)
    return [path, folder / WEIGHTS]


@dataclass(frozen=True)
class Source:
    """What the manifest says of the exported program; take it before the conversion rewrites it."""

    inputs: list[Any]
    outputs: list[Any]
    operators: Counter[str]


def describe_source(exported: "torch.export.ExportedProgram") -> Source:
    """Names and quantization at the boundary, and the operators."""
    from assay.aot.delegation import operator_nodes, walk_graphs
    from assay.aot.lower import operator_name
    from assay.aot.manifest import boundary

    inputs, outputs = boundary(exported)
    operators = Counter(
        operator_name(node.target)
        for graph in walk_graphs(exported.graph_module)
        for node in operator_nodes(graph)
    )
    return Source(inputs, outputs, operators)


def describe_program(source: Source, model: Any, files: Sequence[Path]) -> dict[str, Any]:
    """The manifest's program: its one method, the operators taken and what became of them."""
    made = Counter(node.get_type_name() for node in model.get_ordered_ops())
    return {
        "bytes": sum(path.stat().st_size for path in files) if files else None,
        "methods": [
            {
                "name": "forward",
                "inputs": _values(model.inputs, source.inputs),
                "outputs": _values(model.outputs, source.outputs),
                "planned_arena_bytes": [],
            }
        ],
        "delegates": [],
        "nodes_delegated": source.operators.total(),
        "nodes_not_delegated": 0,
        "operators_delegated": dict(sorted(source.operators.items())),
        "operators_left": [],
        "operators_made": {
            name: count for name, count in sorted(made.items()) if name not in _NOT_OPERATORS
        },
    }


def _values(ports: Sequence[Any], named: Sequence[Any]) -> list[dict[str, Any]]:
    known = named if len(named) == len(ports) else [(None, None)] * len(ports)
    return [
        {
            "name": name,
            "dtype": _dtype_name(port.get_element_type().get_type_name()),
            "shape": _shape(port.get_partial_shape()),
            "quantization": quantization,
        }
        for port, (name, quantization) in zip(ports, known, strict=True)
    ]


def _dtype_name(name: str) -> str:
    return _DTYPES.get(name, name)


def _shape(partial: Any) -> list[int]:
    """Sizes; -1 for a dimension that the inputs decide."""
    return [int(size.get_length()) if size.is_static else -1 for size in partial]


def _first_lines(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith(("Exception from", "Check '"))]
    return " ".join((kept or lines)[:3])
