"""Operators of transformers: products of activations, softmax, layer norm."""

import math

import numpy as np

from fixedpoint.builder import Builder, Operand, shape_of
from fixedpoint.integer_types import INT16
from fixedpoint.masking import masked_inner
from fixedpoint.match import Match, NotLowered
from fixedpoint.numbers import (
    LAYER_NORM_BITS,
    SOFTMAX_BITS,
    Quantization,
    check_range,
    fixed_bias,
    layer_norm_epsilon,
    split_ratio,
    split_signed_ratio,
)
from fixedpoint.program import MAX_COLUMNS, Kind
from fixedpoint.rules.common import arguments, plain_result_of, result_of
from fixedpoint.rules.masks import read_mask
from fixedpoint.values import Value, plain


def matmul(builder: Builder, match: Match) -> Value:
    """A product of two values, matrix by matrix; the second is read by its columns."""
    a = arguments(match)
    first, second = (a.get("self"), a.get("mat2", a.get("other")))
    left, right = shape_of(first), shape_of(second)
    if len(left) < 2 or len(right) < 2 or (len(right) > 2 and left[:-2] != right[:-2]):
        raise NotLowered(f"it multiplies {left} by {right}: its matrices do not come in pairs")
    rank = len(right)
    x = builder.read(first, plain(len(left)))
    y = builder.read(second, (*range(rank - 2), rank - 1, rank - 2))
    batch = int(np.prod(right[:-2]))
    rows = int(np.prod(left[:-1])) // batch
    result, low, high = result_of(match)
    source = [x.quantization, y.quantization]
    offset = float(result.zero_point)
    ratio = source[0].scale * source[1].scale / result.scale
    multiplier, shift = split_ratio(ratio, offset, least_shift=result.type.least_shift)
    bias = fixed_bias(offset, shift)
    check_range(result.type.span**2 * left[-1], multiplier, bias, result.type)
    attributes = {
        "batch": batch, "rows": rows, "columns": right[-1], "depth": left[-1],
        "zero_point_a": source[0].zero_point, "zero_point_b": source[1].zero_point,
    }  # fmt: skip
    return builder.emit(
        Kind.MATMUL, (x.tensor, y.tensor), shape_of(match.quantize), x.order, result, attributes,
        multipliers=(multiplier, 0), shift=shift, bias=bias, low=low, high=high,
    )  # fmt: skip


def softmax(builder: Builder, match: Match) -> Value:
    """Rows along the dimension; a table of exponentials of distances to the largest."""
    a = arguments(match)
    shape = shape_of(a["self"])
    axis = a["dim"] % len(shape)
    order = (*(d for d in range(len(shape)) if d != axis), axis)
    scores = a["self"] if match.mask is None else masked_inner(match.mask)
    x = builder.read(scores, order)
    result = plain_result_of(match)
    _check_columns(shape[axis])
    exponentials = builder.program.add_constant(
        f"{match.quantize.name}_exponentials", exponentials_of(x.quantization)
    )
    offset = float(result.zero_point)
    ratio = 2.0**-SOFTMAX_BITS / result.scale
    multiplier, shift = split_ratio(ratio, offset, least_shift=result.type.least_shift)
    kind, inputs, attributes = Kind.SOFTMAX, [x.tensor, exponentials], _row_sizes(x, shape[axis])
    if match.mask is not None:
        kind = Kind.MASKED_SOFTMAX
        places, reads = read_mask(builder, match, x)
        inputs.append(places)
        attributes |= reads
    return builder.emit(
        kind, inputs, shape, order, result, attributes, multipliers=(multiplier, 0), shift=shift,
        bias=fixed_bias(offset, shift), low=result.low, high=result.high,
    )  # fmt: skip


def exponentials_of(source: Quantization) -> np.ndarray:
    """Exponentials of the distances 0 to 255 to the largest; int16 has multiples of 256 first."""
    steps = np.arange(256, dtype=np.float64) * source.scale
    if source.type is INT16:
        steps = np.concatenate([steps * 256, steps])
    made: np.ndarray = np.round(np.exp(-steps) * (1 << SOFTMAX_BITS)).astype(np.int32)
    return made


def layer_norm(builder: Builder, match: Match) -> Value:
    """Rows of the last dimensions, normalized; gamma and beta are in the requantization."""
    a = arguments(match)
    shape = shape_of(a["input"])
    x = builder.read(a["input"], plain(len(shape)))
    result, low, high = result_of(match)
    columns = math.prod(a["normalized_shape"])
    _check_columns(columns)
    gamma = _of_columns(builder, a["weight"], columns, 1.0)
    beta = _of_columns(builder, a["bias"], columns, 0.0)
    numbers = []
    for scale, real in zip(gamma.tolist(), beta.tolist(), strict=True):
        offset = real / result.scale + result.zero_point
        ratio = scale * 2.0**-LAYER_NORM_BITS / result.scale
        multiplier, shift = split_signed_ratio(ratio, offset, result.type.least_shift)
        bias = fixed_bias(offset, shift)
        check_range((1 << 31) - 1, abs(multiplier), bias)
        numbers.append((multiplier, shift, bias))
    columns_of = zip(*numbers, strict=True)
    kinds = (("multiplier", np.int32), ("shift", np.uint8), ("bias", np.int64))
    constants = [
        builder.program.add_constant(f"{match.quantize.name}_{name}", np.array(values, dtype))
        for (name, dtype), values in zip(kinds, columns_of, strict=True)
    ]
    source = x.quantization
    epsilon, bits = layer_norm_epsilon(a["eps"], columns, source.scale, source.type)
    attributes = _row_sizes(x, columns) | {"epsilon_bits": bits}
    return builder.emit(
        Kind.LAYER_NORM, (x.tensor, *constants), shape, x.order, result, attributes,
        bias=epsilon, low=low, high=high,
    )  # fmt: skip


def _of_columns(builder: Builder, node: object, columns: int, missing: float) -> np.ndarray:
    if node is None:
        return np.full(columns, missing)
    content = builder.constants.get(node, "scale or shift")
    return content.astype(np.float64).reshape(-1)


def _row_sizes(x: Operand, columns: int) -> dict[str, int]:
    return {"rows": int(np.prod(x.shape)) // columns, "columns": columns}


def _check_columns(columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise NotLowered(f"its rows have {columns} values, more than {MAX_COLUMNS}")
