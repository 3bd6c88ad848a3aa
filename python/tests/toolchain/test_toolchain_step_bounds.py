"""Bounds against a quantized network whose steps nobody tells."""

import operator

import pytest
import torch

from assay.toolchain.reference.bounds import guess_step, step_bounds
from assay.toolchain.sampled_model import Bound, SampledModel


class Doubles(torch.nn.Module):
    def forward(self, x):
        return (x * 2,)


def sampled(limit=1e-6):
    def bound(sample, own, exact):
        return [
            Bound(exact[0], torch.full(exact[0].shape, limit, dtype=torch.float64), {"rule": "ulp"})
        ]

    module = Doubles()
    return SampledModel(module, lambda seed, index: (), module, bound)


SAMPLES = [(torch.linspace(-3, 3, 50) + index / 7,) for index in range(3)]


def answers(change=lambda y: y):
    return [[change(x * 2)] for (x,) in SAMPLES]


def test_an_operator_that_was_left_alone_has_its_float_bounds():
    bounds = step_bounds(sampled(), Doubles(), SAMPLES, answers())
    assert {one[0].rule["rule"] for one in bounds} == {"ulp"}


def test_an_output_on_a_grid_has_the_step_of_the_grid():
    step = 0.0625
    bounds = step_bounds(
        sampled(), Doubles(), SAMPLES, answers(lambda y: (y / step).round() * step)
    )
    assert bounds[0][0].rule["scale"] == pytest.approx(step)
    assert float(bounds[0][0].limit.max()) < 1.1 * step


def test_any_other_output_has_a_step_of_eight_bits_over_its_largest_value():
    noisy = [[y + 0.01 * torch.sin(40 * y)] for ((y,),) in zip(answers(), strict=True)]
    step = guess_step([y for (y,) in noisy])
    assert step == pytest.approx(max(float(y.abs().max()) for (y,) in noisy) / 127)
    (one,) = step_bounds(sampled(), Doubles(), SAMPLES, noisy)[0]
    assert float(one.limit.max()) < 0.02 * float(one.expected.abs().max())


def test_a_graph_that_quantizes_dynamically_is_held_by_steps_and_not_by_float_bounds():
    from torch.fx import Graph, GraphModule

    graph = Graph()
    x = graph.placeholder("x")
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  # Registers the operators.

    op = torch.ops.quantized_decomposed.choose_qparams.tensor
    graph.call_function(op, (x, -128, 127, 1e-5, torch.int8))
    params = next(iter(reversed(list(graph.nodes))))
    scale = graph.call_function(operator.getitem, (params, 0))
    y = graph.call_function(torch.ops.aten.mul.Tensor, (x, scale))
    graph.output((y,))
    module = GraphModule(torch.nn.Module(), graph)
    quantized = answers(lambda y: y + 0.01 * torch.sin(40 * y))
    (one,) = step_bounds(sampled(), module, SAMPLES, quantized)[0]
    assert one.rule["rule"] == "steps"
    assert torch.equal(one.expected, quantized[0][0])


def test_marks_of_the_operator_are_kept():
    model = sampled()
    plain = model.bound

    def marked(*parts):
        return [Bound(b.expected, b.limit, {**b.rule, "unchanged": True}) for b in plain(*parts)]

    model = SampledModel(model.module, model.make_sample, model.float64_module, marked)
    bounds = step_bounds(model, Doubles(), SAMPLES, answers(lambda y: (y * 16).round() / 16))
    assert bounds[0][0].rule["unchanged"] is True
