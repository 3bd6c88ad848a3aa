"""ExecuTorch's bundled programs (.bpte): a program with inputs and the outputs it must give."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from assay.toolchain.dtypes import DTYPES
from assay.toolchain.errors import JobError, RequestError, Unsupported
from assay.toolchain.file_formats.pte import corrupt, dtype_name
from assay.toolchain.packages import import_package

MAGIC = b"BP"
METHOD = "forward"
_TENSOR = 1
"""The tag of a tensor in the union ValueUnion."""


@dataclass(frozen=True)
class Case:
    """Inputs of one execution and its expected outputs."""

    inputs: tuple[torch.Tensor, ...]
    outputs: tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Bundle:
    """The program, as a .pte file holds it, and the test cases of its method."""

    program: bytes
    cases: list[Case]


def read_bundle(path: Path) -> Bundle:
    """Reads a .bpte file.

    Raises:
        RequestError: it has no test case for `forward`.
        Unsupported: an input or output is no tensor.
        JobError: the file is corrupt (reason corrupt_program).
        MissingDependency: executorch is not installed.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JobError(f"cannot read {path}: {error.strerror}", reason_code="no_program") from error
    if data[4:6] != MAGIC:
        raise corrupt(path, f"no '{MAGIC.decode()}' at byte 4; is it a bundled program?")
    tables = import_package("flatbuffers.table", wanted_by="reading a .bpte file")
    try:
        root = _Table(tables.Table(data, 0)).follow(0)
        suites = {suite.text(0): suite.tables(1) for suite in root.tables(1)}
        cases = [_case(one) for one in _get_cases(path, suites)]
        program = root.bytes(2)
    except JobError:
        raise
    except Exception as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error
    if not program:
        raise corrupt(path, "it holds no program")
    return Bundle(program, cases)


class _Table:
    """A table of a flatbuffer by the places of its fields: bundled_program_schema.fbs has them."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def follow(self, position: int) -> "_Table":
        """The table that the offset at `position` leads to."""
        kind = type(self._table)
        return _Table(kind(self._table.Bytes, self._table.Indirect(position)))

    def _place(self, field: int) -> int:
        """Returns the position of a field; 0: it is absent."""
        offset = int(self._table.Offset(4 + 2 * field))
        return offset + int(self._table.Pos) if offset else 0

    def _required(self, field: int) -> int:
        place = self._place(field)
        if not place:
            raise ValueError(f"a table lacks its field {field}")
        return place

    def _elements(self, field: int) -> tuple[int, int]:
        """Returns the start of a vector's elements, and their number."""
        if not self._place(field):
            return 0, 0
        offset = self._place(field) - self._table.Pos
        return int(self._table.Vector(offset)), int(self._table.VectorLen(offset))

    def tables(self, field: int) -> "list[_Table]":
        """A vector of tables."""
        start, count = self._elements(field)
        return [self.follow(start + 4 * index) for index in range(count)]

    def table(self, field: int) -> "_Table":
        """A table."""
        return self.follow(self._required(field))

    def text(self, field: int) -> str:
        """A string."""
        return str(self._table.String(self._required(field)).decode())

    def bytes(self, field: int) -> bytes:
        """A vector of bytes, which the file must hold whole."""
        start, count = self._elements(field)
        found = bytes(self._table.Bytes[start : start + count])
        if len(found) != count:
            raise ValueError(f"{count} bytes begin at {start}; it was cut short")
        return found

    def integers(self, field: int) -> list[int]:
        """A vector of int32."""
        start, count = self._elements(field)
        return list(struct.unpack_from(f"<{count}i", self._table.Bytes, start))

    def byte(self, field: int) -> int:
        """One byte; 0 if it is absent."""
        place = self._place(field)
        return int(self._table.Bytes[place]) if place else 0


def _get_cases(path: Path, suites: Mapping[str, list[_Table]]) -> list[_Table]:
    if not suites.get(METHOD):
        has = ", ".join(suites) or "none"
        raise RequestError(f"{path} has no test cases of the method {METHOD}; methods: {has}")
    return suites[METHOD]


def _case(case: _Table) -> Case:
    inputs, outputs = ([_tensor(value) for value in case.tables(side)] for side in (0, 1))
    return Case(tuple(inputs), tuple(outputs))


def _tensor(value: _Table) -> torch.Tensor:
    """The tensor of a value as contiguous memory."""
    if value.byte(0) != _TENSOR:
        raise Unsupported("a bundled value is no tensor; only tensors are taken as inputs")
    table = value.table(1)
    dtype, sizes, data = _torch_dtype(table.byte(0)), table.integers(1), table.bytes(2)
    order = list(table.bytes(3)) or list(range(len(sizes)))
    if not data:
        return torch.empty(sizes, dtype=dtype)
    flat = torch.frombuffer(bytearray(data), dtype=dtype)
    stored = flat.reshape([sizes[axis] for axis in order])
    return stored.permute([order.index(axis) for axis in range(len(sizes))]).contiguous()


def _torch_dtype(scalar_type: int) -> torch.dtype:
    name = dtype_name(scalar_type)
    if name not in DTYPES:
        raise Unsupported(f"a bundled tensor is of type {name}; known: {', '.join(DTYPES)}")
    return DTYPES[name]
