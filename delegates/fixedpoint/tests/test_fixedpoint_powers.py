"""Q formats: scales are powers of two, and a requantization is a plain shift."""

import math

import numpy as np
import pytest
import torch
from fixedpoint_nets import NETS, batches_like

pytest.importorskip("executorch")
pytestmark = pytest.mark.engine


def made_with(name="mobile", rounding="half_up", **options):
    from fixedpoint.convert import convert, quantize

    torch.manual_seed(3)
    model, example = NETS[name]()
    batches = [example, *batches_like(example, 3)]
    quantized = quantize(model, example, batches, scales="power_of_two", **options)
    made = convert(quantized, require_integer=True, bias="int32", rounding=rounding)
    ((program, blob),) = made.programs()
    return made, example, program, blob


def fraction_bits(scale):
    mantissa, exponent = math.frexp(scale)
    assert mantissa == 0.5, scale
    return 1 - exponent


def shifted(value, shift, rounding):
    """The plain shift: half up, or half to even."""
    if rounding == "half_up":
        return (value + (1 << (shift - 1))) >> shift if shift > 0 else value << -shift
    return np.round(value / 2.0**shift).astype(np.int64)


def convolve_by_shift(program, op, x, rounding):
    """A 1x1 convolution in Q formats: int32 sums and biases, one shift, a clamp."""
    weight, multiplier, shift, bias = (program.tensors[i].data for i in op.inputs[1:5])
    acc = x.reshape(-1, weight.shape[3]).astype(np.int64) @ weight.reshape(len(weight), -1).T
    made = np.empty_like(acc)
    for channel in range(len(weight)):
        bits = int(shift[channel]) - (int(multiplier[channel]).bit_length() - 1)
        assert int(multiplier[channel]) == 1 << (int(shift[channel]) - bits)
        whole = int(bias[channel]) - (1 << (int(shift[channel]) - 1))
        assert whole % int(multiplier[channel]) == 0  # an int32 bias in the scale of the products
        sums = acc[:, channel] + whole // int(multiplier[channel])
        made[:, channel] = shifted(sums, bits, rounding)
    return made.clip(op.low, op.high)


@pytest.mark.parametrize("rounding", ["half_up", "half_even"])
@pytest.mark.parametrize("name", ["mobile", "rows"])
def test_convolutions_products_and_sums_are_plain_shifts(name, rounding, library):
    from fixedpoint import evaluate
    from fixedpoint.program import Kind

    _, example, program, blob = made_with(name, rounding)
    inputs = [x.numpy() for x in example]
    values = {}
    expected = list(evaluate.steps(program, inputs, values))
    counts = dict.fromkeys((Kind.CONV2D, Kind.ADD, Kind.MUL), 0)
    for op, made in expected:
        tensors = [program.tensors[i] for i in op.inputs if i is not None]
        if op.kind is Kind.CONV2D and len(op.inputs) == 5 and tensors[1].shape[1:3] == (1, 1):
            x = values[op.inputs[0]].numpy()
            found = convolve_by_shift(program, op, x, rounding)
        elif op.kind is Kind.ADD:
            bits = [fraction_bits(t.scale) for t in tensors]
            out = fraction_bits(program.tensors[op.output].scale)
            wide = max(bits)
            parts = [
                values[i].numpy().astype(np.int64) << (wide - b)
                for i, b in zip(op.inputs, bits, strict=True)
            ]
            found = shifted(sum(parts), wide - out, rounding).clip(op.low, op.high)
        elif op.kind is Kind.MUL:
            a, b = (values[i].numpy().astype(np.int64) for i in op.inputs)
            bits = sum(fraction_bits(t.scale) for t in tensors)
            bits -= fraction_bits(program.tensors[op.output].scale)
            product = a.reshape(-1, b.size) * b.reshape(-1)
            found = shifted(product, bits, rounding).clip(op.low, op.high)
        else:
            continue
        counts[op.kind] += 1
        np.testing.assert_array_equal(found.reshape(-1), made.reshape(-1), err_msg=str(op.kind))
    assert counts[Kind.CONV2D] > 0
    assert counts[Kind.ADD] > 0
    for isa in library.isa_names():
        seen = {}
        library.run(program, blob, inputs, isa, lambda i, made, seen=seen: seen.update({i: made}))
        for i, (_, made) in enumerate(expected):
            np.testing.assert_array_equal(seen[i], made.reshape(-1), err_msg=f"{isa} {i}")


@pytest.mark.parametrize("name", ["mobile", "attention"])
def test_every_scale_is_a_power_of_two_and_every_zero_point_0(name):
    _, _, program, _ = made_with(name)
    for tensor in program.tensors:
        if tensor.data is None and tensor.dtype == "int8":
            fraction_bits(tensor.scale)
            assert tensor.zero_point == 0


def test_fraction_bits_may_be_given():
    _, _, program, _ = made_with("rows", fraction_bits=4)
    scales = {t.scale for t in program.tensors if t.data is None and t.dtype == "int8"}
    assert scales == {2.0**-4, 2.0**-7}  # a sigmoid keeps the range that it has


def test_the_observed_range_fits_the_fraction_bits():
    from fixedpoint.observers import power_of_two_above

    scales = torch.tensor([0.24, 0.25, 0.26, 2.0**-9])
    assert power_of_two_above(scales).tolist() == [0.25, 0.25, 0.5, 2.0**-9]


def test_half_even_of_an_odd_zero_point_is_refused():
    from fixedpoint.builder import Builder, Modes
    from fixedpoint.match import NotLowered
    from fixedpoint.numbers import Quantization
    from fixedpoint.program import Kind

    builder = Builder(None, Modes(rounding="half_even"))
    builder._rounding(Kind.ADD, Quantization(1.0, -128))
    with pytest.raises(NotLowered, match="even zero point"):
        builder._rounding(Kind.ADD, Quantization(1.0, 3))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"scales": "halves"}, "any, power_of_two"),
        ({"observer": "nope"}, "histogram, minmax"),
        ({"fraction_bits": 3}, "power_of_two"),
    ],
)
def test_unknown_options_are_refused(options, reason):
    from fixedpoint.quantizer import FixedPointQuantizer

    with pytest.raises(ValueError, match=reason):
        FixedPointQuantizer(**options)
