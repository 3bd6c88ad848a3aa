"""Primitives of transformers as torch operators `fixedpoint::…`, beside those of reference.py."""

import math
from typing import Any

import torch
from torch import Tensor

from fixedpoint.numbers import LAYER_NORM_BITS, SOFTMAX_BITS
from fixedpoint.reference import narrow, operator, requantize, same_shape, scalar

_RECIPROCAL_BITS = 60
_NORM_BITS = 61


def _matmul_shape(a: Tensor, b: Tensor, *_: Any) -> Tensor:
    return a.new_empty((a.shape[0], a.shape[1], b.shape[1]))


@operator("matmul", _matmul_shape)
def matmul(
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
    """Products of what a (batch, rows, depth) and b (batch, columns, depth) stand for.

    Sums are added in float64, exactly: they stay below 2^31, for int16 below 2^47.
    """
    x, y = a.to(torch.float64) - zero_point_a, b.to(torch.float64) - zero_point_b
    sums = (x @ y.transpose(1, 2)).to(torch.int64)
    value = requantize(sums, scalar(multiplier), scalar(shift), scalar(bias), rounding, a.dtype)
    return narrow(value, low, high, a.dtype)


@operator("softmax", same_shape)
def softmax(
    x: Tensor, exponentials: Tensor, multiplier: int, shift: int, bias: int, low: int, high: int
) -> Tensor:
    """Softmax of the rows of x (rows, columns); exponentials: int32 (256) by distance to the most.

    For int16, int32 (512): first of multiples of 256, then of what is left of a distance; the
    product of both is rounded half up to 30 bits of fraction.

    With E = exponentials[max - x], the probability is (E * floor(2^60 / sum of E)) >> 30, in
    30 bits of fraction; then it is requantized.
    """
    wide = x.to(torch.int64)
    terms = _exponentials(wide.amax(-1, keepdim=True) - wide, exponentials.to(torch.int64))
    reciprocal = (1 << _RECIPROCAL_BITS) // terms.sum(-1, keepdim=True)
    probability = (terms * reciprocal) >> (_RECIPROCAL_BITS - SOFTMAX_BITS)
    value = requantize(probability, scalar(multiplier), scalar(shift), scalar(bias), dtype=x.dtype)
    return narrow(value, low, high, x.dtype)


@operator("masked_softmax", same_shape)
def masked_softmax(
    x: Tensor,
    kept: Tensor,
    exponentials: Tensor,
    equal_where_empty: bool,
    multiplier: int,
    shift: int,
    bias: int,
    low: int,
    high: int,
) -> Tensor:
    """Softmax of the places of each row that `kept` (rows, columns) is true for; others have 0.

    A row of which nothing is kept has zeros, or equal probabilities.
    """
    wide = x.to(torch.int64)
    most = wide.where(kept, scalar(torch.iinfo(x.dtype).min)).amax(-1, keepdim=True)
    distance = (most - wide).where(kept, scalar(0))
    terms = _exponentials(distance, exponentials.to(torch.int64)).where(kept, scalar(0))
    if equal_where_empty:
        is_empty = ~kept.any(-1, keepdim=True)
        terms = terms.where(~is_empty, scalar(1 << SOFTMAX_BITS))
    reciprocal = (1 << _RECIPROCAL_BITS) // terms.sum(-1, keepdim=True).clamp(min=1)
    probability = (terms * reciprocal) >> (_RECIPROCAL_BITS - SOFTMAX_BITS)
    value = requantize(probability, scalar(multiplier), scalar(shift), scalar(bias), dtype=x.dtype)
    return narrow(value, low, high, x.dtype)


def _exponentials(distance: Tensor, table: Tensor) -> Tensor:
    if len(table) == 256:
        return table[distance]
    product = table[distance >> 8] * table[256 + (distance & 255)]
    return (product + (1 << (SOFTMAX_BITS - 1))) >> SOFTMAX_BITS


@operator("layer_norm", same_shape)
def layer_norm(
    x: Tensor,
    multiplier: Tensor,
    shift: Tensor,
    bias: Tensor,
    epsilon: int,
    epsilon_bits: int,
    low: int,
    high: int,
) -> Tensor:
    """Normalizes the rows of x (rows, columns), then requantizes each column by itself.

    multiplier int32, shift uint8, bias int64 (columns): gamma and beta are in them. With n columns,
    S and Q the sums of x and of its squares, k = epsilon_bits, D = n * x - S and
    W = (n * Q - S^2) * 4^k + epsilon: h is the largest with W * 4^h < 2^62,
    r = floor(2^61 / floor(sqrt(W * 4^h))), and the normalized value D * r * 2^(h + k) / 2^61 is
    rounded half up to 23 bits of fraction.
    """
    wide = x.to(torch.int64)
    count = x.shape[-1]
    total = wide.sum(-1)
    spread = ((count * (wide * wide).sum(-1) - total * total) << (2 * epsilon_bits)) + epsilon
    scales = [_inverse_root(value) for value in spread.tolist()]
    factor = torch.tensor([r for r, _ in scales], dtype=torch.int64)[:, None]
    right = torch.tensor([s - epsilon_bits for _, s in scales])[:, None]
    distance = count * wide - total[:, None]
    normalized = (distance * factor + (1 << (right - 1))) >> right
    value = requantize(normalized, multiplier, shift, bias, dtype=x.dtype)
    return narrow(value, low, high, x.dtype)


def _inverse_root(value: int) -> tuple[int, int]:
    """R and the shift right that makes D * r a value of 23 bits of fraction."""
    half = (62 - value.bit_length()) // 2
    root = math.isqrt(value << (2 * half))
    return (1 << _NORM_BITS) // root, _NORM_BITS - half - LAYER_NORM_BITS
