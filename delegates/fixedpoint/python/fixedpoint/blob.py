"""Writes the blob that the runtime loads. Its format: docs/contracts/fixedpoint.md."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fixedpoint import SEMANTICS_VERSION
from fixedpoint.planner import ALIGNMENT, Plan, align
from fixedpoint.program import ATTRIBUTES, Operation, Program, Tensor

MAGIC = b"FXPT\r\n\x1a\n"
FORMAT_VERSION = 2
ABSENT = 0xFFFFFFFF

_HEADER = struct.Struct("<8sIIQQQIIIIII")
_TENSOR = struct.Struct("<BBBxiQQ6IdI4x")
_OPERATION = struct.Struct("<HHIIIiiiiiiq20i")
_DTYPES = {"int8": 1, "int16": 2, "int32": 3, "int64": 4, "uint8": 5, "float32": 6}
_CHECKSUM_AT = 32

ARENA, CONSTANT, INPUT, OUTPUT = range(4)
"""Kind of the memory that holds a tensor."""


@dataclass(frozen=True)
class _Sections:
    """Offsets of the blob's parts."""

    operations: int
    indices: int
    boundary: int
    constants: int


def write(program: Program, plan: Plan) -> bytes:
    """The program as a blob. The same program and plan give the same bytes."""
    indices, spans = _input_lists(program.operations)
    tensors_at = align(_HEADER.size)
    operations_at = align(tensors_at + len(program.tensors) * _TENSOR.size)
    indices_at = align(operations_at + len(program.operations) * _OPERATION.size)
    boundary = [*program.inputs, *program.outputs]
    boundary_at = align(indices_at + 4 * len(indices))
    sections = _Sections(
        operations_at, indices_at, boundary_at, align(boundary_at + 4 * len(boundary))
    )
    offsets, contents, total = _place_constants(program, sections.constants)
    blob = bytearray(total)
    blob[: _HEADER.size] = _HEADER.pack(
        MAGIC, FORMAT_VERSION, SEMANTICS_VERSION, total, plan.arena_bytes, 0,
        len(program.tensors), len(program.operations), len(indices),
        len(program.inputs), len(program.outputs), ALIGNMENT,
    )  # fmt: skip
    for i, tensor in enumerate(program.tensors):
        record = _tensor_record(program, i, tensor, plan, offsets)
        _put(blob, tensors_at + i * _TENSOR.size, record)
    for i, operation in enumerate(program.operations):
        _put(blob, operations_at + i * _OPERATION.size, _operation_record(i, operation, spans[i]))
    _put(blob, indices_at, struct.pack(f"<{len(indices)}I", *indices))
    _put(blob, boundary_at, struct.pack(f"<{len(boundary)}I", *boundary))
    for content, offset in contents.items():
        _put(blob, offset, content)
    _put(blob, _CHECKSUM_AT, struct.pack("<Q", checksum(bytes(blob))))
    return bytes(blob)


def checksum(blob: bytes) -> int:
    """Sum of all 64-bit words, each times an odd number that tells its place; modulo 2^64.

    Computed with the checksum's own field as zero. Any change of one word changes it.
    """
    words = np.frombuffer(blob, dtype="<u8")
    places = np.arange(len(words), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    with np.errstate(over="ignore"):
        return int((words * places).sum(dtype=np.uint64))


def _put(blob: bytearray, offset: int, content: bytes) -> None:
    blob[offset : offset + len(content)] = content


def _input_lists(operations: Sequence[Operation]) -> tuple[list[int], list[tuple[int, int]]]:
    """All inputs in one list, and where each operation's begin and how many there are."""
    indices: list[int] = []
    spans = []
    for operation in operations:
        spans.append((len(indices), len(operation.inputs)))
        indices += [ABSENT if index is None else index for index in operation.inputs]
    return indices, spans


def _place_constants(program: Program, start: int) -> tuple[dict[int, int], dict[bytes, int], int]:
    """The offset of each constant, that of each content, and where they end.

    Equal contents stand once: steps of a recurrent layer share their weights.
    """
    offsets: dict[int, int] = {}
    contents: dict[bytes, int] = {}
    end = start
    for index, tensor in enumerate(program.tensors):
        if tensor.data is None:
            continue
        content = np.ascontiguousarray(tensor.data).tobytes()
        offsets[index] = contents.setdefault(content, end)
        if offsets[index] == end:
            end = align(end + tensor.bytes)
    return offsets, contents, end


def _tensor_record(
    program: Program, index: int, tensor: Tensor, plan: Plan, constants: dict[int, int]
) -> bytes:
    place, offset = _place(program, index, plan, constants)
    dims = [*tensor.shape, *[0] * (6 - len(tensor.shape))]
    return _TENSOR.pack(
        _DTYPES[tensor.dtype], place, len(tensor.shape), tensor.zero_point, offset, tensor.bytes,
        *dims, tensor.scale, _packed_order(tensor.order),
    )  # fmt: skip


def _packed_order(order: Sequence[int]) -> int:
    """Four bits a dimension, the outermost lowest; 0 for dimensions as they are."""
    is_plain = list(order) == list(range(len(order)))
    return 0 if is_plain else sum(dim << (4 * place) for place, dim in enumerate(order))


def _place(program: Program, index: int, plan: Plan, constants: dict[int, int]) -> tuple[int, int]:
    if index in constants:
        return CONSTANT, constants[index]
    if index in program.inputs:
        return INPUT, program.inputs.index(index)
    if index in program.outputs:
        return OUTPUT, program.outputs.index(index)
    return ARENA, plan.offsets[index]


def _operation_record(handle: int, operation: Operation, span: tuple[int, int]) -> bytes:
    attributes = [operation.attributes[name] for name in ATTRIBUTES[operation.kind]]
    attributes += [0] * (20 - len(attributes))
    first, count = span
    return _OPERATION.pack(
        operation.kind, count, first, operation.output, handle, *operation.multipliers,
        operation.shift, operation.low, operation.high, operation.rounding, operation.bias,
        *attributes,
    )  # fmt: skip
