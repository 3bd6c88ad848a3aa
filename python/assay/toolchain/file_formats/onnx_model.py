"""Reads ONNX models: their boundary, operators and version."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.toolchain.file_formats.pte import corrupt
from assay.toolchain.packages import import_package
from assay.toolchain.types import BoundaryValue

MAX_INLINE_BYTES = 1536 << 20
"""Weights beyond this go to a file of their own: protobuf cannot write 2 GB."""


def read_onnx(path: Path, *, wanted_by: str) -> Any:
    """The model, without weights that lie in files of their own.

    Raises:
        JobError: the file is no ONNX model, or one without a graph; onnx is not installed, which
            `wanted_by` says who needs.
    """
    onnx = import_package("onnx", wanted_by=wanted_by)
    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    if not model.graph.node and not model.graph.output:
        raise corrupt(path, "it holds no graph")
    return model


def text_from_model(model: Any) -> str:
    """The model as ONNX's own text."""
    onnx = import_package("onnx", wanted_by="printing an .onnx file")
    text: str = onnx.printer.to_text(model)
    return text


def get_inputs(model: Any) -> list[BoundaryValue]:
    """The inputs that a caller gives; initializers do not count."""
    constants = _constants(model)
    users: dict[str, list[Any]] = {}
    for node in model.graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    return [
        _value(value, _only(users.get(value.name, []), "QuantizeLinear"), constants)
        for value in model.graph.input
        if value.name not in constants
    ]


def get_outputs(model: Any) -> list[BoundaryValue]:
    """The outputs."""
    constants = _constants(model)
    makers = {name: node for node in model.graph.node for name in node.output}
    return [
        _value(
            value,
            _only([makers[value.name]] if value.name in makers else [], "DequantizeLinear"),
            constants,
        )
        for value in model.graph.output
    ]


def count_operators(model: Any) -> Counter[str]:
    """Nodes by type, those of subgraphs and functions included; foreign domains stand in front."""
    graphs = [model.graph.node, *(function.node for function in model.functions)]
    return Counter(
        f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        for nodes in graphs
        for node in walk_nodes(nodes)
    )


def find_opset(model: Any) -> int | None:
    """The version of the standard operator set."""
    versions = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    return int(versions[0]) if versions else None


def walk_nodes(nodes: Sequence[Any]) -> Iterator[Any]:
    """The nodes and those of the graphs in their attributes."""
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                yield from walk_nodes(graph.node)


def without_weights(model: Any) -> Any:
    """A copy whose weights are only named, for reading."""
    copy = type(model)()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        for held in ("raw_data", "float_data", "int32_data", "int64_data", "double_data"):
            tensor.ClearField(held)
    return copy


def is_too_large(model: Any) -> bool:
    """True if the weights do not fit into the file of the model."""
    return sum(map(_count_bytes, model.graph.initializer)) > MAX_INLINE_BYTES


def _count_bytes(tensor: Any) -> int:
    """Multiplies type and shape: ByteSize() serializes the tensor, and fails above 2 GiB."""
    from onnx import TensorProto
    from onnx.helper import tensor_dtype_to_np_dtype

    if tensor.data_type == TensorProto.STRING:
        return sum(map(len, tensor.string_data))
    itemsize: int = tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    return math.prod(map(int, tensor.dims)) * itemsize


def dimension_names(values: Sequence[Any]) -> dict[str, list[str]]:
    """Names of the dimensions of each value, by the value's name; "" where one has none."""
    return {
        value.name: [dimension.dim_param for dimension in value.type.tensor_type.shape.dim]
        for value in values
    }


def _constants(model: Any) -> dict[str, Any]:
    return {tensor.name: tensor for tensor in model.graph.initializer}


def _only(nodes: Sequence[Any], kind: str) -> Any:
    """Returns the only node if it is of this type; None otherwise."""
    return nodes[0] if len(nodes) == 1 and nodes[0].op_type == kind else None


def _value(value: Any, node: Any, constants: Mapping[str, Any]) -> BoundaryValue:
    from onnx.helper import tensor_dtype_to_np_dtype

    tensor = value.type.tensor_type
    names = [dimension.dim_param for dimension in tensor.shape.dim]
    return {
        "name": value.name,
        "dtype": tensor_dtype_to_np_dtype(tensor.elem_type).name,
        "shape": _shape(tensor) if tensor.HasField("shape") else None,
        **({"dimensions": names} if any(names) else {}),
        "quantization": None if node is None else _quantization(node, constants),
    }


def _shape(tensor: Any) -> list[int]:
    """Sizes; -1 for a dimension that the inputs decide."""
    return [int(d.dim_value) if d.HasField("dim_value") else -1 for d in tensor.shape.dim]


def _quantization(node: Any, constants: Mapping[str, Any]) -> dict[str, Any] | None:
    """The parameters of a per-tensor QuantizeLinear or DequantizeLinear whose are constant."""
    import numpy as np
    from onnx.numpy_helper import to_array

    if len(node.input) != 3 or any(name not in constants for name in node.input[1:]):
        return None
    scale, zero_point = (to_array(constants[name]) for name in node.input[1:])
    if scale.size != 1 or zero_point.dtype.kind not in "iu":
        return None
    limits = np.iinfo(zero_point.dtype)
    return {
        "scale": float(scale.item()),
        "zero_point": int(zero_point.item()),
        "quant_min": int(limits.min),
        "quant_max": int(limits.max),
        "dtype": zero_point.dtype.name,
    }
