"""Functions of one value.

In int8 each is a table of its 256 results. In int16 a straight line is a product with 1 or -1,
whose requantization is the line; hardswish is a product of two values; what is left is an
interpolated table.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
import torch
from torch.fx import Node

from fixedpoint.affine import Affine, affine_of
from fixedpoint.builder import Builder
from fixedpoint.functions import UNARY, base_name, make_table, overload_of
from fixedpoint.integer_types import INT8, INT16, IntegerType
from fixedpoint.match import Match, NotLowered
from fixedpoint.numbers import (
    NumberError,
    Quantization,
    activation_bounds,
    fixed_bias,
    split_ratio,
)
from fixedpoint.program import Kind
from fixedpoint.rules.common import arguments, result_of
from fixedpoint.values import Order, Value, plain

_GATE = Quantization(2.0**-14, 0, INT16.low, INT16.high, INT16)
"""Quantization of the hard sigmoid in a hardswish, which represents 1 exactly."""


_SATURATING = ("aten.tanh", "aten.sigmoid")
_SATURATED = Quantization(2.0**-11, 0, -INT16.high, INT16.high, INT16)
"""Values up to 16, from which on these functions are at their ends: a wider range would leave their
bends few entries of a table."""


@dataclass(frozen=True)
class Function:
    """A function of one value. `line` is None unless it is affine."""

    name: str
    apply: Callable[[torch.Tensor], torch.Tensor]
    line: Affine | None = None


@dataclass(frozen=True)
class _Result:
    """Parameters, and bounds with activations taken in."""

    quantization: Quantization
    low: int
    high: int


_IDENTITY = Function("requantize", lambda real: real, Affine())


def unary(builder: Builder, match: Match) -> Value:
    """An operator of one value, or of one and numbers."""
    assert match.core is not None
    core = match.core
    if len(core.all_input_nodes) > 1:
        raise NotLowered("it takes several tensors; the delegate has it for a tensor and numbers")
    overload, name = overload_of(core.target), base_name(core.target)

    def apply(reals: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = overload(reals.clone(), *core.args[1:], **core.kwargs)
        return made

    line = affine_of(name, core.target, core.args, dict(core.kwargs))
    x = builder.value(core.args[0])
    return _computed(builder, x, Function(name, apply, line), _Result(*result_of(match)))


def with_number(builder: Builder, match: Match) -> Value:
    """A difference or a quotient of a tensor and a number."""
    if isinstance(arguments(match)["other"], Node):
        raise NotLowered("it takes two tensors; the delegate has it for a tensor and a number")
    return unary(builder, match)


def requantize(builder: Builder, match: Match) -> Value:
    """Requantizes a value from its own parameters to those of the result."""
    x = builder.value(match.dequantizes[0])
    if x.quantization == result_of(match)[0] and not match.activations:
        return x
    return _computed(builder, x, _IDENTITY, _Result(*result_of(match)))


def requantized(builder: Builder, value: Value, result: Quantization) -> Value:
    """The value itself when the parameters are the same, else what brings it to others."""
    if value.quantization == result:
        return value
    made = _Result(result, result.low, result.high)
    return _computed(builder, value, _IDENTITY, made)


def _computed(builder: Builder, x: Value, function: Function, result: _Result) -> Value:
    return _COMPUTED[x.quantization.type](builder, x, function, result)


def _by_table(builder: Builder, x: Value, function: Function, result: _Result) -> Value:
    made = result.quantization
    table = make_table(function.apply, x.quantization, made).clip(result.low, result.high)
    if np.array_equal(table, np.arange(-128, 128)):  # another scale, the same integers
        return Value(x.tensor, x.view, made)
    return _through_table(builder, x, table, made)


def _by_line_or_table(builder: Builder, x: Value, function: Function, result: _Result) -> Value:
    if function.line is not None:
        return _by_line(builder, x, function.line, result)
    if function.name == "aten.hardswish":
        return _hardswish(builder, x, result)
    if function.name not in UNARY:
        raise NotLowered("it has steps, which no interpolated table follows")
    if function.name in _SATURATING and x.quantization.scale > 2 * _SATURATED.scale:
        x = requantized(builder, x, _SATURATED)
    table = make_table(function.apply, x.quantization, result.quantization)
    return _through_table(builder, x, table.clip(result.low, result.high), result.quantization)


_COMPUTED: dict[IntegerType, Callable[[Builder, Value, Function, _Result], Value]] = {
    INT8: _by_table,
    INT16: _by_line_or_table,
}
"""The implementation for each type."""


def _through_table(
    builder: Builder, value: Value, table: np.ndarray, result: Quantization
) -> Value:
    """A table over the value, in the order in which it lies."""
    order = value.order() or plain(len(value.shape))
    source = builder.stored(value, order)
    tensor = builder.program.tensors[source]
    values = builder.program.add_constant(f"{tensor.name}_table", table)
    attributes = {"count": prod(tensor.shape)}
    return builder.emit(Kind.TABLE, (source, values), value.shape, order, result, attributes)


def _by_line(builder: Builder, x: Value, line: Affine, result: _Result) -> Value:
    """A product with 1 or -1: slope and offset are its requantization, bounds its clamp."""
    made = result.quantization
    least, most = activation_bounds(made, line.low, line.high)
    low, high = (min(max(bound, least), most) for bound in (result.low, result.high))
    ratio = line.slope * x.quantization.scale / made.scale
    offset = line.offset / made.scale
    if _is_identity(ratio, offset, x.quantization) and low <= made.low and high >= made.high:
        return Value(x.tensor, x.view, made)
    if ratio == 0:
        raise NumberError("the slope is zero")
    order = x.order() or plain(len(x.shape))
    sign = builder.program.add_constant("sign", np.array([1 if ratio > 0 else -1], made.type.name))
    shape = (1, prod(x.shape), 1)
    inputs = (builder.stored(x, order), sign)
    return _product(builder, inputs, x, order, shape, _Result(made, low, high), abs(ratio), offset)


def _is_identity(ratio: float, offset: float, source: Quantization) -> bool:
    """True if all integers stay as they are: another scale, nothing to compute."""
    return offset == 0 and abs(ratio - 1) * source.type.magnitude < 0.5


def _hardswish(builder: Builder, x: Value, result: _Result) -> Value:
    """Two roundings, of a hard sigmoid and the product: a table would miss the bends by more."""
    gate = _by_line(builder, x, Affine(1 / 6, 0.5, 0.0, 1.0), _Result(_GATE, _GATE.low, _GATE.high))
    order = gate.order() or plain(len(x.shape))
    inputs = (builder.stored(x, order), gate.tensor)
    ratio = x.quantization.scale * _GATE.scale / result.quantization.scale
    shape = (1, 1, prod(x.shape))
    return _product(builder, inputs, x, order, shape, result, ratio, 0.0)


def _product(
    builder: Builder, inputs: tuple[int, int], x: Value, order: Order,
    sizes: tuple[int, int, int], result: _Result, ratio: float, offset: float,
) -> Value:  # fmt: skip
    least_shift = result.quantization.type.least_shift
    multiplier, shift = split_ratio(ratio, offset, least_shift=least_shift)
    outer, rows, inner = sizes
    attributes = {
        "outer": outer, "rows": rows, "inner": inner, "zero_point_a": 0, "zero_point_b": 0,
    }  # fmt: skip
    return builder.emit(
        Kind.MUL, inputs, x.shape, order, result.quantization, attributes,
        multipliers=(multiplier, 0), shift=shift, bias=fixed_bias(offset, shift),
        low=result.low, high=result.high,
    )  # fmt: skip
