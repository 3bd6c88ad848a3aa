"""Lowering for OpenVINO: an exported program becomes an IR, an .xml with a .bin next to it.

OpenVINO's conversion takes a whole program or fails: nothing of it is left to anybody else.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.toolchain.errors import RequestError, Unsupported, significant_lines
from assay.toolchain.flows.base import Flow, LoweringJob, LoweringOutput
from assay.toolchain.flows.program_manifest import describe_source, describe_whole
from assay.toolchain.packages import import_package
from assay.toolchain.suggest import check_keys
from assay.toolchain.types import BoundaryValue, Lowering

if TYPE_CHECKING:
    import torch

PROGRAM, WEIGHTS = "program.xml", "program.bin"
OPTIONS = ("compress_to_fp16",)
"""`compress_to_fp16`: weights are stored as float16; what computes is the engine's option."""

_NOT_OPERATORS = ("Parameter", "Constant", "Result")
_DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}
_DTYPES |= {"i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8"}
_DTYPES |= {"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "boolean": "bool"}


def _check(lowering: Lowering) -> None:
    check_keys("option of the openvino lowering", lowering.options, OPTIONS)
    for key, value in lowering.options.items():
        if not isinstance(value, bool):
            raise RequestError(f"{key} takes bool, not {value!r}")


def convert(exported: "torch.export.ExportedProgram") -> Any:
    """The program as an openvino.Model, with the shapes that it was exported with.

    Raises:
        MissingDependency: OpenVINO is not installed.
        Unsupported: OpenVINO has no conversion for an operator.
    """
    openvino = import_package("openvino", wanted_by="the openvino lowering")
    shapes = [
        openvino.PartialShape([openvino.Dimension(*size) for size in shape])
        for shape in _input_shapes(exported)
    ]
    try:  # Without shapes the conversion leaves every size open.
        return openvino.convert_model(exported, input=shapes)
    except openvino.frontend.OpConversionFailure as error:
        text = " ".join(significant_lines(error)[:3])
        raise Unsupported(f"OpenVINO cannot convert this program: {text}") from error


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


def _make(job: LoweringJob) -> LoweringOutput:
    source = describe_source(job.exported, job.parts)
    model = job.lower(lambda exported, lowering: convert(exported))
    files = job.serialize(partial(serialize, model, job.lowering.options))
    return files, describe_whole(
        source,
        files,
        made=count_made(model),
        inputs=_named(values_from_ports(model.inputs), source.inputs),
        outputs=_named(values_from_ports(model.outputs), source.outputs),
    )


def count_made(model: Any) -> Counter[str]:
    """The IR's operators by type."""
    made = Counter(node.get_type_name() for node in model.get_ordered_ops())
    return Counter({name: count for name, count in made.items() if name not in _NOT_OPERATORS})


def values_from_ports(ports: Sequence[Any]) -> list[BoundaryValue]:
    """The inputs or outputs of an openvino.Model, with the names that the IR has for them."""
    return [
        {
            "name": min(port.get_names(), default=None),
            "dtype": _dtype_name(port.get_element_type().get_type_name()),
            "shape": _shape(port.get_partial_shape()),
            "quantization": None,
        }
        for port in ports
    ]


def _named(values: Sequence[BoundaryValue], known: Sequence[BoundaryValue]) -> list[BoundaryValue]:
    """The values with the exported program's names and quantization."""
    if len(values) != len(known):
        return [{**value, "name": None} for value in values]
    kept = ("name", "quantization")
    return [
        {**value, **{key: source[key] for key in kept}}
        for value, source in zip(values, known, strict=True)
    ]


def _dtype_name(name: str) -> str:
    return _DTYPES.get(name, name)


def _shape(partial: Any) -> list[int]:
    """Sizes; -1 for a dimension that the inputs decide."""
    return [int(size.get_length()) if size.is_static else -1 for size in partial]


FLOW = Flow(
    name="openvino",
    engine="openvino",
    product="openvino_ir",
    make=_make,
    check=_check,
    needs=("openvino",),
)
