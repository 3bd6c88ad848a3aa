"""Activations of 16 bits: arithmetic, functions of one value, whole networks."""

import random

import numpy as np
import pytest
import torch
from fixedpoint_nets import NETS, NETS_TO_TEST, batches_like
from fixedpoint_running import check_every_tensor, methods_in_manifest, run_in_executorch
from torch.nn import functional

from fixedpoint import reference
from fixedpoint.functions import make_table
from fixedpoint.integer_types import INT16
from fixedpoint.numbers import NumberError, Quantization, check_range, split_ratio

pytest.importorskip("executorch")
pytestmark = pytest.mark.engine

RECIPE = {"activations": "int16", "observer": "minmax", "headroom_bits": 1}
CODES = torch.arange(-32767, 32768)


def symmetric(scale):
    return Quantization(scale, 0, -32767, 32767, INT16)


def converted_model(model, example, **options):
    from fixedpoint.convert import convert, quantize

    batches = batches_like(example, 4)
    return convert(quantize(model.eval(), example, [example, *batches], **RECIPE), **options)


def converted(name, **options):
    torch.manual_seed(1)
    model, example = NETS[name]()
    return converted_model(model, example, **options), example


@pytest.fixture(scope="module", params=NETS_TO_TEST)
def lowered(request):
    made, example = converted(request.param, require_integer=True)
    ((program, blob),) = made.programs()
    return made, example, program, blob


def test_a_requantization_is_that_of_unlimited_integers():
    draw = random.Random(1)
    for _ in range(3000):
        size = 1 << draw.randrange(1, 48)
        accumulator, shift = draw.randrange(-size, size), draw.randrange(16, 63)
        multiplier = draw.choice([1 << draw.randrange(31), draw.randrange(1 << 31)])
        bias = draw.choice([1 << (shift - 1), draw.randrange(-(1 << 62), 1 << 62)])
        value, left = divmod(accumulator * multiplier + bias, 1 << shift)
        for rounding in (0, 1):
            expected = value - (value % 2 if rounding and left == 0 else 0)
            found = reference.requantize(
                *(torch.tensor(number) for number in (accumulator, multiplier, shift, bias)),
                rounding,
                torch.int16,
            )
            assert found.item() == expected


def test_accumulators_have_48_bits_and_shifts_are_16_or_more():
    check_range((1 << 47) - 1, 1, 0, INT16)
    with pytest.raises(NumberError, match="48 bits"):
        check_range(1 << 47, 1, 0, INT16)
    assert split_ratio(2.0**14, least_shift=INT16.least_shift) == (1 << 30, 16)
    with pytest.raises(NumberError, match="too large"):
        split_ratio(2.0**15, least_shift=INT16.least_shift)


# Largest errors in steps of the result for inputs up to 4 and 16, from
# docs/results/fixedpoint.md.
@pytest.mark.parametrize(
    ("function", "bounds"),
    [
        (torch.sigmoid, (1.01, 1.54)),
        (torch.tanh, (1.25, 6.60)),
        (functional.silu, (1.43, 1.12)),
        (functional.gelu, (1.03, 1.21)),
        (functional.elu, (1.01, 1.24)),
        (functional.leaky_relu, (1.01, 1.01)),
        (torch.abs, (1.01, 1.01)),
    ],
)
def test_an_interpolated_table_is_as_near_as_is_said(function, bounds):
    for largest, bound in zip((4.0, 16.0), bounds, strict=True):
        scale = largest / 32767
        exact = function(CODES.double() * scale)
        step = float(exact.abs().max()) / 32767
        step = 2.0**-15 if function in (torch.sigmoid, torch.tanh) else step
        table = make_table(function, symmetric(scale), symmetric(step))
        assert table[256] == round(float(function(torch.zeros((), dtype=torch.float64))) / step)
        found = reference.table(CODES.to(torch.int16), torch.from_numpy(table))
        assert float((found - exact / step).abs().max()) < bound


class OfOne(torch.nn.Module):
    """One function behind one value."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


LINES = {
    "relu": functional.relu,
    "relu6": functional.relu6,
    "clamp": lambda x: torch.clamp(x, -1.1, 0.7),
    "hardsigmoid": functional.hardsigmoid,
    "neg": torch.neg,
    "add": lambda x: x + 0.3,
    "sub": lambda x: x - 0.3,
    "rsub": lambda x: 0.3 - x,
    "mul": lambda x: x * -1.7,
    "div": lambda x: x / 3.1,
}


def through(function):
    """Result of the delegate on a ramp, the exact one, and the step of the result."""
    from fixedpoint import evaluate

    torch.manual_seed(1)
    x = torch.linspace(-4, 4, 4001)[None]
    made = converted_model(OfOne(function), (x,), require_integer=True)
    ((program, _),) = made.programs()
    made = [made for _, made in evaluate.steps(program, [x.numpy()])]
    scale = program.tensors[program.operations[0].output].scale
    exact = function(torch.from_numpy(made[0]).double() * scale)
    return program, torch.from_numpy(made[-1]).double(), exact, program.tensors[program.outputs[0]]


@pytest.mark.parametrize("name", LINES)
def test_a_straight_line_is_rounded_once(name):
    from fixedpoint.program import Kind

    program, found, exact, result = through(LINES[name])
    assert len(found.unique()) > 500
    assert [op.kind for op in program.operations] in (
        [Kind.QUANTIZE, Kind.MUL, Kind.DEQUANTIZE],
        [Kind.QUANTIZE, Kind.DEQUANTIZE],  # nothing but another scale
    )
    # A hard sigmoid's 1 is 32767/32768, a step off; 1e-3 allows for 31-bit multipliers.
    most = 1.0 if name == "hardsigmoid" else 0.5
    assert float((found - exact).abs().max()) <= (most + 1e-3) * result.scale


def test_a_hardswish_is_a_product_within_a_step():
    from fixedpoint.program import Kind

    program, found, exact, result = through(functional.hardswish)
    kinds = [op.kind for op in program.operations]
    assert kinds == [Kind.QUANTIZE, Kind.MUL, Kind.MUL, Kind.DEQUANTIZE]
    assert float((found - exact).abs().max()) <= 1.001 * result.scale


def test_steps_are_left_with_the_reason():
    from fixedpoint.partitioner import NotIntegerError

    model = OfOne(lambda x: torch.ops.aten.div.Scalar_mode(x, 0.5, rounding_mode="floor"))
    with pytest.raises(NotIntegerError, match="it has steps, which no interpolated table follows"):
        converted_model(model, (torch.randn(1, 8),), require_integer=True)


def test_every_tensor_has_the_reference_s_bits_on_every_instruction_set(lowered, library):
    _, example, program, blob = lowered
    check_every_tensor(library, program, blob, [x.numpy() for x in example])


def test_activations_are_int16_without_zero_points(lowered):
    _, _, program, _ = lowered
    boundary = {*program.inputs, *program.outputs}
    for index, tensor in enumerate(program.tensors):
        if tensor.data is None and index not in boundary:
            assert (tensor.dtype, tensor.zero_point) == ("int16", 0)


def test_outputs_are_near_the_quantized_graph_in_float64(lowered):
    from fixedpoint import evaluate
    from fixedpoint.float64 import run_float64

    made, example, program, _ = lowered
    found = evaluate.evaluate(program, [x.numpy() for x in example])
    exact = run_float64(made.quantized, *example)
    for index, values, reals in zip(program.outputs, found, exact, strict=True):
        # Tables are interpolated, and layers behind them add up what they miss: a few steps of
        # 32767. An int8 result has steps that are 256 times as large.
        distance = np.abs(values - reals.numpy()) / program.tensors[index].scale
        assert distance.max() < 12


@pytest.mark.parametrize("name", ["mobile", "attention"])
def test_the_unmodified_runtime_runs_it(name, library_path, tmp_path):
    from fixedpoint import evaluate

    made, example = converted(name, require_integer=True)
    ((program, _),) = made.programs()
    pte = made.edge.to_executorch().buffer
    outputs, _ = run_in_executorch(library_path, pte, example, tmp_path)
    expected = evaluate.evaluate(program, [x.numpy() for x in example])
    for found, values in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(found.numpy(), values)


def test_stripped_of_its_boundary_a_program_takes_and_gives_int16(library_path, tmp_path):
    from fixedpoint import evaluate
    from fixedpoint.convert import strip_boundary

    made, (example,) = converted("mobile", boundary="int8", require_integer=True)
    ((program, _),) = made.programs()
    pte = strip_boundary(made.edge).to_executorch().buffer
    source = program.tensors[program.inputs[0]]
    integers = (example / source.scale).round().to(torch.int16)
    ((found,), _) = run_in_executorch(library_path, pte, [integers], tmp_path)
    assert found.dtype == torch.int16
    np.testing.assert_array_equal(found, evaluate.evaluate(program, [integers.numpy()])[0])


def test_q_formats_have_16_bits_too(library):
    from fixedpoint import evaluate
    from fixedpoint.convert import convert, quantize
    from fixedpoint.program import Kind

    torch.manual_seed(1)
    model, example = NETS["mobile"]()
    quantized = quantize(
        model, example, [example], activations="int16", scales="power_of_two", fraction_bits=11
    )
    made = convert(quantized, bias="int32", rounding="half_even", require_integer=True)
    ((program, blob),) = made.programs()
    scales = {t.scale for t in program.tensors if t.data is None and t.dtype == "int16"}
    assert scales == {2.0**-11, 2.0**-14, 2.0**-15}  # the gates' are their own
    for op in program.operations:
        if op.kind is Kind.CONV2D:
            multipliers = program.tensors[op.inputs[2]].data.tolist()
            assert all(m.bit_count() == 1 for m in multipliers)
    inputs = [x.numpy() for x in example]
    (expected,) = evaluate.evaluate(program, inputs)
    for isa in library.isa_names():
        np.testing.assert_array_equal(library.run(program, blob, inputs, isa)[0], expected)


def test_assay_s_manifest_says_that_a_program_takes_int16(tmp_path):
    forward = methods_in_manifest(converted("mobile")[0].quantized, tmp_path)["forward"]
    for value in forward["inputs"] + forward["outputs"]:
        assert (value["dtype"], value["quantization"]["dtype"]) == ("int16", "int16")


def test_what_takes_one_type_and_makes_another_is_left_with_the_reason():
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

    from fixedpoint.convert import convert
    from fixedpoint.quantizer import FixedPointQuantizer
    from fixedpoint.specs import Options, make_specs

    class Mixed(FixedPointQuantizer):
        def annotate(self, model):
            super().annotate(model)
            wide = make_specs(Options("minmax", "any", None, "int16", 0)).activation
            for node in model.graph.nodes:
                if Q_ANNOTATION_KEY in node.meta:
                    node.meta[Q_ANNOTATION_KEY].output_qspec = wide
            return model

    example = (torch.randn(1, 6),)
    prepared = prepare_pt2e(
        torch.export.export(torch.nn.Linear(6, 4), example).module(), Mixed("minmax")
    )
    prepared(*example)
    made = convert(torch.export.export(convert_pt2e(prepared), example))
    assert "it takes int8 and makes int16" in made.reasons.values()


def test_more_headroom_is_a_larger_scale():
    from fixedpoint.observers import SymmetricMinMaxObserver

    options = {"dtype": torch.int16, "quant_min": -32767, "quant_max": 32767}
    options["qscheme"] = torch.per_tensor_symmetric
    scales = []
    for bits in (0, 1, 3):
        observer = SymmetricMinMaxObserver(headroom_bits=bits, **options)
        observer(torch.tensor([-3.0, 1.0]))
        scales.append(float(observer.calculate_qparams()[0]))
    np.testing.assert_allclose(scales, [3 / 32767, 6 / 32767, 24 / 32767])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"activations": "int4"}, "no activations 'int4'; there are int8, int16"),
        ({"headroom_bits": 1}, "headroom_bits are of zero points that are 0"),
    ],
)
def test_options_that_there_are_not(options, reason):
    from fixedpoint.quantizer import FixedPointQuantizer

    with pytest.raises(ValueError, match=reason):
        FixedPointQuantizer(**options)
