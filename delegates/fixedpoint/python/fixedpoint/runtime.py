"""The C++ runtime without ExecuTorch, through its C interface: blobs are run from Python."""

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from fixedpoint.program import Program

_ERROR_BYTES = 1024
_OBSERVER = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t
)
Observe = Callable[[int, np.ndarray], None]
"""Takes the position of an operation and the values that it made, flat."""


class BlobError(RuntimeError):
    """The runtime refuses a blob; the text says why."""


class InputError(ValueError):
    """The runtime refuses an input; the text says why."""


class Library:
    """The shared library of the delegate."""

    def __init__(self, path: Path) -> None:
        """Loads it.

        Raises:
            OSError: it does not load.
        """
        self._functions = ctypes.CDLL(str(path))
        f = self._functions
        f.fixedpoint_open.restype = ctypes.c_void_p
        f.fixedpoint_open.argtypes = [
            ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t,
        ]  # fmt: skip
        f.fixedpoint_execute.restype = ctypes.c_int
        f.fixedpoint_execute.argtypes = [
            *[ctypes.c_void_p] * 3, _OBSERVER, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
        ]  # fmt: skip
        f.fixedpoint_close.restype = None
        f.fixedpoint_close.argtypes = [ctypes.c_void_p]
        f.fixedpoint_isa_names.restype = ctypes.c_char_p

    def isa_names(self) -> list[str]:
        """Instruction sets that run here, the fastest first."""
        names: bytes = self._functions.fixedpoint_isa_names()
        return names.decode().split(",")

    def open(self, blob: bytes, isa: str = "") -> "Opened":
        """A program that is ready to run, again and again.

        Raises:
            BlobError: the blob is refused.
        """
        return Opened(self._functions, self._open(blob, isa))

    def check(self, blob: bytes, isa: str = "") -> None:
        """Opens a blob and closes it again.

        Raises:
            BlobError: it is refused.
        """
        self._functions.fixedpoint_close(self._open(blob, isa))

    def run(
        self,
        program: Program,
        blob: bytes,
        inputs: Sequence[np.ndarray],
        isa: str = "",
        observe: Observe | None = None,
    ) -> list[np.ndarray]:
        """Runs a blob once; shapes are the logical ones of the program that it was written from.

        Raises:
            BlobError: it is refused.
            ValueError: an input has another size than the program's.
            InputError: one holds an index that is no row of an embedding's table.
        """
        tensors = [program.tensors[index] for index in program.inputs]
        for tensor, array in zip(tensors, inputs, strict=True):
            if array.size != tensor.elements:
                shape = tensor.logical_shape
                raise ValueError(f"an input has the shape {array.shape}, not {shape}")
        given = [
            np.ascontiguousarray(tensor.stored(array), tensor.dtype)
            for array, tensor in zip(inputs, tensors, strict=True)
        ]
        results = [program.tensors[index] for index in program.outputs]
        outputs = [np.empty(tensor.shape, tensor.dtype) for tensor in results]
        handle = self._open(blob, isa)
        try:
            _execute(self._functions, handle, given, outputs, _observer(program, observe))
        finally:
            self._functions.fixedpoint_close(handle)
        return [tensor.logical(made) for tensor, made in zip(results, outputs, strict=True)]

    def _open(self, blob: bytes, isa: str) -> int:
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        opened: int | None = self._functions.fixedpoint_open(
            blob, len(blob), isa.encode(), error, _ERROR_BYTES
        )
        if opened is None:
            raise BlobError(error.value.decode())
        return opened


class Opened:
    """A program in memory, until it is collected."""

    def __init__(self, functions: ctypes.CDLL, handle: int) -> None:
        self._functions = functions
        self._handle = handle

    def __del__(self) -> None:
        self._functions.fixedpoint_close(self._handle)

    def execute(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray]) -> None:
        """Runs once; each array is of the size that the program says, in one piece.

        Raises:
            InputError: an input holds an index that is no row of an embedding's table.
        """
        _execute(self._functions, self._handle, inputs, outputs, _OBSERVER())


def _execute(
    functions: ctypes.CDLL,
    handle: int,
    inputs: Sequence[np.ndarray],
    outputs: Sequence[np.ndarray],
    observer: object,
) -> None:
    error = ctypes.create_string_buffer(_ERROR_BYTES)
    if functions.fixedpoint_execute(
        handle, _pointers(inputs), _pointers(outputs), observer, None, error, _ERROR_BYTES
    ):
        raise InputError(error.value.decode())


def _pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * max(1, len(arrays)))(*(array.ctypes.data for array in arrays))


def _observer(program: Program, observe: Observe | None) -> object:
    if observe is None:
        return _OBSERVER()

    def call(_: object, operation: int, made: int, count: int) -> None:
        dtype = program.tensors[program.operations[operation].output].dtype
        observe(operation, np.frombuffer(ctypes.string_at(made, count), dtype))

    return _OBSERVER(call)
