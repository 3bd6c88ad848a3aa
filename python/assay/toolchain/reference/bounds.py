"""Bounds of error of a reference: what makes bounds.safetensors.

Against float64 a model that brings them has bounds of its own. Against a quantized network, a bound
is a quantization step of the output.
"""

from collections.abc import Sequence
from typing import Any

import torch

from assay.toolchain.graph.closure import closure
from assay.toolchain.graph.operators import dequantization, operator_name, output_nodes
from assay.toolchain.reference.evaluation import Outputs
from assay.toolchain.sampled_model import Bound, SampledModel
from assay.toolchain.tensors import Sample, cast_sample

STEPS = 1.01
"""Steps of an output's scale that an engine may be off: its own rounding, and a hair for float."""

_WHY_STEP = (
    "requantization may round to the neighbour; the hundredth is float arithmetic of eager, and "
    "each side rounds to the output's type"
)
_WHY_INPUT = "quantized inputs, float output: an input may be rounded to its neighbour"

_WHY_GUESS = (
    "quantized, and nobody tells the step: that of the values' grid, or the largest by 127; twice "
    "the rounding of the float operator"
)
LEVELS = 127
_GRID, _OFF_GRID = 1e-3, 0.02
"""The least step of a grid as a share of the largest value; how far a value may be off it."""

MARKS = ("constant", "unchanged")
"""Marks of an output in its rule: it is alike for any input; it is an input, unchanged."""


def float64_bounds(
    sampled: SampledModel,
    samples: Sequence[Sample],
    own: Sequence[Outputs],
    exact: Sequence[Outputs],
) -> list[list[Bound]]:
    """Lists for each sample the bounds of its outputs against float64.

    `own`: what the module answers in its own types; `exact`: what its float64 form does.
    """
    assert sampled.bound is not None
    return [sampled.bound(*parts) for parts in zip(samples, own, exact, strict=True)]


def step_bounds(
    sampled: SampledModel,
    quantized: torch.nn.Module,
    samples: Sequence[Sample],
    outputs: Sequence[Outputs],
) -> list[list[Bound]] | None:
    """Lists for each sample the bounds of its outputs against the quantized network.

    `quantized`: a graph that tells the steps, or a module that tells nothing, as where the lowered
    program is quantized. None if the model has no bounds for what stays float.
    """
    if sampled.bound is None:
        return None
    assert sampled.float64_module is not None
    floats = []
    for sample in samples:
        with torch.no_grad():
            own = sampled.module(*sample)
            exact = sampled.float64_module(*cast_sample(sample, torch.float64))
        floats.append(sampled.bound(sample, own, exact))
    is_graph = isinstance(quantized, torch.fx.GraphModule)
    nodes = output_nodes(quantized.graph) if is_graph else [None] * len(floats[0])
    by_output = [
        _bounds_of_output(node, [one[place] for one in floats], [one[place] for one in outputs])
        for place, node in enumerate(nodes)
    ]
    return [list(of_sample) for of_sample in zip(*by_output, strict=True)]


def _bounds_of_output(
    node: torch.fx.Node | None, floats: Sequence[Bound], answers: Outputs
) -> list[Bound]:
    """The bounds of one output in each sample; `floats` are those of the float operator.

    These themselves, around float64, where nothing is quantized on the way.
    """
    scale = None if node is None else _scale(node)
    if scale is not None:
        rule = {"rule": "steps", "units": STEPS, "scale": scale, "why": _WHY_STEP}
        return [
            _around(a, STEPS * scale + _rounding(a), f, rule)
            for f, a in zip(floats, answers, strict=True)
        ]
    ancestors = [] if node is None else list(closure([node], lambda one: one.all_input_nodes))
    above = max((s for s in map(_scale, ancestors) if s is not None), default=None)
    if above is not None:
        rule = {"rule": "steps", "units": STEPS, "scale": above, "why": _WHY_INPUT}
        return [
            _around(a, 2 * f.limit + STEPS * above, f, rule)
            for f, a in zip(floats, answers, strict=True)
        ]
    is_known_float = node is not None and not any(map(_is_quantizing, ancestors))
    if is_known_float or all(map(_is_float_answer, answers, floats)):
        return list(floats)
    step = guess_step(answers)
    rule = {"rule": "steps", "units": STEPS, "scale": step, "why": _WHY_GUESS}
    return [
        _around(a, 2 * f.limit + STEPS * step + _rounding(a), f, rule)
        for f, a in zip(floats, answers, strict=True)
    ]


def _around(
    answer: torch.Tensor, limit: torch.Tensor, floating: Bound, rule: dict[str, Any]
) -> Bound:
    """A bound around an answer, with what the float operator's says of the output's nature."""
    marks = {mark: True for mark in MARKS if floating.rule.get(mark)}
    return Bound(answer, torch.as_tensor(limit).double().expand(answer.shape), {**rule, **marks})


def _is_quantizing(node: torch.fx.Node) -> bool:
    name = operator_name(node.target)
    return name.startswith(("quantized_decomposed.", "torchao."))


def _is_float_answer(answer: torch.Tensor, floating: Bound) -> bool:
    """True if an answer is that of the float operator: quantization moves it out of its bounds."""
    answer, expected = answer.double(), floating.expected.double()
    is_same = (answer == expected) | (answer.isnan() & expected.isnan())
    is_near = (answer - expected).abs() <= floating.limit
    return bool((is_same | is_near).all())


def guess_step(answers: Outputs) -> float:
    """A quantization step of an output that nobody tells, from its values in all samples.

    The distance of neighbours where the values lie on a grid, as those of a quantized output do;
    else that of eight bits over the largest magnitude. Calibration may have seen twice of that.
    """
    values = torch.cat([answer.double().reshape(-1) for answer in answers])
    values = values[values.isfinite()].unique()
    largest = float(values.abs().max()) if values.numel() else 0.0
    eighth = largest / LEVELS
    gaps = values.diff()
    step = float(gaps.min()) if gaps.numel() else 0.0
    if step > largest * _GRID:
        places = values / step
        if bool(((places - places.round()).abs() < _OFF_GRID).all()):
            return min(step, 2 * eighth)
    return eighth


def _rounding(answer: torch.Tensor) -> torch.Tensor:
    """Largest distance of two roundings of one number to the answer's type; 0 for infinities."""
    if not answer.is_floating_point():
        return torch.zeros(answer.shape, dtype=torch.float64)
    largest = answer.double().abs() * torch.finfo(answer.dtype).eps
    return torch.where(answer.isfinite(), largest, 0.0)


def _scale(node: torch.fx.Node) -> float | None:
    quantized = dequantization(node)
    return None if quantized is None else float(quantized["scale"])


def rules_from_bounds(bounds: Sequence[Sequence[Bound]]) -> list[dict[str, Any]]:
    """The rule of each output, for the reference's document."""
    return [bound.rule for bound in bounds[0]]
