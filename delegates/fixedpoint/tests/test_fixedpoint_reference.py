import random

import numpy as np
import pytest
import torch

from fixedpoint import reference
from fixedpoint.functions import make_table
from fixedpoint.numbers import Quantization


def convolve_in_int64(x, weight, stride, padding, out_size, dilation, groups, zero_point):
    """The sum itself, written out."""
    sums = np.zeros((x.shape[0], *out_size, weight.shape[0]), np.int64)
    per_in, per_out = x.shape[3] // groups, weight.shape[0] // groups
    for n, i, j, o in np.ndindex(*sums.shape):
        for a, b, c in np.ndindex(*weight.shape[1:]):
            row = i * stride[0] - padding[0] + a * dilation[0]
            column = j * stride[1] - padding[1] + b * dilation[1]
            inside = 0 <= row < x.shape[1] and 0 <= column < x.shape[2]
            channel = o // per_out * per_in + c
            value = int(x[n, row, column, channel]) if inside else zero_point
            sums[n, i, j, o] += value * int(weight[o, a, b, c])
    return sums


@pytest.mark.parametrize("seed", range(8))
def test_a_convolution_is_the_sum_that_it_says(seed):
    draw = random.Random(seed)
    groups = draw.choice([1, 2, 3])
    x = torch.randint(-128, 128, (2, 6, 5, 3 * groups), dtype=torch.int8)
    weight = torch.randint(-127, 128, (2 * groups, 3, 2, 3), dtype=torch.int8)
    stride, padding = [draw.choice([1, 2]), 1], [1, draw.choice([0, 1])]
    dilation = [1, draw.choice([1, 2])]
    out = [
        (size + 2 * padding[k] - dilation[k] * (weight.shape[1 + k] - 1) - 1) // stride[k] + 1
        for k, size in enumerate((6, 5))
    ]
    multiplier = torch.randint(1 << 30, (1 << 31) - 1, (2 * groups,), dtype=torch.int32)
    shift = torch.randint(36, 40, (2 * groups,), dtype=torch.uint8)
    bias = torch.randint(-(1 << 40), 1 << 40, (2 * groups,), dtype=torch.int64)
    found = reference.conv2d(
        x,
        weight,
        multiplier,
        shift,
        bias,
        None,
        stride,
        padding,
        out,
        dilation,
        groups,
        -7,
        -128,
        127,
    )
    sums = convolve_in_int64(x.numpy(), weight.numpy(), stride, padding, out, dilation, groups, -7)
    expected = (sums * multiplier.numpy() + bias.numpy()) >> shift.numpy().astype(np.int64)
    np.testing.assert_array_equal(found.numpy(), expected.clip(-128, 127))


def test_a_table_is_the_function_in_float64_rounded():
    source, result = Quantization(0.05, -3), Quantization(0.02, -128)
    table = make_table(torch.nn.functional.hardswish, source, result)
    for code in range(-128, 128):
        real = (code + 3) * 0.05
        exact = real * min(max(real + 3, 0), 6) / 6
        assert table[code + 128] == max(-128, min(127, round(exact / 0.02) - 128))


def test_operators_run_under_export():
    class Net(torch.nn.Module):
        def forward(self, x, values):
            return torch.ops.fixedpoint.table(
                torch.ops.fixedpoint.add(x, x, 3, 5, 3, 4, -9, 9), values
            )

    example = (
        torch.arange(-5, 5, dtype=torch.int8),
        torch.arange(-128, 128, dtype=torch.int16).to(torch.int8),
    )
    exported = torch.export.export(Net(), example)
    expected = ((example[0].to(torch.int64) * 8 + 4) >> 3).clamp(-9, 9)
    assert torch.equal(exported.module()(*example).to(torch.int64), expected)
