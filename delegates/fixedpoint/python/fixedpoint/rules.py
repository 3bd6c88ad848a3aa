"""One rule an operator: from a pattern of the edge graph to primitives.

A rule appends to the builder and returns the tensor that the pattern's quantize stands for, or
raises `NotLowered` with the reason.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from fixedpoint import layout
from fixedpoint.functions import (
    UNARY,
    base_name,
    bounds_of,
    make_table,
    named_arguments,
    overload_of,
)
from fixedpoint.lower import Builder, is_weight, shape_of
from fixedpoint.match import MOVES, Match, NotLowered, is_dequantize, quantization_of
from fixedpoint.numbers import (
    Quantization,
    activation_bounds,
    check_range,
    fixed_bias,
    requantize_sum,
    split_ratio,
)
from fixedpoint.program import Kind

Rule = Callable[[Builder, Match], int]
_SUM_BITS = 30
"""Multipliers of a sum split in two halves of 15 bits, which vector units multiply as int16."""


def _arguments(match: Match) -> dict[str, Any]:
    assert match.core is not None
    return named_arguments(match.core.target, match.core.args, dict(match.core.kwargs))


def _output(match: Match) -> tuple[Quantization, int, int]:
    """Parameters of the result, and its bounds with the activations taken in."""
    result = quantization_of(match.quantize)
    low, high = result.low, result.high
    for node in match.activations:
        bounds = bounds_of(base_name(node.target), node.args)
        assert bounds is not None
        least, most = activation_bounds(result, *bounds)
        low, high = min(max(low, least), most), max(min(high, most), least)
    return result, low, high


def _stored(match: Match) -> tuple[int, ...]:
    return layout.stored_shape(shape_of(match.quantize))


def _pair(value: Sequence[int]) -> tuple[int, int]:
    return (value[0], value[-1])


def _weight(builder: Builder, node: object) -> tuple[np.ndarray, np.ndarray]:
    """Integers and the scale of each output channel, as float64."""
    if not is_dequantize(node) or not isinstance(node, Node):
        raise NotLowered("its weights are not quantized")
    integers = builder.constants.get(node.args[0], "weight")
    if integers.dtype != np.int8:
        raise NotLowered(f"its weights are {integers.dtype}, not int8")
    if not is_weight(node):
        scale, zero_point = np.float64(node.args[1]), np.array(node.args[2])
        scales = np.full(integers.shape[0], scale)
    else:
        if node.args[3] != 0:
            raise NotLowered("its weights are quantized along another dimension than the outputs")
        scales = builder.constants.get(node.args[1], "scales").astype(np.float64)
        zero_point = builder.constants.get(node.args[2], "zero points")
    if np.any(zero_point != 0):
        raise NotLowered("its weights have a zero point")
    return integers, scales


def _channel_numbers(
    builder: Builder, integers: np.ndarray, scales: np.ndarray, bias: np.ndarray | None,
    source: Quantization, result: Quantization,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Multiplier, shift and bias of each output channel."""
    flat = integers.reshape(len(scales), -1).astype(np.int64)
    multipliers, shifts, biases = [], [], []
    for channel, scale in enumerate(scales.tolist()):
        accumulated = source.scale * scale
        real = 0.0 if bias is None else float(bias[channel])
        offset = real / result.scale + result.zero_point
        multiplier, shift = split_ratio(accumulated / result.scale, offset)
        fixed = fixed_bias(offset, shift)
        if builder.bias == "int32":
            fixed = fixed_bias(float(result.zero_point), shift)
            fixed += round(real / accumulated) * multiplier
        fixed -= source.zero_point * int(flat[channel].sum()) * multiplier
        check_range(128 * int(np.abs(flat[channel]).sum()), multiplier, fixed)
        multipliers.append(multiplier)
        shifts.append(shift)
        biases.append(fixed)
    return (
        np.array(multipliers, np.int32),
        np.array(shifts, np.uint8),
        np.array(biases, np.int64),
    )


def _weighted(
    builder: Builder, match: Match, integers: np.ndarray, scales: np.ndarray,
    geometry: dict[str, int], bias: object,
) -> int:  # fmt: skip
    """A convolution with weights of shape (O, KH, KW, C/groups)."""
    assert match.core is not None
    x, source, _ = builder.input(match.core.args[0])
    result, low, high = _output(match)
    real = None if bias is None else builder.constants.get(bias, "bias")
    numbers = _channel_numbers(builder, integers, scales, real, source, result)
    name = match.core.name
    add = builder.program.add_constant
    constants = [add(f"{name}_weight", integers)]
    constants += [add(f"{name}_{what}", data) for what, data in zip(_NUMBERS, numbers, strict=True)]
    geometry["input_zero_point"] = source.zero_point
    return builder.emit(
        Kind.CONV2D, (x, *constants), _stored(match), result, geometry, low=low, high=high
    )


_NUMBERS = ("multiplier", "shift", "bias")


def _convolution(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    if a.get("transposed"):
        raise NotLowered("it is a transposed convolution")
    in_shape, out_shape = shape_of(a["input"]), shape_of(match.quantize)
    if len(in_shape) != 4:
        raise NotLowered(f"it convolves in {len(in_shape) - 2} dimensions, not in two")
    integers, scales = _weight(builder, a["weight"])
    kernel = np.ascontiguousarray(integers.transpose(0, 2, 3, 1))
    (sh, sw), (pt, pl), (dh, dw) = (_pair(a[k]) for k in ("stride", "padding", "dilation"))
    geometry = {
        "batch": in_shape[0], "in_channels": in_shape[1], "in_height": in_shape[2],
        "in_width": in_shape[3], "out_channels": out_shape[1], "out_height": out_shape[2],
        "out_width": out_shape[3], "kernel_height": kernel.shape[1],
        "kernel_width": kernel.shape[2], "stride_height": sh, "stride_width": sw, "pad_top": pt,
        "pad_left": pl,
        "dilation_height": dh, "dilation_width": dw, "groups": a["groups"],
    }  # fmt: skip
    return _weighted(builder, match, kernel, scales, geometry, a["bias"])


def _linear(builder: Builder, match: Match) -> int:
    """A 1x1 convolution over as many columns as there are rows."""
    a = _arguments(match)
    in_shape = shape_of(a["input"])
    if len(in_shape) == 4:
        raise NotLowered("a linear layer of a tensor of rank 4 has no primitive yet")
    integers, scales = _weight(builder, a["weight"])
    outputs, depth = integers.shape
    rows = int(np.prod(in_shape[:-1]))
    geometry = {
        "batch": 1, "in_channels": depth, "in_height": 1, "in_width": rows, "out_height": 1,
        "out_channels": outputs, "out_width": rows, "groups": 1, "pad_top": 0, "pad_left": 0,
        **dict.fromkeys(
            ("kernel_height", "kernel_width", "stride_height", "stride_width",
             "dilation_height", "dilation_width"), 1,
        ),
    }  # fmt: skip
    kernel = integers.reshape(outputs, 1, 1, depth)
    return _weighted(builder, match, kernel, scales, geometry, a["bias"])


def _add(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    if a.get("alpha", 1) != 1:
        raise NotLowered("it adds a multiple (alpha)")
    left, of_left, left_shape = builder.input(a["self"])
    right, of_right, right_shape = builder.input(a["other"])
    if left_shape != right_shape:
        raise NotLowered(f"it broadcasts {left_shape} and {right_shape}")
    result, low, high = _output(match)
    ratios = [of_left.scale / result.scale, of_right.scale / result.scale]
    zero_points = [of_left.zero_point, of_right.zero_point]
    multipliers, shift, bias = requantize_sum(ratios, zero_points, result, _SUM_BITS)
    return builder.emit(
        Kind.ADD, (left, right), _stored(match), result, {"count": int(np.prod(left_shape))},
        multipliers=tuple(multipliers), shift=shift, bias=bias, low=low, high=high,
    )  # fmt: skip


def _mul(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    sides = [builder.input(a["self"]), builder.input(a["other"])]
    if np.prod(sides[0][2]) < np.prod(sides[1][2]):
        sides.reverse()
    (left, of_left, shape), (right, of_right, small) = sides
    outer, rows, inner = _broadcast(shape, small)
    result, low, high = _output(match)
    offset = float(result.zero_point)
    multiplier, shift = split_ratio(of_left.scale * of_right.scale / result.scale, offset)
    attributes = {
        "outer": outer, "rows": rows, "inner": inner,
        "zero_point_a": of_left.zero_point, "zero_point_b": of_right.zero_point,
    }  # fmt: skip
    return builder.emit(
        Kind.MUL, (left, right), _stored(match), result, attributes, multipliers=(multiplier, 0),
        shift=shift, bias=fixed_bias(offset, shift), low=low, high=high,
    )  # fmt: skip


def _broadcast(shape: tuple[int, ...], small: tuple[int, ...]) -> tuple[int, int, int]:
    """(outer, rows, inner): the smaller operand has no rows."""
    if shape == small:
        return 1, 1, int(np.prod(shape))
    if len(shape) == 4 and small == (shape[0], shape[1], 1, 1):
        return shape[0], shape[2] * shape[3], shape[1]
    raise NotLowered(f"it broadcasts {small} over {shape}")


def _pool(
    builder: Builder, match: Match, geometry: dict[str, int], x: int, source: Quantization
) -> int:
    result, low, high = _output(match)
    count = geometry["kernel_height"] * geometry["kernel_width"]
    offset = float(result.zero_point)
    multiplier, shift = split_ratio(source.scale / (result.scale * count), offset)
    bias = fixed_bias(offset, shift) - source.zero_point * count * multiplier
    check_range(128 * count, multiplier, bias)
    geometry["input_zero_point"] = source.zero_point
    return builder.emit(
        Kind.AVG_POOL2D, (x,), _stored(match), result, geometry, multipliers=(multiplier, 0),
        shift=shift, bias=bias, low=low, high=high,
    )  # fmt: skip


def _whole_window(shape: Sequence[int]) -> dict[str, int]:
    return {
        "batch": shape[0], "channels": shape[1], "in_height": shape[2], "in_width": shape[3],
        "kernel_height": shape[2], "kernel_width": shape[3], "out_height": 1, "out_width": 1,
        "stride_height": 1, "stride_width": 1, "pad_top": 0, "pad_left": 0,
    }  # fmt: skip


def _mean(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    x, source, shape = builder.input(a["self"])
    if len(shape) != 4 or sorted(d % 4 for d in a["dim"] or ()) != [2, 3]:
        raise NotLowered("a mean is taken over height and width of an image only")
    return _pool(builder, match, _whole_window(shape), x, source)


def _adaptive_avg_pool2d(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    x, source, shape = builder.input(a["self"])
    if len(shape) != 4 or list(a["output_size"]) != [1, 1]:
        raise NotLowered("an adaptive average pool makes one value a channel only")
    return _pool(builder, match, _whole_window(shape), x, source)


def _windows(a: dict[str, Any], shape: Sequence[int], out: Sequence[int]) -> dict[str, int]:
    if len(shape) != 4:
        raise NotLowered("it pools over no image of rank 4")
    kernel = _pair(a["kernel_size"])
    stride, padding = _pair(a["stride"] or kernel), _pair(a["padding"])
    return {
        "batch": shape[0], "channels": shape[1], "in_height": shape[2], "in_width": shape[3],
        "kernel_height": kernel[0], "kernel_width": kernel[1], "out_height": out[2],
        "out_width": out[3], "stride_height": stride[0], "stride_width": stride[1],
        "pad_top": padding[0], "pad_left": padding[1],
    }  # fmt: skip


def _avg_pool2d(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    x, source, shape = builder.input(a["self"])
    geometry = _windows(a, shape, shape_of(match.quantize))
    if a["ceil_mode"]:
        raise NotLowered("its last windows are cut off (ceil_mode)")
    if a["divisor_override"] is not None:
        raise NotLowered("it divides by another number than the window's size")
    if not a["count_include_pad"] and any(a["padding"]):
        raise NotLowered("its windows at the border are smaller (count_include_pad=False)")
    return _pool(builder, match, geometry, x, source)


def _max_pool2d(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    x, source, shape = builder.input(a["self"])
    geometry = _windows(a, shape, shape_of(match.quantize))
    geometry["dilation_height"], geometry["dilation_width"] = _pair(a["dilation"])
    result, low, high = _output(match)
    if source != result and match.activations:
        raise NotLowered("it has an activation and other parameters than its input")
    if source != result:
        low, high = source.low, source.high
    made = builder.emit(Kind.MAX_POOL2D, (x,), _stored(match), source, geometry, low=low, high=high)
    return _requantized(builder, made, source, result)


def _requantized(builder: Builder, x: int, source: Quantization, result: Quantization) -> int:
    """The tensor itself when the parameters are the same, else through a table."""
    if source == result:
        return x
    return _through_table(builder, x, make_table(lambda real: real, source, result), result)


def _through_table(builder: Builder, x: int, table: np.ndarray, result: Quantization) -> int:
    tensor = builder.program.tensors[x]
    values = builder.program.add_constant(f"{tensor.name}_table", table)
    attributes = {"count": tensor.bytes}
    return builder.emit(Kind.TABLE, (x, values), tensor.shape, result, attributes)


def _unary(builder: Builder, match: Match) -> int:
    assert match.core is not None
    core = match.core
    x, source, _ = builder.input(core.args[0])
    result, low, high = _output(match)
    overload = overload_of(core.target)

    def function(reals: torch.Tensor) -> torch.Tensor:
        made: torch.Tensor = overload(reals.clone(), *core.args[1:], **core.kwargs)
        return made

    table = make_table(function, source, result).clip(low, high)
    return _through_table(builder, x, table, result)


def _requantize(builder: Builder, match: Match) -> int:
    x, source, _ = builder.input(match.dequantizes[0])
    result, low, high = _output(match)
    if source == result and not match.activations:
        return x
    table = make_table(lambda real: real, source, result).clip(low, high)
    return _through_table(builder, x, table, result)


def _move(x: torch.Tensor, node: Node) -> torch.Tensor:
    """The view of x that an operator makes that only moves data.

    Raises:
        RuntimeError: the elements do not lie so that a view could.
    """
    a, name = named_arguments(node.target, node.args, dict(node.kwargs)), base_name(node.target)
    made: torch.Tensor = x
    if name == "aten.permute":
        made = x.permute(a["dims"])
    elif name == "aten.transpose":
        made = x.transpose(a["dim0"], a["dim1"])
    elif name == "aten.slice":
        made = torch.ops.aten.slice.Tensor(x, a["dim"], a["start"], a["end"], a["step"])
    elif tuple(x.shape) != shape_of(node):
        made = x.view(shape_of(node))
    return made


def _moving(builder: Builder, match: Match) -> int:
    """A strided copy; one more where a view does not suffice, a requantization if need be."""
    assert match.core is not None
    if match.activations:
        raise NotLowered("it has an activation behind it")
    x, source, shape = builder.input(match.dequantizes[0])
    result, _, _ = _output(match)
    view = layout.logical_view(shape)
    for node in (*match.moves, match.core):
        try:
            view = _move(view, node)
        except RuntimeError:
            made = tuple(view.shape)
            x = builder.copy(x, layout.strides_of(view, is_stored=False), made, source)
            view = _move(torch.empty(made, device="meta"), node)
    made_tensor = builder.copy(x, layout.strides_of(view), _stored(match), source)
    return _requantized(builder, made_tensor, source, result)


def _cat(builder: Builder, match: Match) -> int:
    a = _arguments(match)
    result, _, _ = _output(match)
    if match.activations:
        raise NotLowered("it has an activation behind it")
    parts = []
    for node in a["tensors"]:
        x, source, _ = builder.input(node)
        parts.append(_requantized(builder, x, source, result))
    stored = _stored(match)
    axis = layout.stored_axis(a["dim"], len(stored))
    outer = int(np.prod(stored[:axis]))
    return builder.emit(Kind.CONCAT, parts, stored, result, {"outer": outer})


RULES: dict[str, Rule] = {
    "aten.convolution": _convolution,
    "aten.conv2d": _convolution,
    "aten.linear": _linear,
    "aten.add": _add,
    "aten.mul": _mul,
    "aten.mean": _mean,
    "aten.adaptive_avg_pool2d": _adaptive_avg_pool2d,
    "aten.avg_pool2d": _avg_pool2d,
    "aten.max_pool2d": _max_pool2d,
    "aten.cat": _cat,
    "requantize": _requantize,
    **dict.fromkeys(UNARY, _unary),
    **dict.fromkeys(MOVES, _moving),
}
"""Rules by the operator's name."""
