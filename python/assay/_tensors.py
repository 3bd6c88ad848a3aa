"""Tensors of the caller as the bytes of a request, and back (safetensors).

Arrays of numpy and tensors of PyTorch are distinguished without importing PyTorch.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay._errors import AssayError

if TYPE_CHECKING:
    import torch

_NAMES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "uint16": "U16",
    "uint32": "U32",
    "uint64": "U64",
    "bool": "BOOL",
}
_DTYPES = {name: dtype for dtype, name in _NAMES.items()}
_LENGTH_BYTES = 8


@dataclass(frozen=True)
class TensorSpec:
    """One input or output of a program; `quantization` as in the artifact's manifest."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    quantization: dict[str, Any] | None = None

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "TensorSpec":
        """Reads the form of the wire protocol."""
        shape = tuple(int(size) for size in document["shape"])
        return cls(document["name"], document["dtype"], shape, document.get("quantization"))

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class RawTensor:
    """Contiguous row-major elements as bytes, with the dtype's name: numpy has no bfloat16."""

    dtype: str
    shape: tuple[int, ...]
    data: npt.NDArray[np.uint8]


def is_torch_tensor(value: object) -> bool:
    """True for a torch.Tensor; False when nothing has imported PyTorch."""
    module = sys.modules.get("torch")
    return module is not None and isinstance(value, module.Tensor)


def raw_from_value(value: object, what: str) -> RawTensor:
    """Takes an array or a tensor apart; makes it contiguous and brings it to the CPU where needed.

    Raises:
        AssayError: it is neither, or its dtype is none that Assay knows. `what` names it.
    """
    if is_torch_tensor(value):
        return _raw_from_torch(value, what)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        _check_dtype(array.dtype.name, what)
        return RawTensor(array.dtype.name, array.shape, array.reshape(-1).view(np.uint8))
    raise AssayError(
        f"{what} is a {type(value).__name__}; pass a torch.Tensor or a numpy array",
        code="invalid_argument",
    )


def _raw_from_torch(value: Any, what: str) -> RawTensor:
    import torch

    from assay.toolchain.dtypes import dtype_name

    tensor = value.detach().cpu().contiguous()
    dtype = dtype_name(tensor.dtype)
    _check_dtype(dtype, what)
    data = tensor.reshape(-1).view(torch.uint8).numpy()
    return RawTensor(dtype, tuple(tensor.shape), data)


def _check_dtype(dtype: str, what: str) -> None:
    if dtype not in _NAMES:
        raise AssayError(
            f"{what} is {dtype}; programs take {', '.join(_NAMES)}", code="invalid_argument"
        )


def array_from_raw(raw: RawTensor) -> npt.NDArray[Any]:
    """A numpy array over the same memory; bfloat16 is widened to float32, which is exact."""
    if raw.dtype == "bfloat16":
        wide = raw.data.view(np.uint16).astype(np.uint32) << 16
        return wide.view(np.float32).reshape(raw.shape)
    return raw.data.view(np.dtype(raw.dtype)).reshape(raw.shape)


def tensor_from_raw(raw: RawTensor) -> "torch.Tensor":
    """A torch tensor over the same memory."""
    import torch

    dtype: torch.dtype = getattr(torch, raw.dtype)
    return torch.from_numpy(raw.data).view(dtype).reshape(raw.shape)


def bytes_from_tensors(names: Sequence[str], tensors: Sequence[RawTensor]) -> npt.NDArray[np.uint8]:
    """One safetensors document: 8 bytes of header length, a JSON header, then the data."""
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in zip(names, tensors, strict=True):
        begin, end = end, end + tensor.data.size
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": tensor.shape,
            "data_offsets": (begin, end),
        }
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _LENGTH_BYTES)
    prefix = len(text).to_bytes(_LENGTH_BYTES, "little") + text
    return np.concatenate([np.frombuffer(prefix, np.uint8), *(t.data for t in tensors)])


def tensors_from_bytes(blob: npt.NDArray[np.uint8]) -> dict[str, RawTensor]:
    """Views into the document, by name."""
    length = int.from_bytes(blob[:_LENGTH_BYTES].tobytes(), "little")
    data = blob[_LENGTH_BYTES + length :]
    header = json.loads(blob[_LENGTH_BYTES : _LENGTH_BYTES + length].tobytes())
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            dtype = _DTYPES[entry["dtype"]]
            tensors[name] = RawTensor(dtype, tuple(entry["shape"]), data[begin:end])
    return tensors
