"""Operators that stay in floating point, with reasons; unusual ones that the delegate takes."""

import pytest
import torch
from fixedpoint_checks import check_delegates, check_near, lower_any, run_all, run_quantized
from torch.nn import functional

pytest.importorskip("executorch")
pytestmark = pytest.mark.engine
LAST = torch.channels_last


class Refused(torch.nn.Module):
    """Operators that rules refuse, each behind one that is quantized."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Conv2d(3, 4, 3), torch.nn.Conv2d(4, 4, 1)
        self.line, self.same = torch.nn.Linear(6, 6), torch.nn.Conv1d(4, 4, 3, padding="same")
        self.norm = torch.nn.LayerNorm(20000)
        self.register_buffer("low", torch.tensor(-0.5))
        self.register_buffer("high", torch.linspace(0.1, 0.5, 6))

    def forward(self, image, long, mask, pixels):
        x = functional.relu(self.first(image))
        rows = functional.relu(self.line(x))
        return (
            torch.clamp(self.line(x), self.low, self.high),
            functional.adaptive_avg_pool2d(x, (4, 5)),
            rows @ functional.relu(rows + 1)[:1, :1],
            self.same(rows[:, :, 0]),
            functional.max_pool2d(functional.relu(x[0]), 2),
            self.norm(functional.relu(long)),
            self.line(pixels.float() / 255),
            (rows + (1 - mask.float()) * -1e4).softmax(-1),
            functional.relu(rows.half().float() + 1),
            x.view(2, 4, 2, 3, 1, 2, 3).unsqueeze(0).permute(7, 3, 5, 1, 6, 2, 4, 0).reshape(3, -1),
            self.second(torch.cumsum(x, 1)),
            torch.softmax(rows, -1, dtype=torch.float64).float(),
        )


REASONS = {
    "clamp": "its result is not quantized",
    "adaptive_avg_pool2d": "its windows differ in size",
    "matmul|bmm": "its matrices do not come in pairs",
    "convolution": "its padding is 'same'",
    "max_pool2d": "it pools over no image",
    "layer_norm": "more than 16384",
    "to_dim_order": "its input is not quantized",
}


def test_what_no_rule_takes_stays_in_float_and_the_program_runs(library, library_path, tmp_path):
    torch.manual_seed(1)
    example = (
        torch.randn(2, 3, 8, 8),
        torch.randn(1, 20000),
        torch.rand(2, 1, 1, 6) < 0.5,
        torch.randint(0, 255, (2, 6), dtype=torch.uint8),
    )
    made = lower_any(Refused(), example)
    assert check_delegates(made, library)
    reasons = "\n".join(f"{name}: {reason}" for name, reason in made.reasons.items())
    for expected in REASONS.values():
        assert expected in reasons, reasons
    outputs = run_all(library_path, tmp_path, {"net": (made, [example])})["net"]
    check_near(outputs, run_quantized(made, [example]))


def test_an_infinite_bias_is_a_reason():
    from fixedpoint.convert import convert, quantize

    torch.manual_seed(1)
    model, example = torch.nn.Conv2d(3, 4, 1), (torch.randn(1, 3, 4, 4),)
    quantized = quantize(model, example, [example])
    with torch.no_grad():
        quantized.state_dict["bias"][1] = torch.inf
    made = convert(quantized)
    assert "OverflowError" in "".join(made.reasons.values())
    assert not made.programs()


class Taken(torch.nn.Module):
    """Windows in the padding alone, a mean over everything, images that lie channels last."""

    def __init__(self):
        super().__init__()
        self.wide = torch.nn.Conv2d(3, 8, 1, padding=1)
        self.tall = torch.nn.Conv2d(8, 4, (5, 3), padding=4, stride=3)
        self.row = torch.nn.Conv1d(4, 4, 1, padding=2)

    def forward(self, x):
        wide = functional.relu(self.wide(x))
        tall = self.tall(wide)
        pooled = functional.adaptive_avg_pool2d(wide, (2, 5))
        padded = functional.pad(wide, (0, 1, 0, 1), value=-torch.inf)
        rows = self.row(tall.flatten(2))
        moved = tall.contiguous(memory_format=LAST)
        maxima = functional.max_pool2d(padded, 3, 2)
        return rows, pooled, maxima, moved, functional.relu(tall.mean()) * 2


@pytest.mark.parametrize("kind", ["int8", "int16"])
def test_unusual_sizes_and_layouts_are_taken_whole(kind, library, library_path, tmp_path):
    torch.manual_seed(1)
    example = (torch.randn(2, 3, 8, 8).to(memory_format=LAST),)
    options = {"activations": kind, "observer": "minmax"}
    made = lower_any(Taken(), example, lowering={"require_integer": True}, **options)
    ((program, _),) = check_delegates(made, library)
    assert program.tensors[program.inputs[0]].order == (0, 2, 3, 1)
    orders = [program.tensors[index].order for index in program.outputs]
    assert (0, 2, 3, 1) in orders
    (outputs,) = run_all(library_path, tmp_path, {"net": (made, [example])})["net"]
    (expected,) = run_quantized(made, [example])
    check_near([outputs], [expected], bound=0.02)
    assert all(x.stride() == y.stride() for x, y in zip(outputs, expected, strict=True))


class Ring(torch.nn.Module):
    """Holds the last four tokens and the last four values, written through slices."""

    def __init__(self):
        super().__init__()
        self.register_buffer("ids", torch.tensor([[1, 2, 3, 4]]))
        self.register_buffer("values", torch.zeros(1, 4, 3))
        self.register_buffer("hidden", torch.zeros(1, 4, dtype=torch.bool))
        self.register_buffer("weights", torch.randn(4, 12))
        self.words, self.line = torch.nn.Embedding(9, 8), torch.nn.Linear(32, 4)

    def forward(self, token, value):
        self.ids[:, :-1] = self.ids[:, 1:].clone()
        self.ids[:, -1:] = token
        self.values[:, :-1] = self.values[:, 1:].clone()
        self.values[:, -1] = value
        self.hidden[:, 1:2] = token > 4
        self.weights[:, :] = value.repeat(4, 4)
        scores = self.line(self.words(self.ids).flatten(1))
        shares = scores.masked_fill(self.hidden, -1e9).softmax(-1)
        return shares, functional.linear(self.values.flatten(1), self.weights), scores


def test_buffers_that_are_written_through_slices_stay_state(library_path, tmp_path):
    torch.manual_seed(1)
    calls = [(torch.tensor([[i]]), torch.randn(1, 3)) for i in (5, 2, 7, 8, 1, 3)]
    made = lower_any(Ring(), calls[0], calls)
    outputs = run_all(library_path, tmp_path, {"net": (made, calls)})["net"]
    # ExecuTorch begins with zeros, so that both are in one state after four calls.
    check_near(outputs[4:], run_quantized(made, calls)[4:], bound=0.05)
    assert len({tuple(scores.flatten().tolist()) for _, _, scores in outputs}) == len(calls)


def test_what_is_written_to_in_part_is_not_quantized_before(library_path, tmp_path):
    torch.manual_seed(1)

    class Written(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = torch.nn.Conv2d(3, 4, 3), torch.nn.Conv2d(4, 4, 3)

        def forward(self, x):
            y = self.first(x)
            y[:, :, 0] = 3
            return self.second(y)

    model, example = Written(), (torch.randn(1, 3, 8, 8),)
    made = lower_any(model, example)
    with torch.no_grad():
        expected = model(*example)
    check_near(run_quantized(made, [example]), [[expected]])
    check_near(run_all(library_path, tmp_path, {"net": (made, [example])})["net"], [[expected]])


def test_a_layer_of_16_bits_is_judged_by_its_true_scales():
    torch.manual_seed(1)
    layer = torch.nn.Conv1d(1, 4, 3)
    with torch.no_grad():
        layer.weight *= 1e-5
    example = (torch.randn(1, 1, 64) * 20000,)
    lower_any(layer, example, lowering={"require_integer": True}, activations="int16")


def test_shuffled_pixels_of_an_open_width_are_quantized_around():
    from torch.export import Dim, export
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    from fixedpoint.quantizer import FixedPointQuantizer

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 1), torch.nn.PixelShuffle(2))
    example = (torch.randn(1, 3, 4, 6),)
    captured = export(model, example, dynamic_shapes=({3: Dim("width", min=2, max=64)},)).module()
    prepared = prepare_pt2e(captured, FixedPointQuantizer())
    prepared(*example)
    assert convert_pt2e(prepared)(torch.randn(1, 3, 4, 8)).shape == (1, 1, 8, 16)


@pytest.mark.parametrize("columns", [2, 4, 8])
def test_a_short_layer_norm_is_that_of_the_quantized_graph(columns):
    from fixedpoint import evaluate
    from fixedpoint.float64 import run_float64

    torch.manual_seed(1)
    model = torch.nn.LayerNorm(columns, eps=1e-3)
    rows = torch.randn(200, columns)
    rows[100:] = rows[100:, :1] + 0.01 * torch.randn(100, columns)
    made = lower_any(model, (rows,), lowering={"require_integer": True})
    ((program, _),) = made.programs()
    (found,), (exact,) = (
        evaluate.evaluate(program, [rows.numpy()]),
        run_float64(made.quantized, rows),
    )
    step = program.tensors[program.outputs[0]].scale
    assert float((exact - torch.from_numpy(found)).abs().max()) < 1.5 * step


def test_the_epsilon_of_short_rows_has_bits_of_fraction():
    from fixedpoint.integer_types import INT8, INT16
    from fixedpoint.numbers import check_epsilon, layer_norm_epsilon

    for columns in (1, 2, 7, 64, 1000, 1 << 14):
        for kind in (INT8, INT16):
            for scale in (2.0**-9, 0.013, 0.7, 30.0):
                added, bits = layer_norm_epsilon(1e-5, columns, scale, kind)
                check_epsilon(added, bits, columns, kind)
                real = 1e-5 * (columns / scale) ** 2
                if kind is INT8 and columns <= 64:
                    # Beside the smallest spread that a row has, columns - 1, or alone.
                    assert abs(added / 4**bits - real) < 1e-3 * (real + max(1, columns - 1))


def test_wide_inputs_of_16_bits_leave_sigmoid_and_tanh_their_bends():
    from fixedpoint import evaluate

    torch.manual_seed(1)

    class Both(torch.nn.Module):
        def forward(self, x):
            return torch.tanh(x), torch.sigmoid(x)

    x = torch.cat([torch.linspace(-8, 8, 999), torch.tensor([-200.0, 200.0])])[None]
    options = {"activations": "int16", "observer": "minmax", "headroom_bits": 1}
    made = lower_any(Both(), (x,), lowering={"require_integer": True}, **options)
    ((program, _),) = made.programs()
    scale = program.tensors[program.operations[0].output].scale
    seen = torch.round(x.double() / scale) * scale
    for found, real in zip(
        evaluate.evaluate(program, [x.numpy()]), (seen.tanh(), seen.sigmoid()), strict=True
    ):
        assert float((real - torch.from_numpy(found)).abs().max()) < 40 * 2.0**-15
