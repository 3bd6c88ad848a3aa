"""Each primitive as a torch operator `fixedpoint::…` in plain integer arithmetic.

These are the definitions that the C++ kernels reproduce bit for bit. Activations are int8 or int16,
results as their inputs, of rank 4 channels last. Sums of products are int64 except in convolutions,
whose products are added by a float64 convolution: all partial sums are integers below 2^53 there,
so that they are exact in any order (`check_range` keeps them below 2^31, or 2^47).

Operators register on import, and run under torch.export with fake tensors too.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

_WORD = 16
_OF_BITS = {8: torch.int8, 16: torch.int16}
_Function = TypeVar("_Function", bound=Callable[..., Tensor])


def operator(name: str, shape: Callable[..., Tensor]) -> Callable[[_Function], _Function]:
    """Registers a function as fixedpoint::name; `shape` makes an empty tensor like its result."""

    def register(function: _Function) -> _Function:
        made: Any = torch.library.custom_op(f"fixedpoint::{name}", function, mutates_args=())
        made.register_fake(shape)
        registered: _Function = made
        return registered

    return register


def same_shape(x: Tensor, *_: Any) -> Tensor:
    """A result like the first argument."""
    return torch.empty_like(x)


def _quantized_shape(x: Tensor, *rest: Any) -> Tensor:
    return x.new_empty(x.shape, dtype=_OF_BITS[rest[4] if len(rest) > 4 else 8])


def _float32_shape(x: Tensor, *_: Any) -> Tensor:
    return x.new_empty(x.shape, dtype=torch.float32)


def _window_shape(x: Tensor, kernel: Any, stride: Any, padding: Any, out: Any, *_: Any) -> Tensor:
    return x.new_empty((x.shape[0], out[0], out[1], x.shape[3]))


def _conv2d_shape(x: Tensor, weight: Tensor, *rest: Any) -> Tensor:
    out_size = rest[6]
    return x.new_empty((x.shape[0], out_size[0], out_size[1], weight.shape[0]))


def requantize(
    accumulator: Tensor,
    multiplier: Tensor,
    shift: Tensor,
    bias: Tensor,
    rounding: int = 0,
    dtype: torch.dtype = torch.int8,
) -> Tensor:
    """(accumulator * multiplier + bias) >> shift, broadcast over the last dimension.

    For activations of int8 in int64; for those of int16 as if in unlimited integers.
    """
    compute = _REQUANTIZE[dtype]
    multiplier, shift = multiplier.to(torch.int64), shift.to(torch.int64)
    return compute(accumulator.to(torch.int64), multiplier, shift, bias, rounding)


def _requantize_narrow(
    accumulator: Tensor, multiplier: Tensor, shift: Tensor, bias: Tensor, rounding: int
) -> Tensor:
    return shift_right(accumulator * multiplier + bias, shift, rounding)


def _requantize_wide(
    accumulator: Tensor, multiplier: Tensor, shift: Tensor, bias: Tensor, rounding: int
) -> Tensor:
    """The sum is above * 2^16 + below % 2^16: accumulator and bias are taken apart at 16 bits."""
    mask = (1 << _WORD) - 1
    below = (accumulator & mask) * multiplier + (bias & mask)
    above = (accumulator >> _WORD) * multiplier + (bias >> _WORD) + (below >> _WORD)
    value = above >> (shift - _WORD)
    if rounding == 0:
        return value
    is_tie = (above == (value << (shift - _WORD))) & ((below & mask) == 0)
    return value - (is_tie & (value % 2 == 1)).to(torch.int64)


_REQUANTIZE = {torch.int8: _requantize_narrow, torch.int16: _requantize_wide}


def shift_right(product: Tensor, shift: Tensor, rounding: int) -> Tensor:
    """Product >> shift, a half of 2^shift being in the product; 1: what was a tie becomes even."""
    value = product >> shift
    if rounding == 0:
        return value
    is_tie = product == (value << shift)
    return value - (is_tie & (value % 2 == 1)).to(torch.int64)


def narrow(value: Tensor, low: int, high: int, dtype: torch.dtype) -> Tensor:
    """Clamped to what the type holds, in it."""
    return value.clamp(low, high).to(dtype)


def scalar(value: int) -> Tensor:
    """An int64 tensor without dimensions."""
    return torch.tensor(value, dtype=torch.int64)


def _look_up(x: Tensor, table: Tensor) -> Tensor:
    return table[x.to(torch.int64).reshape(-1) + 128].reshape(x.shape)  # a copy of no dimension too


@operator("conv2d", _conv2d_shape)
def conv2d(
    x: Tensor,
    weight: Tensor,
    multiplier: Tensor,
    shift: Tensor,
    bias: Tensor,
    table: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    out_size: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    zero_point: int,
    low: int,
    high: int,
    rounding: int = 0,
) -> Tensor:
    """Convolution of x (N, H, W, C) with weight (O, KH, KW, C/groups).

    multiplier int32 (O), shift uint8 (O), bias int64 (O). `padding` is (top, left); rows and
    columns past the end are as many as `out_size` needs. What is padded is `zero_point`; `bias`
    takes its product out again. `table` (256) maps the clamped result, when it is there.
    """
    padded = _pad(x, weight.shape[1:3], stride, padding, out_size, dilation, zero_point)
    accumulator = torch.nn.functional.conv2d(
        padded.permute(0, 3, 1, 2).to(torch.float64),
        weight.permute(0, 3, 1, 2).to(torch.float64),
        None,
        list(stride),
        0,
        list(dilation),
        groups,
    )
    sums = accumulator.permute(0, 2, 3, 1).to(torch.int64)
    y = narrow(requantize(sums, multiplier, shift, bias, rounding, x.dtype), low, high, x.dtype)
    return (y if table is None else _look_up(y, table)).contiguous()


def _pad(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    out_size: Sequence[int],
    dilation: Sequence[int],
    value: int,
) -> Tensor:
    """Pads x (N, H, W, C) to exactly what `out_size` windows read, with one value."""
    widths: list[int] = []
    for axis in (1, 0):
        reach = (out_size[axis] - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1
        widths += [padding[axis], reach - padding[axis] - x.shape[1 + axis]]
    return torch.nn.functional.pad(x, (0, 0, *widths), value=value)


@operator("add", same_shape)
def add(
    a: Tensor,
    b: Tensor,
    multiplier_a: int,
    multiplier_b: int,
    shift: int,
    bias: int,
    low: int,
    high: int,
    rounding: int = 0,
) -> Tensor:
    """clamp((a * multiplier_a + b * multiplier_b + bias) >> shift); equal shapes."""
    total = a.to(torch.int64) * multiplier_a + b.to(torch.int64) * multiplier_b + bias
    return narrow(shift_right(total, scalar(shift), rounding), low, high, a.dtype)


@operator("mul", same_shape)
def mul(
    a: Tensor,
    b: Tensor,
    zero_point_a: int,
    zero_point_b: int,
    multiplier: int,
    shift: int,
    bias: int,
    low: int,
    high: int,
    rounding: int = 0,
) -> Tensor:
    """The product of what a and b stand for; b broadcasts over a."""
    product = (a.to(torch.int64) - zero_point_a) * (b.to(torch.int64) - zero_point_b)
    y = requantize(product, scalar(multiplier), scalar(shift), scalar(bias), rounding, a.dtype)
    return narrow(y, low, high, a.dtype)


@operator("avg_pool2d", _window_shape)
def avg_pool2d(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    out_size: Sequence[int],
    zero_point: int,
    multiplier: int,
    shift: int,
    bias: int,
    low: int,
    high: int,
    rounding: int = 0,
) -> Tensor:
    """Sums windows of x (N, H, W, C); 1/(size of the window) is part of the multiplier."""
    padded = _pad(x, kernel, stride, padding, out_size, (1, 1), zero_point).to(torch.int64)
    windows = padded.unfold(1, kernel[0], stride[0]).unfold(2, kernel[1], stride[1])
    sums = windows.sum((-1, -2))
    y = requantize(sums, scalar(multiplier), scalar(shift), scalar(bias), rounding, x.dtype)
    return narrow(y, low, high, x.dtype).contiguous()


@operator("max_pool2d", _window_shape)
def max_pool2d(
    x: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    out_size: Sequence[int],
    dilation: Sequence[int],
    low: int,
    high: int,
) -> Tensor:
    """The largest of each window of x (N, H, W, C), clamped; padding never wins."""
    least = torch.iinfo(x.dtype).min
    padded = _pad(x, kernel, stride, padding, out_size, dilation, least)
    y = torch.nn.functional.max_pool2d(
        padded.permute(0, 3, 1, 2).to(torch.float64), list(kernel), list(stride), 0, list(dilation)
    )
    return narrow(y.permute(0, 2, 3, 1), low, high, x.dtype).contiguous()


@operator("quantize", _quantized_shape)
def quantize(
    x: Tensor, factor: float, zero_point: int, low: int, high: int, bits: int = 8
) -> Tensor:
    """The boundary's own: round(x * factor) + zero_point as PyTorch does, in float32, ties to even.

    NaN becomes `low`. `bits`: of the result, 8 or 16.
    """
    scaled = (x * factor).nan_to_num(nan=float("-inf"), neginf=float("-inf"), posinf=float("inf"))
    nearest = torch.round(scaled.clamp(low - zero_point, high - zero_point)) + zero_point
    return nearest.to(_OF_BITS[bits])


@operator("dequantize", _float32_shape)
def dequantize(x: Tensor, factor: float, zero_point: int) -> Tensor:
    """The boundary's own: (x - zero_point) * factor in float32."""
    return (x.to(torch.float32) - zero_point) * factor


def _embedding_shape(indices: Tensor, table: Tensor, *rest: Any) -> Tensor:
    bits = rest[5] if len(rest) > 5 else 8
    return table.new_empty((*indices.shape, table.shape[1]), dtype=_OF_BITS[bits])


@operator("embedding", _embedding_shape)
def embedding(
    indices: Tensor,
    table: Tensor,
    multiplier: Tensor,
    shift: Tensor,
    bias: Tensor,
    low: int,
    high: int,
    bits: int = 8,
) -> Tensor:
    """Rows of `table` (rows, columns) of int8, chosen by indices from 0 on, requantized by row.

    multiplier int32, shift uint8, bias int64 (rows). `bits`: of the result, 8 or 16.

    Raises:
        IndexError: an index is no row of the table.
    """
    if indices.min() < 0 or indices.max() >= len(table):
        raise IndexError(f"an index is none of the {len(table)} rows of the table")
    wide, dtype = indices.to(torch.int64), _OF_BITS[bits]
    m, s, b = (numbers[wide][..., None] for numbers in (multiplier, shift, bias))
    return narrow(requantize(table[wide], m, s, b, dtype=dtype), low, high, dtype)


@operator("table", same_shape)
def table(x: Tensor, values: Tensor) -> Tensor:
    """A function of one value. Of int8: values[x + 128]; values: int8 (256).

    Of int16 it is interpolated: between values[i] and values[i + 1] with i = 256 + (x >> 7), by the
    lower 7 bits of x, rounded half up; values: int16 (513).
    """
    return _look_up(x, values) if x.dtype == torch.int8 else _interpolate(x, values)


def _interpolate(x: Tensor, values: Tensor) -> Tensor:
    wide, entries = x.to(torch.int64), values.to(torch.int64)
    position = 256 + (wide >> 7)
    base, slope = entries[position], entries[position + 1] - entries[position]
    return (base + ((slope * (wide & 127) + 64) >> 7)).to(x.dtype)
