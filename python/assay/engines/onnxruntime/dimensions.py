"""Names of the open dimensions of an .onnx file's inputs, without loading its graph or weights."""

import mmap
from collections.abc import Iterator
from pathlib import Path

# onnx.proto: ModelProto.graph, GraphProto.input, ValueInfoProto.name and .type, TypeProto's
# tensor_type, its shape, the shape's dim, Dimension.dim_param; GraphProto.initializer and
# .sparse_initializer, TensorProto.name, SparseTensorProto.values.
_INITIALIZER, _TENSOR_NAME, _SPARSE, _VALUES = 5, 8, 15, 1
_GRAPH, _INPUT, _NAME, _TYPE, _TENSOR, _SHAPE, _DIM, _DIM_PARAM = 7, 11, 1, 2, 1, 2, 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_dimension_names(path: Path) -> dict[str, list[str]]:
    """The names of each input's dimensions, "" where a dimension has none.

    An input that has a value in the file is none: early versions list every initializer so.
    Only the file's outline is read: what lies between is skipped, so that the load that follows
    finds the file as cold as it was. Nothing is told of a file that is no ONNX: loading it says
    what is wrong.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            data.madvise(mmap.MADV_RANDOM)
            return dict(_inputs(data))
    except (IndexError, ValueError):  # The latter also where the file is empty.
        return {}


def _inputs(data: mmap.mmap) -> Iterator[tuple[str, list[str]]]:
    whole = [(0, len(data))]
    graph = _inside(data, whole, _GRAPH)
    values = _inside(data, graph, _INITIALIZER) + _inside(data, graph, _SPARSE, _VALUES)
    given = {_text(data, [value], _TENSOR_NAME) for value in values}
    for begin, end in _inside(data, graph, _INPUT):
        port = [(begin, end)]
        if _text(data, port, _NAME) in given:
            continue
        shapes = _inside(data, port, _TYPE, _TENSOR, _SHAPE)
        names = [_text(data, [one], _DIM_PARAM) for one in _inside(data, shapes, _DIM)]
        yield _text(data, port, _NAME), names


def _inside(data: mmap.mmap, parts: list[tuple[int, int]], *numbers: int) -> list[tuple[int, int]]:
    """The messages that a path of field numbers leads to."""
    for number in numbers:
        parts = [
            (begin, end)
            for part in parts
            for found, begin, end in _fields(data, *part)
            if found == number
        ]
    return parts


def _text(data: mmap.mmap, parts: list[tuple[int, int]], number: int) -> str:
    found = _inside(data, parts, number)
    return data[found[-1][0] : found[-1][1]].decode(errors="replace") if found else ""


def _fields(data: mmap.mmap, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Number, begin and end of each field that has bytes."""
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            _, at = _varint(data, at)
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
        if kind == _BYTES:
            size, at = _varint(data, at)
        if size is None or at + size > end:
            raise ValueError(f"no field of protobuf at byte {at}")
        if kind == _BYTES:
            yield number, at, at + size
        at += size


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError(f"no number of protobuf at byte {at}")
