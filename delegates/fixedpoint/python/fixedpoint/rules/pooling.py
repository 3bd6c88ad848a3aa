"""Pools and means."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fixedpoint.builder import Builder, Operand, shape_of
from fixedpoint.match import Match, NotLowered
from fixedpoint.numbers import check_range, fixed_bias, split_ratio
from fixedpoint.program import Kind
from fixedpoint.rules.common import arguments, result_of
from fixedpoint.rules.unary import requantized
from fixedpoint.values import Order, Value, channels_last


def _average(
    builder: Builder, match: Match, geometry: dict[str, int], x: Operand, order: Order
) -> Value:
    result, low, high = result_of(match)
    source = x.quantization
    count = geometry["kernel_height"] * geometry["kernel_width"]
    offset = float(result.zero_point)
    ratio = source.scale / (result.scale * count)
    multiplier, shift = split_ratio(ratio, offset, least_shift=result.type.least_shift)
    bias = fixed_bias(offset, shift) - source.zero_point * count * multiplier
    check_range(source.type.magnitude * count, multiplier, bias, source.type)
    geometry["input_zero_point"] = source.zero_point
    return builder.emit(
        Kind.AVG_POOL2D, (x.tensor,), shape_of(match.quantize), order, result, geometry,
        multipliers=(multiplier, 0), shift=shift, bias=bias, low=low, high=high,
    )  # fmt: skip


def mean(builder: Builder, match: Match) -> Value:
    """Over any dimensions: a window that is as large as they are together. None named: over all."""
    a = arguments(match)
    value = builder.value(a["self"])
    rank = len(value.shape)
    if rank == 0:
        raise NotLowered("it is a mean of one value")
    reduced = sorted({d % rank for d in a.get("dim") or range(rank)})
    order = _order_of_mean(value.order(), reduced, rank)
    x = builder.read(a["self"], order)
    start = order.index(reduced[0])
    sizes = [x.shape[d] for d in order]
    window = sizes[start : start + len(reduced)]
    height, width = window[0], int(np.prod(window[1:]))
    geometry = {
        "batch": int(np.prod(sizes[:start])), "in_height": height, "in_width": width,
        "channels": int(np.prod(sizes[start + len(reduced) :])), "out_height": 1, "out_width": 1,
        "kernel_height": height, "kernel_width": width, "stride_height": 1, "stride_width": 1,
        "pad_top": 0, "pad_left": 0,
    }  # fmt: skip
    if not a.get("keepdim"):
        kept = [d for d in range(rank) if d not in reduced]
        order = tuple(kept.index(d) for d in order if d in kept)
    return _average(builder, match, geometry, x, order)


def _order_of_mean(order: Order | None, reduced: Sequence[int], rank: int) -> Order:
    """The order in which the value lies, if the reduced dimensions lie together and rising."""
    kept = [d for d in range(rank) if d not in reduced]
    if order is not None and reduced[0] in order:
        start = order.index(reduced[0])
        if list(order[start : start + len(reduced)]) == list(reduced):
            return order
    return (*kept, *reduced)


def adaptive_avg_pool2d(builder: Builder, match: Match) -> Value:
    """Lowers an adaptive pooling whose output size divides its input's, such as 1 by 1."""
    a = arguments(match)
    shape = shape_of(a["self"])
    if len(shape) != 4:
        raise NotLowered("it pools over no image of rank 4")
    out = shape_of(match.quantize)[2:]
    if any(size % made for size, made in zip(shape[2:], out, strict=True)):
        raise NotLowered("its windows differ in size: its output does not divide its input")
    x = builder.read(a["self"], channels_last(4))
    return _average(builder, match, _equal_windows(shape, out), x, channels_last(4))


def _equal_windows(shape: Sequence[int], out: Sequence[int]) -> dict[str, int]:
    """Windows that lie side by side, as many as there are results."""
    height, width = shape[2] // out[0], shape[3] // out[1]
    return {
        "batch": shape[0], "channels": shape[1], "in_height": shape[2], "in_width": shape[3],
        "kernel_height": height, "kernel_width": width, "out_height": out[0],
        "out_width": out[1], "stride_height": height, "stride_width": width, "pad_top": 0,
        "pad_left": 0,
    }  # fmt: skip


def _windows(a: dict[str, Any], shape: Sequence[int], out: Sequence[int]) -> dict[str, int]:
    if len(shape) != 4:
        raise NotLowered("it pools over no image of rank 4")
    kernel = a["kernel_size"]
    stride, padding = a["stride"] or kernel, a["padding"]
    return {
        "batch": shape[0], "channels": shape[1], "in_height": shape[2], "in_width": shape[3],
        "kernel_height": kernel[0], "kernel_width": kernel[-1], "out_height": out[2],
        "out_width": out[3], "stride_height": stride[0], "stride_width": stride[-1],
        "pad_top": padding[0], "pad_left": padding[-1],
    }  # fmt: skip


def avg_pool2d(builder: Builder, match: Match) -> Value:
    """Lowers an average pooling; its windows have one size."""
    a = arguments(match)
    x = builder.read(a["self"], channels_last(len(shape_of(a["self"]))))
    geometry = _windows(a, x.shape, shape_of(match.quantize))
    if a["ceil_mode"]:
        raise NotLowered("its last windows are cut off (ceil_mode)")
    if a["divisor_override"] is not None:
        raise NotLowered("it divides by another number than the window's size")
    if not a["count_include_pad"] and any(a["padding"]):
        raise NotLowered("its windows at the border are smaller (count_include_pad=False)")
    return _average(builder, match, geometry, x, x.order)


def max_pool2d(builder: Builder, match: Match) -> Value:
    """The largest of each window."""
    a = arguments(match)
    x = builder.read(a["self"], channels_last(len(shape_of(a["self"]))))
    geometry = _windows(a, x.shape, shape_of(match.quantize))
    dilation = a["dilation"]
    geometry["dilation_height"], geometry["dilation_width"] = dilation[0], dilation[-1]
    result, low, high = result_of(match)
    source = x.quantization
    if source != result and match.activations:
        raise NotLowered("it has an activation and other parameters than its input")
    if source != result:
        low, high = source.low, source.high
    made = builder.emit(
        Kind.MAX_POOL2D, (x.tensor,), shape_of(match.quantize), x.order, source, geometry,
        low=low, high=high,
    )  # fmt: skip
    return requantized(builder, made, result)
