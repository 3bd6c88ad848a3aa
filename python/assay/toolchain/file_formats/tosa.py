"""Reads TOSA programs: the flatbuffers that Arm's tools exchange.

Source: tosa.fbs of TOSA 1.1, https://gitlab.arm.com/tosa/tosa-tools. Programs of 1.0 have the same
fields.
"""

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.toolchain.file_formats.flatbuffer import Table, read_root
from assay.toolchain.types import BoundaryValue

ENDING = ".tosa"
IDENTIFIER = b"TOSA"
DTYPES = {
    1: "bool",
    3: "int8",
    4: "int16",
    5: "int32",
    7: "float32",
    8: "float16",
    9: "bfloat16",
    17: "int64",
}
"""Element types that have a counterpart here, by the schema's number."""

_OPERATORS = (
    "UNKNOWN ARGMAX AVG_POOL2D CONV2D CONV3D DEPTHWISE_CONV2D FFT2D MATMUL MAX_POOL2D "
    "RFFT2D TRANSPOSE_CONV2D CLAMP ERF SIGMOID TANH ADD ARITHMETIC_RIGHT_SHIFT BITWISE_AND "
    "BITWISE_OR BITWISE_XOR INTDIV LOGICAL_AND LOGICAL_LEFT_SHIFT LOGICAL_RIGHT_SHIFT "
    "LOGICAL_OR LOGICAL_XOR MAXIMUM MINIMUM MUL POW SUB TABLE ABS BITWISE_NOT CEIL CLZ COS "
    "EXP FLOOR LOG LOGICAL_NOT NEGATE RECIPROCAL RSQRT SIN SELECT EQUAL GREATER "
    "GREATER_EQUAL REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PRODUCT REDUCE_SUM "
    "CONCAT PAD RESHAPE REVERSE SLICE TILE TRANSPOSE GATHER SCATTER RESIZE CAST RESCALE "
    "CONST IDENTITY CUSTOM COND_IF WHILE_LOOP VARIABLE VARIABLE_WRITE VARIABLE_READ "
    "CONST_SHAPE"
)
OPERATORS = tuple(_OPERATORS.split())
"""Names in the order of their numbers; later ones are of TOSA 1.1."""

# Fields of the schema's tables, by number.
_VERSION, _REGIONS = 0, 1
_MAJOR, _MINOR = 0, 1
_BLOCKS = 1
_BLOCK_OPERATORS, _BLOCK_TENSORS, _BLOCK_INPUTS, _BLOCK_OUTPUTS = 1, 2, 3, 4
_OPERATOR = 0
_TENSOR_NAME, _TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_DATA = 0, 1, 2, 3


@dataclass(frozen=True)
class TosaTensor:
    """An input or output of a program."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class TosaProgram:
    """The boundary of a program, its operators by name, and the version that it was written in."""

    inputs: tuple[TosaTensor, ...]
    outputs: tuple[TosaTensor, ...]
    operators: Counter[str]
    version: str


def read_program(content: bytes) -> TosaProgram:
    """Describes a program; every tensor and operator is looked at, so cut-off files are noticed.

    Raises:
        ValueError: this is no TOSA program, or it is damaged.
    """
    if content[4:8] != IDENTIFIER:
        raise ValueError(f"'{IDENTIFIER.decode()}' is not at byte 4")
    try:
        return _read(read_root(content))
    except (KeyError, IndexError, struct.error) as error:
        raise ValueError(f"it ends early, or is damaged: {error}") from error


def values_from_tensors(tensors: Sequence[TosaTensor]) -> list[BoundaryValue]:
    """Inputs or outputs as manifests have them."""
    return [
        {"name": one.name, "dtype": one.dtype, "shape": list(one.shape), "quantization": None}
        for one in tensors
    ]


def _read(graph: Table) -> TosaProgram:
    blocks = [block for region in graph.tables(_REGIONS) for block in region.tables(_BLOCKS)]
    tensors = [{tensor.name: tensor for tensor in _tensors(block)} for block in blocks]
    operators = Counter(
        _operator_name(operator.number(_OPERATOR, "I"))
        for block in blocks
        for operator in block.tables(_BLOCK_OPERATORS)
    )
    inputs, outputs = (
        tuple(tensors[0][name] for name in blocks[0].texts(side))
        for side in (_BLOCK_INPUTS, _BLOCK_OUTPUTS)
    )
    version = graph.table(_VERSION)
    numbers = [0, 0] if version is None else [version.number(field) for field in (_MAJOR, _MINOR)]
    return TosaProgram(inputs, outputs, operators, ".".join(map(str, numbers)))


def _tensors(block: Table) -> Iterator[TosaTensor]:
    for tensor in block.tables(_BLOCK_TENSORS):
        start, size = tensor.vector(_TENSOR_DATA)
        if start + size > len(tensor.content):
            raise IndexError("a constant reaches beyond the file")
        kind = tensor.number(_TENSOR_TYPE, "I")
        yield TosaTensor(
            tensor.text(_TENSOR_NAME),
            DTYPES.get(kind, f"type {kind}"),
            tuple(tensor.numbers(_TENSOR_SHAPE)),
        )


def _operator_name(number: int) -> str:
    return OPERATORS[number] if number < len(OPERATORS) else f"OPERATOR_{number}"
