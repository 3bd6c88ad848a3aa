"""Convolutions and linear layers."""

from collections.abc import Sequence

import numpy as np
from torch.fx import Node

from fixedpoint.builder import Builder, shape_of
from fixedpoint.match import Match, NotLowered, is_dequantize, is_per_channel
from fixedpoint.numbers import Quantization, check_range, fixed_bias, split_ratio
from fixedpoint.program import Kind
from fixedpoint.rules.common import arguments, result_of
from fixedpoint.rules.data_movement import between
from fixedpoint.values import Value, channels_last, plain

_NUMBERS = ("multiplier", "shift", "bias")
_Weights = tuple[np.ndarray, np.ndarray | None]


def convolution(builder: Builder, match: Match) -> Value:
    """Lowers a convolution of one or two dimensions; that of one has images of one row."""
    a = arguments(match)
    if a.get("transposed"):
        raise NotLowered("it is a transposed convolution")
    shape, made = shape_of(a["input"]), shape_of(match.quantize)
    if len(shape) not in (3, 4):
        raise NotLowered(f"it convolves in {len(shape) - 2} dimensions, not in one or two")
    integers, scales = _weight(builder, a["weight"])
    if len(shape) == 3:
        integers = integers[:, :, None, :]
    kernel = np.ascontiguousarray(integers.transpose(0, 2, 3, 1))
    geometry = _window(a["stride"], "stride", 1) | _window(a["dilation"], "dilation", 1)
    pads = a["padding"]
    if isinstance(pads, str):
        raise NotLowered(f"its padding is {pads!r}, not a number")
    geometry |= {
        "batch": shape[0], "in_channels": shape[1], "out_channels": made[1],
        "in_height": shape[2] if len(shape) == 4 else 1, "in_width": shape[-1],
        "out_height": made[2] if len(shape) == 4 else 1, "out_width": made[-1],
        "kernel_height": kernel.shape[1], "kernel_width": kernel.shape[2],
        "pad_top": pads[0] if len(shape) == 4 else 0, "pad_left": pads[-1],
        "groups": a["groups"],
    }  # fmt: skip
    value = _padded(builder, builder.value(a["input"]), geometry)
    return _weighted(builder, match, value, (kernel, scales), geometry)


def _padded(builder: Builder, value: Value, geometry: dict[str, int]) -> Value:
    """Takes padding that a window may lie in alone out of the geometry: it becomes a part of x."""
    rank = len(value.shape)
    sides = (("height", "pad_top", 2), ("width", "pad_left", rank - 1))
    for side, pad, dim in sides[4 - rank :]:
        width = geometry[pad]
        reach = geometry[f"dilation_{side}"] * (geometry[f"kernel_{side}"] - 1) + 1
        last = (geometry[f"out_{side}"] - 1) * geometry[f"stride_{side}"] - width
        if width >= reach or last >= geometry[f"in_{side}"]:
            value = between(builder, value, dim, (width, width), value.quantization.zero_point)
            geometry[pad] = 0
            geometry[f"in_{side}"] += 2 * width
    return value


def _window(values: Sequence[int], name: str, missing: int) -> dict[str, int]:
    """One number for each of two dimensions; a convolution over rows has no first."""
    first = values[0] if len(values) == 2 else missing
    return {f"{name}_height": first, f"{name}_width": values[-1]}


def linear(builder: Builder, match: Match) -> Value:
    """A 1x1 convolution over as many columns as there are rows."""
    a = arguments(match)
    shape = shape_of(a["input"])
    integers, scales = _weight(builder, a["weight"])
    outputs, depth = integers.shape
    rows = int(np.prod(shape[:-1]))
    geometry = {
        "batch": 1, "in_channels": depth, "in_height": 1, "in_width": rows, "out_height": 1,
        "out_channels": outputs, "out_width": rows, "groups": 1, "pad_top": 0, "pad_left": 0,
        **dict.fromkeys(
            ("kernel_height", "kernel_width", "stride_height", "stride_width",
             "dilation_height", "dilation_width"), 1,
        ),
    }  # fmt: skip
    kernel = integers.reshape(outputs, 1, 1, depth)
    value = builder.value(a["input"])
    return _weighted(builder, match, value, (kernel, scales), geometry)


def _weighted(
    builder: Builder, match: Match, x: Value, weights: _Weights, geometry: dict[str, int]
) -> Value:
    """A convolution with weights of shape (O, KH, KW, C/groups), channels innermost."""
    assert match.core is not None
    a, (integers, scales) = arguments(match), weights
    is_image = match.name() != "aten.linear"
    order = channels_last(len(x.shape)) if is_image else plain(len(x.shape))
    stored = builder.stored(x, order)
    result, low, high = result_of(match)
    if scales is None:
        scales = np.full(len(integers), result.scale / x.quantization.scale)
    real = None if a["bias"] is None else builder.constants.get(a["bias"], "bias")
    numbers = _channel_numbers(builder, integers, scales, real, x.quantization, result)
    name = match.core.name
    add = builder.program.add_constant
    constants = [add(f"{name}_weight", integers)]
    constants += [add(f"{name}_{what}", data) for what, data in zip(_NUMBERS, numbers, strict=True)]
    geometry["input_zero_point"] = x.quantization.zero_point
    made = shape_of(match.quantize)
    return builder.emit(
        Kind.CONV2D, (stored, *constants), made, order, result, geometry, low=low, high=high
    )


def _weight(builder: Builder, node: object) -> _Weights:
    """Integers and the scale of each output channel, as float64; None: no scale is known."""
    if not is_dequantize(node) or not isinstance(node, Node):
        raise NotLowered("its weights are not quantized")
    integers, scales = builder.constants.get(node.args[0], "weight"), None
    if integers.dtype != np.int8:
        raise NotLowered(f"its weights are {integers.dtype}, not int8")
    if not is_per_channel(node):
        scale, zero_point = np.float64(node.args[1]), np.array(node.args[2])
        scales = np.full(integers.shape[0], scale)
    else:
        if node.args[3] != 0:
            raise NotLowered("its weights are quantized along another dimension than the outputs")
        if builder.constants.has_content(node.args[1]):
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
        multiplier, shift = split_ratio(
            accumulated / result.scale, offset, least_shift=result.type.least_shift
        )
        fixed = fixed_bias(offset, shift)
        if builder.modes.bias == "int32":
            fixed = fixed_bias(float(result.zero_point), shift)
            fixed += round(real / accumulated) * multiplier
        fixed -= source.zero_point * int(flat[channel].sum()) * multiplier
        largest = source.type.magnitude * int(np.abs(flat[channel]).sum())
        check_range(largest, multiplier, fixed, source.type)
        multipliers.append(multiplier)
        shifts.append(shift)
        biases.append(fixed)
    return (
        np.array(multipliers, np.int32),
        np.array(shifts, np.uint8),
        np.array(biases, np.int64),
    )
