"""The call of one operator as data: what a case is, and what a reducer changes.

A call is {"args": […], "kwargs": {…}} in the order of the operator's schema. A tensor is written
{"shape", "dtype", …}, a torch constant {"torch": "float16"}, a float that JSON lacks
{"number": "inf"}; all else is JSON's own.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from assay.toolchain.dtypes import DTYPES, dtype_name
from assay.toolchain.errors import RequestError, reading
from assay.toolchain.suggest import check_keys, unknown_name

LAYOUTS = ("contiguous", "channels_last", "transposed", "gapped")
ORDERS = (None, "distinct", "trues", "away", "sorted", "coarse", "varied")
_KEYS = (
    *("shape", "dtype", "layout", "low", "high", "order", "constant", "data"),
    *("open", "refused"),
)


@dataclass(frozen=True)
class TensorSpec:
    """A tensor argument: its form, and what its values are drawn from.

    Without `low` and `high` floats are standard normal; with them floats are uniform in
    [low, high] and integers in [low, high). `order`: "distinct" values (where the range has too
    few, along each dimension), "away" from zero by at least a quarter,
    "coarse" floats that are whole and often alike, integers "sorted" from `low` on, "trues": half
    are true or not zero, "varied": in turn zeros, some of them, none. `is_constant`: a weight of
    the program, no input. `open`: names of the dimensions that the program leaves open, by place.
    `refused`: what is another matter in samples that the operator has to refuse.
    `data`: the elements themselves, the same in every sample, instead of all that.
    """

    shape: tuple[int, ...]
    dtype: str
    layout: str = "contiguous"
    low: float | None = None
    high: float | None = None
    order: str | None = None
    is_constant: bool = False
    open: Mapping[int, str] = field(default_factory=dict)
    refused: Mapping[str, Any] = field(default_factory=dict)
    data: tuple[float, ...] | None = None

    def sized(self, sizes: Mapping[str, int]) -> "TensorSpec":
        """The spec with these sizes for its open dimensions."""
        shape = list(self.shape)
        for place, name in self.open.items():
            shape[place] = sizes[name]
        return replace(self, shape=tuple(shape))

    def to_json(self) -> dict[str, Any]:
        """The argument in the form of a call's listing, without defaults."""
        document: dict[str, Any] = {"shape": list(self.shape), "dtype": self.dtype}
        given = {
            "layout": self.layout if self.layout != "contiguous" else None,
            "low": self.low,
            "high": self.high,
            "order": self.order,
            "constant": self.is_constant or None,
            "open": [self.open.get(place) for place in range(len(self.shape))]
            if self.open
            else None,
            "refused": dict(self.refused) or None,
            "data": None if self.data is None else [encode(one, _no_tensor) for one in self.data],
        }
        return document | {key: value for key, value in given.items() if value is not None}


@reading("a tensor of a call")
def tensor_from_json(document: Mapping[str, Any]) -> TensorSpec:
    """Reads {"shape", "dtype", "layout", "low", "high", "order", "constant", …}."""
    check_keys("key of a tensor", document, _KEYS)
    dtype, layout = str(document["dtype"]), str(document.get("layout", "contiguous"))
    order = document.get("order")
    for kind, name, known in (("dtype", dtype, DTYPES), ("layout", layout, LAYOUTS)):
        if name not in known:
            raise RequestError(unknown_name(kind, name, known))
    if order not in ORDERS:
        raise RequestError(unknown_name("order of values", str(order), ORDERS[1:]))
    shape = tuple(int(size) for size in document["shape"])
    if layout == "channels_last" and len(shape) not in (4, 5):
        raise RequestError(f"channels_last needs 4 or 5 dimensions, not {list(shape)}")
    names = list(document.get("open") or [])
    if names and (len(names) != len(shape) or document.get("constant")):
        raise RequestError(f'"open" needs a name or null for each of {list(shape)}, of an input')
    return TensorSpec(
        shape,
        dtype,
        layout,
        document.get("low"),
        document.get("high"),
        order,
        bool(document.get("constant", False)),
        {place: str(name) for place, name in enumerate(names) if name is not None},
        dict(document.get("refused") or {}),
        _read_data(document, shape),
    )


def refused_form(document: Mapping[str, Any]) -> dict[str, Any]:
    """The tensor as samples have it that the operator has to refuse."""
    return {
        **{key: one for key, one in document.items() if key != "refused"},
        **document.get("refused", {}),
    }


def _read_data(document: Mapping[str, Any], shape: Sequence[int]) -> tuple[float, ...] | None:
    data = document.get("data")
    if data is None:
        return None
    if len(data) != math.prod(shape):
        raise RequestError(f"{len(data)} elements of data do not fill the shape {list(shape)}")
    return tuple(decode(one, _no_tensor) for one in data)


def _no_tensor(tensor: Any) -> Any:
    raise RequestError(f"an element of data is a number, not {tensor}")


def is_tensor(value: Any) -> bool:
    """True if a value of a call is a tensor."""
    return isinstance(value, Mapping) and "shape" in value


def map_tensors(value: Any, change: Callable[[Mapping[str, Any]], Any]) -> Any:
    """The value with each tensor in it replaced by what `change` makes of it, in order."""
    if is_tensor(value):
        return change(value)
    if isinstance(value, Mapping) and ("torch" in value or "number" in value):
        return value
    if isinstance(value, Mapping):
        return {key: map_tensors(one, change) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [map_tensors(one, change) for one in value]
    return value


def get_tensors(call: Mapping[str, Any]) -> list[TensorSpec]:
    """The tensors of a call in order."""
    specs: list[TensorSpec] = []
    map_tensors(call, lambda document: specs.append(tensor_from_json(document)))
    return specs


def decode(value: Any, tensors: Callable[[Mapping[str, Any]], Any]) -> Any:
    """The value as torch takes it; `tensors` gives what stands for each tensor, in order."""
    if is_tensor(value):
        return tensors(value)
    if isinstance(value, Mapping):
        if "torch" in value:
            return _torch_constant(str(value["torch"]))
        if "number" in value:
            return float(value["number"])
        return {key: decode(one, tensors) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [decode(one, tensors) for one in value]
    return value


def encode(value: Any, tensor: Callable[[torch.Tensor], Any]) -> Any:
    """The JSON form of an argument; `tensor` writes tensors.

    Raises:
        ValueError: an argument that has no such form.
    """
    if isinstance(value, torch.Tensor):
        return tensor(value)
    if isinstance(value, (list, tuple)):
        return [encode(one, tensor) for one in value]
    if isinstance(value, (torch.dtype, torch.memory_format)):
        return {"torch": dtype_name(value)}
    if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
        return {"number": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"no form for {type(value).__name__}")


def _torch_constant(name: str) -> Any:
    found = getattr(torch, name, None)
    if not isinstance(found, (torch.dtype, torch.memory_format)):
        raise RequestError(f"'{name}' is no dtype and no memory format of torch")
    return found


def find_overload(name: str) -> Any:
    """The operator called "aten.add.Tensor".

    Raises:
        RequestError: this torch has none of that name.
    """
    namespace, _, rest = name.partition(".")
    packet_name, _, overload = rest.partition(".")
    packet = getattr(getattr(torch.ops, namespace), packet_name, None) if packet_name else None
    if packet is None:
        raise RequestError(f"torch {torch.__version__} has no operator {name}")
    known = packet.overloads()
    if overload not in known:
        raise RequestError(unknown_name(f"overload of {namespace}.{packet_name}", overload, known))
    return getattr(packet, overload)
