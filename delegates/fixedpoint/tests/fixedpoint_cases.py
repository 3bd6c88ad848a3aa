"""Programs of one primitive with drawn sizes and numbers, and what goes in."""

import random

import numpy as np

from fixedpoint.numbers import layer_norm_epsilon
from fixedpoint.program import ROUNDED, Kind, Operation, Program, Rounding, Tensor


def draw_bytes(draw, *shape):
    """Every third array holds extremes only."""
    make = np.random.default_rng(draw.randrange(1 << 30))
    if draw.randrange(3) == 0:
        return make.choice(np.array([-128, 127], np.int8), shape)
    return make.integers(-128, 128, shape).astype(np.int8)


def one(kind, arrays, constants, shape, attributes, draw, **numbers):
    """A program with `arrays` as inputs, `constants` behind them, one operation."""
    program = Program()
    inputs = [program.add_tensor(Tensor(f"x{i}", a.shape)) for i, a in enumerate(arrays)]
    program.inputs += inputs
    inputs += [program.add_constant(f"c{i}", data) for i, data in enumerate(constants)]
    output = program.add_tensor(Tensor("y", shape))
    low, high = sorted((draw.randrange(-128, 128), draw.randrange(-128, 128)))
    rounding = draw.choice(list(Rounding)) if kind in ROUNDED else Rounding.HALF_UP
    program.operations.append(
        Operation(
            kind,
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


def requantization(draw, least, most):
    """A third are plain shifts, where ties are many."""
    shift = draw.randrange(least, most)
    is_plain = draw.randrange(3) == 0
    multiplier = 1 << min(30, shift - 1) if is_plain else draw.randrange(1 << 30, 1 << 31)
    offset = draw.randrange(-100, 100) << min(shift, 54)
    bias = offset + (0 if is_plain else draw.randrange(1 << (shift - 1))) + (1 << (shift - 1))
    return {"multipliers": (multiplier, 0), "shift": shift, "bias": bias}


def draw_conv2d(draw):
    groups = draw.choice([1, 1, 2])
    n, h, w, c, o = 1, *(draw.randrange(1, 6) for _ in range(4))
    kh, kw = draw.randrange(1, min(3, h) + 1), draw.randrange(1, min(3, w) + 1)
    pads = draw.randrange(kh), draw.randrange(kw)
    steps = draw.randrange(1, 3), draw.randrange(1, 3)
    out_h = (h + 2 * pads[0] - kh) // steps[0] + 1
    out_w = (w + 2 * pads[1] - kw) // steps[1] + 1
    values = (
        n, h, w, c * groups, out_h, out_w, o * groups, kh, kw, *steps, *pads, 1, 1, groups,
        draw.randrange(-128, 128),
    )  # fmt: skip
    weight = np.maximum(draw_bytes(draw, o * groups, kh, kw, c), -127)
    rows = [requantization(draw, 31, 44) for _ in range(o * groups)]
    constants = [
        weight,
        np.array([row["multipliers"][0] for row in rows], np.int32),
        np.array([row["shift"] for row in rows], np.uint8),
        np.array([row["bias"] for row in rows], np.int64),
    ]
    if draw.randrange(2):
        constants.append(draw_bytes(draw, 256))
    x = draw_bytes(draw, n, h, w, c * groups)
    return one(
        Kind.CONV2D, [x], constants, (n, out_h, out_w, o * groups), named(Kind.CONV2D, values), draw
    )


def named(kind, values):
    from fixedpoint.program import ATTRIBUTES

    return dict(zip(ATTRIBUTES[kind], values, strict=True))


def draw_add(draw):
    count = draw.randrange(1, 80)
    shift = draw.randrange(16, 36)
    multipliers = tuple(
        1 << draw.randrange(31) if draw.randrange(2) else draw.randrange(1 << 30) for _ in range(2)
    )
    numbers = {"multipliers": multipliers, "shift": shift, "bias": 1 << (shift - 1)}
    arrays = [draw_bytes(draw, count), draw_bytes(draw, count)]
    return one(Kind.ADD, arrays, [], (count,), {"count": count}, draw, **numbers)


def draw_mul(draw):
    outer, rows, inner = (draw.randrange(1, 6) for _ in range(3))
    values = (outer, rows, inner, draw.randrange(-128, 128), draw.randrange(-128, 128))
    arrays = [draw_bytes(draw, outer, rows, inner), draw_bytes(draw, outer, inner)]
    shape = (outer, rows, inner)
    numbers = requantization(draw, 31, 46)
    return one(Kind.MUL, arrays, [], shape, named(Kind.MUL, values), draw, **numbers)


def draw_avg_pool2d(draw):
    n, h, w, c = (draw.randrange(1, 6) for _ in range(4))
    kh, kw = draw.randrange(1, h + 1), draw.randrange(1, w + 1)
    pads = draw.randrange(kh), draw.randrange(kw)
    out_h, out_w = h + 2 * pads[0] - kh + 1, w + 2 * pads[1] - kw + 1
    values = (n, h, w, c, out_h, out_w, kh, kw, 1, 1, *pads, draw.randrange(-128, 128))
    attributes = named(Kind.AVG_POOL2D, values)
    numbers = requantization(draw, 31, 44)
    x = draw_bytes(draw, n, h, w, c)
    return one(Kind.AVG_POOL2D, [x], [], (n, out_h, out_w, c), attributes, draw, **numbers)


def draw_matmul(draw):
    batch, rows, columns = (draw.randrange(1, 7) for _ in range(3))
    depth = draw.choice([1, 3, 16, 17, 33, 64])
    values = (
        batch,
        rows,
        columns,
        depth,
        draw.randrange(-128, 128),
        draw.randrange(-128, 128),
    )
    arrays = [draw_bytes(draw, batch, rows, depth), draw_bytes(draw, batch, columns, depth)]
    numbers = requantization(draw, 31, 50)
    shape = (batch, rows, columns)
    return one(Kind.MATMUL, arrays, [], shape, named(Kind.MATMUL, values), draw, **numbers)


def draw_softmax(draw):
    rows, columns = draw.randrange(1, 6), draw.choice([1, 2, 7, 64, 200])
    scale = 2.0 ** draw.uniform(-12, 3)
    table = np.round(np.exp(-np.arange(256) * scale) * (1 << 30)).astype(np.int32)
    numbers = requantization(draw, 40, 56)
    x = draw_bytes(draw, rows, columns)
    attributes = {"rows": rows, "columns": columns}
    return one(Kind.SOFTMAX, [x], [table], x.shape, attributes, draw, **numbers)


def draw_layer_norm(draw):
    rows, columns = draw.randrange(1, 6), draw.choice([1, 2, 5, 48, 256, 1000])
    x = draw_bytes(draw, rows, columns)
    if draw.randrange(4) == 0:  # nothing varies but one value
        x[:] = draw.randrange(-128, 128)
        x[0, 0] = draw.randrange(-128, 128)
    signs = np.array([draw.choice([-1, 1, 1]) for _ in range(columns)])
    drawn = [requantization(draw, 45, 58) for _ in range(columns)]
    constants = [
        (signs * [row["multipliers"][0] for row in drawn]).astype(np.int32),
        np.array([row["shift"] for row in drawn], np.uint8),
        np.array([row["bias"] for row in drawn], np.int64),
    ]
    epsilon = layer_norm_epsilon(1e-5, columns, 2.0 ** draw.uniform(-12, 3))
    attributes = {"rows": rows, "columns": columns}
    return one(Kind.LAYER_NORM, [x], constants, x.shape, attributes, draw, bias=epsilon)


DRAWN = {
    "conv2d": draw_conv2d,
    "add": draw_add,
    "mul": draw_mul,
    "avg_pool2d": draw_avg_pool2d,
    "matmul": draw_matmul,
    "softmax": draw_softmax,
    "layer_norm": draw_layer_norm,
}


def cases(name, count, seed=1):
    """`count` programs of a primitive with their inputs."""
    draw = random.Random(seed)
    for _ in range(count):
        yield DRAWN[name](draw)
