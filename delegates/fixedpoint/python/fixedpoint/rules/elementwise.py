"""Sums and products."""

from collections.abc import Sequence

import numpy as np
import torch
from torch.fx import Node

from fixedpoint.builder import Builder
from fixedpoint.match import Match, NotLowered
from fixedpoint.numbers import fixed_bias, requantize_sum, split_ratio
from fixedpoint.program import Kind
from fixedpoint.rules.common import arguments, result_of
from fixedpoint.rules.unary import unary
from fixedpoint.values import Order, Value, plain

_SUM_BITS = 30
"""Multipliers of a sum split in two halves of 15 bits, which vector units multiply as int16."""


def add(builder: Builder, match: Match) -> Value:
    """A sum; what broadcasts is repeated, what is no tensor makes it a function of one value."""
    a = arguments(match)
    if not isinstance(a["other"], Node):
        return unary(builder, match)
    if a.get("alpha", 1) != 1:
        raise NotLowered("it adds a multiple (alpha)")
    left, right = _expanded(builder.value(a["self"]), builder.value(a["other"]))
    order = left.order() or right.order() or plain(len(left.shape))
    sides = [builder.stored(side, order) for side in (left, right)]
    result, low, high = result_of(match)
    ratios = [side.quantization.scale / result.scale for side in (left, right)]
    zero_points = [side.quantization.zero_point for side in (left, right)]
    multipliers, shift, bias = requantize_sum(ratios, zero_points, result, _SUM_BITS)
    return builder.emit(
        Kind.ADD, sides, left.shape, order, result, {"count": int(np.prod(left.shape))},
        multipliers=tuple(multipliers), shift=shift, bias=bias, low=low, high=high,
    )  # fmt: skip


def mul(builder: Builder, match: Match) -> Value:
    """A product; one row may serve all rows; what is no tensor makes it a function of one value."""
    a = arguments(match)
    if not isinstance(a["other"], Node):
        return unary(builder, match)
    left, right = builder.value(a["self"]), builder.value(a["other"])
    if np.prod(left.shape) < np.prod(right.shape):
        left, right = right, left
    shape = torch.broadcast_shapes(left.shape, right.shape)
    left = Value(left.tensor, left.view.expand(shape), left.quantization)
    order = left.order() or plain(len(shape))
    sizes = _broadcast(shape, right.shape, order)
    if sizes is None:  # repeated
        right = Value(right.tensor, right.view.expand(shape), right.quantization)
        sizes = (1, 1, int(np.prod(shape)))
    result, low, high = result_of(match)
    offset = float(result.zero_point)
    ratio = left.quantization.scale * right.quantization.scale / result.scale
    multiplier, shift = split_ratio(ratio, offset, least_shift=result.type.least_shift)
    attributes = {
        "outer": sizes[0], "rows": sizes[1], "inner": sizes[2],
        "zero_point_a": left.quantization.zero_point,
        "zero_point_b": right.quantization.zero_point,
    }  # fmt: skip
    small = _short(right, shape, order)
    return builder.emit(
        Kind.MUL, (builder.stored(left, order), builder.stored(*small)), shape, order, result,
        attributes, multipliers=(multiplier, 0), shift=shift, bias=fixed_bias(offset, shift),
        low=low, high=high,
    )  # fmt: skip


def _expanded(left: Value, right: Value) -> tuple[Value, Value]:
    """Both in the shape that they broadcast to; nothing is repeated yet."""
    shape = torch.broadcast_shapes(left.shape, right.shape)
    first, second = (
        Value(side.tensor, side.view.expand(shape), side.quantization) for side in (left, right)
    )
    return first, second


def _short(right: Value, shape: Sequence[int], order: Order) -> tuple[Value, Order]:
    """The smaller operand with as many dimensions as the larger, and the same order."""
    missing = len(shape) - len(right.shape)
    view = right.view[(None,) * missing]
    return Value(right.tensor, view, right.quantization), order


def _broadcast(
    shape: Sequence[int], small: Sequence[int], order: Order
) -> tuple[int, int, int] | None:
    """(outer, rows, inner) in an order: the smaller operand has no rows. None: in no such way."""
    full = (*(1,) * (len(shape) - len(small)), *small)
    sizes, part = [1, 1, 1], 0
    for dim in order:
        if shape[dim] == 1:
            continue
        is_row = full[dim] == 1
        if is_row and part == 0:
            part = 1
        elif not is_row and part == 1:
            part = 2
        elif is_row and part == 2:
            return None
        sizes[part] *= shape[dim]
    if part == 0:  # the same shape
        return 1, 1, sizes[0]
    return sizes[0], sizes[1], sizes[2]
