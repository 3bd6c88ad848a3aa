"""The program that lowering makes: integer tensors and primitives, before planning.

Images are stored channels last (N, H, W, C). Shapes here are those of the storage. The attributes
of each kind are listed in docs/contracts/fixedpoint.md.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

MAX_RANK = 6
MAX_COLUMNS = 1 << 14
"""Longest row of a softmax or a layer norm."""


class Kind(IntEnum):
    """Primitives, by the number that stands in the blob."""

    CONV2D = 1
    ADD = 2
    MUL = 3
    AVG_POOL2D = 4
    MAX_POOL2D = 5
    TABLE = 6
    COPY = 7
    CONCAT = 8
    QUANTIZE = 9
    DEQUANTIZE = 10
    MATMUL = 11
    SOFTMAX = 12
    LAYER_NORM = 13
    EMBEDDING = 14
    MASKED_SOFTMAX = 15


class Rounding(IntEnum):
    """Where a result that lies between two integers goes."""

    HALF_UP = 0
    HALF_EVEN = 1


ROUNDED = (Kind.CONV2D, Kind.ADD, Kind.MUL, Kind.AVG_POOL2D, Kind.MATMUL)
"""Primitives that the mode of rounding is for."""

_SLIDE = (
    *("kernel_height", "kernel_width", "stride_height", "stride_width"),
    *("pad_top", "pad_left"),
)
_DILATION = ("dilation_height", "dilation_width")
_POOL = ("batch", "in_height", "in_width", "channels", "out_height", "out_width", *_SLIDE)
_STRIDES = ("rank", "offset", *(f"dim{i}" for i in range(6)), *(f"stride{i}" for i in range(6)))

ATTRIBUTES: Mapping[Kind, tuple[str, ...]] = {
    Kind.CONV2D: (
        "batch",
        "in_height",
        "in_width",
        "in_channels",
        "out_height",
        "out_width",
        "out_channels",
        *_SLIDE,
        *_DILATION,
        "groups",
        "input_zero_point",
    ),
    Kind.ADD: ("count",),
    Kind.MUL: ("outer", "rows", "inner", "zero_point_a", "zero_point_b"),
    Kind.AVG_POOL2D: (*_POOL, "input_zero_point"),
    Kind.MAX_POOL2D: (*_POOL, *_DILATION),
    Kind.TABLE: ("count",),
    Kind.COPY: _STRIDES,
    Kind.CONCAT: ("outer",),
    Kind.QUANTIZE: (*_STRIDES, "zero_point", "factor_bits"),
    Kind.DEQUANTIZE: (*_STRIDES, "zero_point", "factor_bits"),
    Kind.MATMUL: ("batch", "rows", "columns", "depth", "zero_point_a", "zero_point_b"),
    Kind.SOFTMAX: ("rows", "columns"),
    Kind.LAYER_NORM: ("rows", "columns", "epsilon_bits"),
    Kind.EMBEDDING: (*_STRIDES, "rows", "columns"),
    Kind.MASKED_SOFTMAX: (*_STRIDES, "rows", "columns", "masks_nonzero", "equal_where_empty"),
}
"""Attributes of each primitive in their order in the blob."""


@dataclass(frozen=True)
class Tensor:
    """A tensor of the program; `data` is set for constants only."""

    name: str
    shape: tuple[int, ...]
    dtype: str = "int8"
    scale: float = 1.0
    zero_point: int = 0
    data: np.ndarray | None = None
    order: tuple[int, ...] = ()
    """The logical dimensions of an input or output as they are stored; none: as they are."""

    @property
    def elements(self) -> int:
        """Returns the number of its values."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes of its storage."""
        return self.elements * np.dtype(self.dtype).itemsize

    @property
    def logical_shape(self) -> tuple[int, ...]:
        """The shape that PyTorch sees."""
        return tuple(self.shape[self.order.index(d)] for d in range(len(self.order))) or self.shape

    def stored(self, array: np.ndarray) -> np.ndarray:
        """An array of the logical shape, as it is stored."""
        shaped = np.asarray(array).reshape(self.logical_shape)
        return np.ascontiguousarray(shaped.transpose(self.order) if self.order else shaped)

    def logical(self, array: np.ndarray) -> np.ndarray:
        """An array as it is stored, in the logical shape."""
        shaped = array.reshape(self.shape)
        return shaped.transpose(np.argsort(self.order)) if self.order else shaped


@dataclass(frozen=True)
class Operation:
    """One primitive: inputs and output are indices of tensors; None is an input that is absent."""

    kind: Kind
    inputs: tuple[int | None, ...]
    output: int
    attributes: Mapping[str, int]
    multipliers: tuple[int, int] = (0, 0)
    shift: int = 0
    bias: int = 0
    low: int = -128
    high: int = 127
    rounding: Rounding = Rounding.HALF_UP
    nodes: tuple[str, ...] = ()
    handles: tuple[int, ...] = ()

    def given_inputs(self) -> tuple[int, ...]:
        """The inputs that are there."""
        return tuple(index for index in self.inputs if index is not None)


@dataclass
class Program:
    """Tensors and operations in execution order; `inputs` and `outputs` are indices of tensors."""

    tensors: list[Tensor] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)

    def add_tensor(self, tensor: Tensor) -> int:
        """Appends a tensor and returns its index."""
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def add_constant(self, name: str, data: np.ndarray) -> int:
        """Appends a constant and returns its index."""
        contiguous = np.ascontiguousarray(data)
        dtype = contiguous.dtype.name
        return self.add_tensor(Tensor(name, contiguous.shape, dtype, data=contiguous))

    def is_constant(self, index: int) -> bool:
        """True if the tensor's content is in the program."""
        return self.tensors[index].data is not None
