"""Reads .pte files as they lie: plans, segments and named data, without restoring constants."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.toolchain.errors import JobError, readable_error

MAGIC = b"ET12"


@dataclass(frozen=True)
class ProgramFile:
    """A parsed .pte: executorch's Program dataclass and the sizes that lie around it."""

    program: Any
    bytes: int
    flatbuffer_bytes: int

    def segment_bytes(self, index: int) -> int:
        """Size of a data segment."""
        return int(self.program.segments[index].size)

    def named_data_bytes(self) -> int:
        """All named data of the program: weights that delegates or kernels look up by key."""
        used = {entry.segment_index for entry in self.program.named_data or []}
        return sum(self.segment_bytes(index) for index in used)

    def processed_bytes(self, delegate: Any) -> int:
        """Size of a delegate's processed blob, inline or in a segment."""
        reference = delegate.processed
        if int(reference.location) == 1:
            return self.segment_bytes(reference.index)
        return len(self.program.backend_delegate_data[reference.index].data)


def read_program(path: Path) -> ProgramFile:
    """Parses a .pte file.

    Raises:
        JobError: the file is not a whole .pte (reason corrupt_program).
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise JobError(f"cannot read {path}: {error.strerror}", reason_code="no_program") from error
    return parse_program(path, data)


def parse_program(path: Path, data: bytes) -> ProgramFile:
    """Parses the bytes of a program; `path`: where they come from, for messages.

    Raises:
        JobError: they are no whole program (reason corrupt_program).
    """
    if data[4:8] != MAGIC:
        raise corrupt(path, f"no '{MAGIC.decode()}' at byte 4; is it an ExecuTorch program?")
    try:
        return _parse(data)
    except Exception as error:
        raise corrupt(path, f"{type(error).__name__} while reading it: {error}") from error


def corrupt(path: Path, why: str) -> JobError:
    """The error for a file that cannot be read as what it claims to be."""
    return JobError(f"{path.name} is corrupt: {why}", reason_code="corrupt_program")


def unreadable(error: Exception) -> str:
    """Says why a file is called corrupt whose reader raised `error`, and what to do."""
    return (
        f"{readable_error(error)} while reading it; make or copy it anew, and if it is executed "
        "where it comes from, its format is newer than this toolchain's"
    )


def dtype_name(scalar_type: int) -> str:
    """ExecuTorch's scalar type by its torch name."""
    from executorch.exir.scalar_type import ScalarType

    names = {"BYTE": "uint8", "CHAR": "int8", "SHORT": "int16", "INT": "int32", "LONG": "int64"}
    names |= {"HALF": "float16", "FLOAT": "float32", "DOUBLE": "float64"}
    name = str(ScalarType(scalar_type).name)
    return names.get(name, name.lower())


def tensor_json(value: Any, name: str | None, quantization: Any = None) -> dict[str, Any]:
    """{name, dtype, shape, quantization} of an input or output value; shape null for scalars."""
    kind = type(value.val).__name__
    if kind != "Tensor":
        return {"name": name, "dtype": kind.lower(), "shape": None, "quantization": None}
    shape = [int(size) for size in value.val.sizes]
    return {
        "name": name,
        "dtype": dtype_name(value.val.scalar_type),
        "shape": shape,
        "quantization": quantization,
    }


def _parse(data: bytes) -> ProgramFile:
    from executorch.exir._serialize._flatbuffer_program import _flatbuffer_to_program
    from executorch.exir._serialize._program import _get_extended_header

    header = _get_extended_header(data)
    size, base = len(data), 0
    if header is not None and header.is_valid():
        size, base = header.program_size, header.segment_base_offset
    if size > len(data):
        raise ValueError(f"the header wants {size} bytes of program, the file has {len(data)}")
    program = _flatbuffer_to_program(data[:size])
    for index, segment in enumerate(program.segments or []):
        if base + segment.offset + segment.size > len(data):
            raise ValueError(f"segment {index} ends after the file; it was cut short")
    return ProgramFile(program, len(data), size)
