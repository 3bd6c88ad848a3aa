"""Programs of one primitive with drawn sizes and numbers, and what goes in."""

import random
from dataclasses import replace
from functools import partial

import numpy as np

from fixedpoint.integer_types import INT8, INT16
from fixedpoint.numbers import Quantization, float32_bits, layer_norm_epsilon
from fixedpoint.program import ATTRIBUTES, ROUNDED, Kind, Operation, Program, Rounding, Tensor
from fixedpoint.rules.attention import exponentials_of


def draw_values(draw, kind, *shape):
    """Every third array holds extremes only."""
    make = np.random.default_rng(draw.randrange(1 << 30))
    if draw.randrange(3) == 0:
        return make.choice(np.array([kind.low, kind.high], kind.name), shape)
    return make.integers(kind.low, kind.high + 1, shape).astype(kind.name)


def draw_value(draw, kind):
    return draw.randrange(kind.low, kind.high + 1)


def draw_zero_point(draw, kind):
    return draw_value(draw, kind) if kind.has_zero_points else 0


def one(kind, primitive, arrays, constants, shape, attributes, draw, dtype=None, **numbers):
    """A program with `arrays` as inputs, `constants` behind them, one operation."""
    program = Program()
    inputs = [
        program.add_tensor(Tensor(f"x{i}", a.shape, a.dtype.name)) for i, a in enumerate(arrays)
    ]
    program.inputs += inputs
    inputs += [program.add_constant(f"c{i}", data) for i, data in enumerate(constants)]
    output = program.add_tensor(Tensor("y", shape, dtype or kind.name))
    low, high = sorted((draw_value(draw, kind), draw_value(draw, kind)))
    rounding = draw.choice(list(Rounding)) if primitive in ROUNDED else Rounding.HALF_UP
    program.operations.append(
        Operation(
            primitive,
            tuple(inputs),
            output,
            attributes,
            low=low,
            high=high,
            rounding=rounding,
            **numbers,
        )
    )
    program.outputs.append(output)
    return program, list(arrays)


def named(kind, values):
    return dict(zip(ATTRIBUTES[kind], values, strict=True))


def requantization(draw, least, most, kind=INT8):
    """A third are plain shifts, where ties are many."""
    shift = draw.randrange(least, most)
    is_plain = draw.randrange(3) == 0
    multiplier = 1 << min(30, shift - 1) if is_plain else draw.randrange(1 << 30, 1 << 31)
    furthest = kind.magnitude * 3 // 4
    offset = draw.randrange(-furthest, furthest) << min(shift, 61 - furthest.bit_length())
    bias = offset + (0 if is_plain else draw.randrange(1 << (shift - 1))) + (1 << (shift - 1))
    return {"multipliers": (multiplier, 0), "shift": shift, "bias": bias}


def draw_conv2d(kind, draw):
    groups = draw.choice([1, 1, 2])
    n, h, w, c, o = 1, *(draw.randrange(1, 6) for _ in range(4))
    kh, kw = draw.randrange(1, min(3, h) + 1), draw.randrange(1, min(3, w) + 1)
    pads = draw.randrange(kh), draw.randrange(kw)
    steps = draw.randrange(1, 3), draw.randrange(1, 3)
    out_h = (h + 2 * pads[0] - kh) // steps[0] + 1
    out_w = (w + 2 * pads[1] - kw) // steps[1] + 1
    values = (
        n, h, w, c * groups, out_h, out_w, o * groups, kh, kw, *steps, *pads, 1, 1, groups,
        draw_zero_point(draw, kind),
    )  # fmt: skip
    weight = np.maximum(draw_values(draw, INT8, o * groups, kh, kw, c), -127)
    rows = [requantization(draw, 31, 44, kind) for _ in range(o * groups)]
    constants = [
        weight,
        np.array([row["multipliers"][0] for row in rows], np.int32),
        np.array([row["shift"] for row in rows], np.uint8),
        np.array([row["bias"] for row in rows], np.int64),
    ]
    if kind is INT8 and draw.randrange(2):
        constants.append(draw_values(draw, kind, 256))
    x = draw_values(draw, kind, n, h, w, c * groups)
    shape = (n, out_h, out_w, o * groups)
    return one(kind, Kind.CONV2D, [x], constants, shape, named(Kind.CONV2D, values), draw)


def draw_add(kind, draw):
    count = draw.randrange(1, 80)
    shift = draw.randrange(16, 36)
    multipliers = tuple(
        1 << draw.randrange(31) if draw.randrange(2) else draw.randrange(1 << 30) for _ in range(2)
    )
    numbers = {"multipliers": multipliers, "shift": shift, "bias": 1 << (shift - 1)}
    arrays = [draw_values(draw, kind, count), draw_values(draw, kind, count)]
    return one(kind, Kind.ADD, arrays, [], (count,), {"count": count}, draw, **numbers)


def draw_mul(kind, draw):
    outer, rows, inner = (draw.randrange(1, 6) for _ in range(3))
    values = (outer, rows, inner, draw_zero_point(draw, kind), draw_zero_point(draw, kind))
    arrays = [draw_values(draw, kind, outer, rows, inner), draw_values(draw, kind, outer, inner)]
    shape = (outer, rows, inner)
    numbers = requantization(draw, 31, 46 if kind is INT8 else 54, kind)
    return one(kind, Kind.MUL, arrays, [], shape, named(Kind.MUL, values), draw, **numbers)


def draw_pool(draw):
    """Sizes of a pool, and its output's shape."""
    n, h, w, c = (draw.randrange(1, 6) for _ in range(4))
    kh, kw = draw.randrange(1, h + 1), draw.randrange(1, w + 1)
    pads = draw.randrange(kh), draw.randrange(kw)
    out_h, out_w = h + 2 * pads[0] - kh + 1, w + 2 * pads[1] - kw + 1
    return (n, h, w, c, out_h, out_w, kh, kw, 1, 1, *pads), (n, out_h, out_w, c)


def draw_avg_pool2d(kind, draw):
    values, shape = draw_pool(draw)
    attributes = named(Kind.AVG_POOL2D, (*values, draw_zero_point(draw, kind)))
    numbers = requantization(draw, 31, 44, kind)
    x = draw_values(draw, kind, *values[:4])
    return one(kind, Kind.AVG_POOL2D, [x], [], shape, attributes, draw, **numbers)


def draw_max_pool2d(kind, draw):
    values, shape = draw_pool(draw)
    x = draw_values(draw, kind, *values[:4])
    attributes = named(Kind.MAX_POOL2D, (*values, 1, 1))
    return one(kind, Kind.MAX_POOL2D, [x], [], shape, attributes, draw)


def draw_table(kind, draw):
    count = draw.randrange(1, 80)
    table = draw_values(draw, kind, 256 if kind is INT8 else 513)
    x = draw_values(draw, kind, count)
    return one(kind, Kind.TABLE, [x], [table], (count,), {"count": count}, draw)


def draw_strides(draw):
    """The attributes that read three dimensions of another order, and the shapes of both."""
    given = [draw.randrange(1, 7) for _ in range(3)]
    order = draw.sample(range(3), 3)
    strides = [given[1] * given[2], given[2], 1]
    dims = [given[d] for d in order]
    steps = [strides[d] for d in order]
    return (3, 0, *dims, 0, 0, 0, *steps, 0, 0, 0), given, dims


def draw_copy(kind, draw):
    strides, given, made = draw_strides(draw)
    x = draw_values(draw, kind, *given)
    return one(kind, Kind.COPY, [x], [], tuple(made), named(Kind.COPY, strides), draw)


def draw_concat(kind, draw):
    outer = draw.randrange(1, 5)
    parts = [draw_values(draw, kind, outer, draw.randrange(1, 9)) for _ in range(3)]
    shape = (outer, sum(part.shape[1] for part in parts))
    return one(kind, Kind.CONCAT, parts, [], shape, {"outer": outer}, draw)


def draw_quantize(kind, draw):
    strides, given, made = draw_strides(draw)
    factor = 2.0 ** draw.uniform(-3, 3)
    x = np.random.default_rng(draw.randrange(1 << 30)).normal(size=given) * kind.high / factor
    x = x.astype(np.float32)
    for value in (np.nan, np.inf, -np.inf):
        x.flat[draw.randrange(x.size)] = value
    numbers = (*strides, draw_zero_point(draw, kind), float32_bits(factor))
    attributes = named(Kind.QUANTIZE, numbers)
    return one(kind, Kind.QUANTIZE, [x], [], tuple(made), attributes, draw)


def draw_dequantize(kind, draw):
    strides, given, made = draw_strides(draw)
    numbers = (*strides, draw_zero_point(draw, kind), float32_bits(2.0 ** draw.uniform(-9, 3)))
    x = draw_values(draw, kind, *given)
    attributes = named(Kind.DEQUANTIZE, numbers)
    return one(kind, Kind.DEQUANTIZE, [x], [], tuple(made), attributes, draw, dtype="float32")


def draw_matmul(kind, draw):
    batch, rows, columns = (draw.randrange(1, 7) for _ in range(3))
    depth = draw.choice([1, 3, 16, 17, 33, 64])
    zero_points = draw_zero_point(draw, kind), draw_zero_point(draw, kind)
    values = (batch, rows, columns, depth, *zero_points)
    arrays = [
        draw_values(draw, kind, batch, rows, depth),
        draw_values(draw, kind, batch, columns, depth),
    ]
    numbers = requantization(draw, 31, 50 if kind is INT8 else 56, kind)
    shape = (batch, rows, columns)
    return one(kind, Kind.MATMUL, arrays, [], shape, named(Kind.MATMUL, values), draw, **numbers)


def draw_softmax(kind, draw):
    rows, columns = draw.randrange(1, 6), draw.choice([1, 2, 7, 64, 200])
    source = Quantization(2.0 ** draw.uniform(-12, 3) * 128 / kind.magnitude, 0, type=kind)
    numbers = requantization(draw, 40, 56, kind)
    x = draw_values(draw, kind, rows, columns)
    attributes = {"rows": rows, "columns": columns}
    table = exponentials_of(source)
    return one(kind, Kind.SOFTMAX, [x], [table], x.shape, attributes, draw, **numbers)


def draw_masked_softmax(kind, draw):
    """Masks of every row, of one row for all or one byte for a row; rows that are masked whole."""
    outer, inner = draw.randrange(1, 4), draw.randrange(1, 4)
    columns = draw.choice([1, 2, 7, 33, 200])
    source = Quantization(2.0 ** draw.uniform(-12, 3) * 128 / kind.magnitude, 0, type=kind)
    shape, strides = draw.choice(
        [
            ((outer, inner, columns), (inner * columns, columns, 1)),
            ((inner, columns), (0, columns, 1)),
            ((outer, columns), (columns, 0, 1)),
            ((outer, inner), (inner, 1, 0)),
            ((inner, columns, 2), (0, 2 * columns, 2)),
        ]
    )
    mask = np.random.default_rng(draw.randrange(1 << 30)).choice([0, 0, 1, 2, 255], shape)
    for row in mask.reshape(-1, shape[-1])[:: draw.randrange(1, 4)]:
        row[:] = draw.choice([0, 1])
    flags = draw.randrange(2), draw.randrange(2)
    values = (3, 0, outer, inner, columns, 0, 0, 0, *strides, 0, 0, 0, outer * inner, columns)
    x = draw_values(draw, kind, outer, inner, columns)
    program, arrays = one(
        kind, Kind.MASKED_SOFTMAX, [x], [exponentials_of(source)], x.shape,
        named(Kind.MASKED_SOFTMAX, (*values, *flags)), draw, **requantization(draw, 40, 56, kind),
    )  # fmt: skip
    mask = mask.astype(np.uint8)
    given = program.add_tensor(Tensor("mask", mask.shape, "uint8"))
    program.inputs.append(given)
    inputs = (*program.operations[0].inputs, given)
    program.operations[0] = replace(program.operations[0], inputs=inputs)
    return program, [*arrays, mask]


def draw_layer_norm(kind, draw):
    rows, columns = draw.randrange(1, 6), draw.choice([1, 2, 5, 48, 256, 1000])
    x = draw_values(draw, kind, rows, columns)
    if draw.randrange(4) == 0:  # nothing varies but one value
        x[:] = draw_value(draw, kind)
        x[0, 0] = draw_value(draw, kind)
    signs = np.array([draw.choice([-1, 1, 1]) for _ in range(columns)])
    drawn = [requantization(draw, 45, 58, kind) for _ in range(columns)]
    constants = [
        (signs * [row["multipliers"][0] for row in drawn]).astype(np.int32),
        np.array([row["shift"] for row in drawn], np.uint8),
        np.array([row["bias"] for row in drawn], np.int64),
    ]
    scale = 2.0 ** draw.uniform(-12, 3)
    epsilon, bits = layer_norm_epsilon(draw.choice([1e-5, 1e-2]), columns, scale, kind)
    attributes = {"rows": rows, "columns": columns, "epsilon_bits": bits}
    return one(kind, Kind.LAYER_NORM, [x], constants, x.shape, attributes, draw, bias=epsilon)


def draw_embedding(kind, draw):
    """Three dimensions of indices in another order; a third of the tables are only copied."""
    strides, given, made = draw_strides(draw)
    rows, columns = draw.randrange(1, 9), draw.choice([1, 3, 16, 33])
    drawn = [requantization(draw, 31, 38, kind) for _ in range(rows)]
    is_copied = draw.randrange(3) == 0
    if is_copied:
        drawn = [{"multipliers": (1 << 30, 0), "shift": 30, "bias": 1 << 29}] * rows
    constants = [
        draw_values(draw, INT8, rows, columns),
        np.array([row["multipliers"][0] for row in drawn], np.int32),
        np.array([row["shift"] for row in drawn], np.uint8),
        np.array([row["bias"] for row in drawn], np.int64),
    ]
    dtype = draw.choice(["int32", "int64"])
    indices = np.random.default_rng(draw.randrange(1 << 30)).integers(0, rows, given).astype(dtype)
    attributes = named(Kind.EMBEDDING, (*strides, rows, columns))
    shape = (*made, columns)
    program, arrays = one(kind, Kind.EMBEDDING, [indices], constants, shape, attributes, draw)
    if is_copied:
        program.operations[0] = replace(program.operations[0], low=kind.low, high=kind.high)
    return program, arrays


_DRAWN = {
    "conv2d": draw_conv2d,
    "add": draw_add,
    "mul": draw_mul,
    "avg_pool2d": draw_avg_pool2d,
    "max_pool2d": draw_max_pool2d,
    "table": draw_table,
    "copy": draw_copy,
    "concat": draw_concat,
    "quantize": draw_quantize,
    "dequantize": draw_dequantize,
    "matmul": draw_matmul,
    "softmax": draw_softmax,
    "layer_norm": draw_layer_norm,
    "embedding": draw_embedding,
    "masked_softmax": draw_masked_softmax,
}
DRAWN = {
    **{name: partial(function, INT8) for name, function in _DRAWN.items()},
    **{f"{name}_int16": partial(function, INT16) for name, function in _DRAWN.items()},
}


def cases(name, count, seed=1):
    """`count` programs of a primitive with their inputs."""
    draw = random.Random(seed)
    for _ in range(count):
        yield DRAWN[name](draw)
