"""Rows of a table, chosen by indices."""

from dataclasses import dataclass

import numpy as np
import torch
from torch.fx import Node

from fixedpoint.builder import Builder, shape_of
from fixedpoint.match import Match, NotLowered, is_dequantize, is_integer, is_per_channel
from fixedpoint.numbers import Quantization, check_range, fixed_bias, split_ratio
from fixedpoint.program import MAX_RANK, Kind
from fixedpoint.rules.common import arguments, result_of
from fixedpoint.rules.integers import read_integers
from fixedpoint.values import Value, plain, read_in

_LARGEST = 128


@dataclass(frozen=True)
class _Table:
    """A constant of int8, and the parameters of each row."""

    integers: np.ndarray
    scales: np.ndarray
    zero_points: np.ndarray


def embedding(builder: Builder, match: Match) -> Value:
    """Each row is requantized by itself; a table with the result's parameters stays as it is."""
    a = arguments(match)
    indices = a["indices"]
    if not is_integer(indices) or indices.meta["val"].dtype == torch.bool:
        raise NotLowered("its indices are neither int32 nor int64")
    result, low, high = result_of(match)
    table = _table(builder, a["weight"], result)
    rows, columns = table.integers.shape
    numbers = [
        _row_numbers(scale, zero_point, result)
        for scale, zero_point in zip(table.scales.tolist(), table.zero_points.tolist(), strict=True)
    ]
    add, name = builder.program.add_constant, match.quantize.name
    kinds = (("multiplier", np.int32), ("shift", np.uint8), ("bias", np.int64))
    constants = [add(f"{name}_table", table.integers)]
    constants += [
        add(f"{name}_{what}", np.array(values, dtype))
        for (what, dtype), values in zip(kinds, zip(*numbers, strict=True), strict=True)
    ]
    chosen = read_integers(builder, indices)
    read = read_in(chosen.view, plain(len(chosen.shape)))
    if len(read.dims) > MAX_RANK:
        raise NotLowered(f"it reads indices in more than {MAX_RANK} dimensions")
    shape = shape_of(match.quantize)
    return builder.emit(
        Kind.EMBEDDING, (chosen.tensor, *constants), shape, plain(len(shape)), result,
        read.attributes() | {"rows": rows, "columns": columns}, low=low, high=high,
    )  # fmt: skip


def _table(builder: Builder, node: object, result: Quantization) -> _Table:
    if not is_dequantize(node) or not isinstance(node, Node):
        raise NotLowered("its table is not quantized")
    integers = builder.constants.get(node.args[0], "table")
    if integers.dtype != np.int8:
        raise NotLowered(f"its table is {integers.dtype}, not int8")
    rows = len(integers)
    if not is_per_channel(node):
        scale, zero_point = np.float64(node.args[1]), np.int64(node.args[2])
        return _Table(integers, np.full(rows, scale), np.full(rows, zero_point))
    scales, zero_points = node.args[1], node.args[2]
    if node.args[3] != 0:
        raise NotLowered("its table is quantized by columns")
    assert isinstance(scales, Node)
    known = builder.constants.get(scales, "scales").astype(np.float64)
    if not builder.constants.has_content(scales):
        known = np.full(rows, result.scale)
    return _Table(integers, known, builder.constants.get(zero_points, "zero points"))


def _row_numbers(scale: float, zero_point: int, result: Quantization) -> tuple[int, int, int]:
    """Multiplier, shift and bias."""
    offset = float(result.zero_point)
    multiplier, shift = split_ratio(
        scale / result.scale, offset, least_shift=result.type.least_shift
    )
    bias = fixed_bias(offset, shift) - zero_point * multiplier
    check_range(_LARGEST, multiplier, bias, result.type)
    return multiplier, shift, bias
