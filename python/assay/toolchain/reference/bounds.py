"""Bounds of error beside a reference: what makes bounds.safetensors.

Against float64 a model that brings them has bounds of its own. Against a quantized graph, a bound
is a quantization step of the output.
"""

from collections.abc import Sequence
from typing import Any

import torch

from assay.toolchain.graph.operators import closure, dequantization, output_nodes
from assay.toolchain.sampled_model import Bound, SampledModel
from assay.toolchain.tensors import Sample, cast_sample

STEPS = 1.01
"""Steps of an output's scale that an engine may be off: its own rounding, and a hair for float."""

_WHY_STEP = (
    "requantization may round to the neighbour; the hundredth is float arithmetic of eager, and "
    "each side rounds to the output's type"
)
_WHY_INPUT = "quantized inputs, float output: an input may be rounded to its neighbour"

Outputs = Sequence[torch.Tensor]


def float64_bounds(
    sampled: SampledModel,
    samples: Sequence[Sample],
    own: Sequence[Outputs],
    exact: Sequence[Outputs],
) -> list[list[Bound]]:
    """For each sample the bounds of its outputs against float64.

    `own`: what the module answers in its own types; `exact`: what its float64 form does.
    """
    assert sampled.bound is not None
    return [sampled.bound(*parts) for parts in zip(samples, own, exact, strict=True)]


def step_bounds(
    sampled: SampledModel,
    graph: torch.nn.Module,
    samples: Sequence[Sample],
    outputs: Sequence[Outputs],
) -> list[list[Bound]] | None:
    """For each sample the bounds of its outputs against the quantized graph.

    None where the quantized module is no graph, or the model has no bounds for what stays float.
    """
    if not isinstance(graph, torch.fx.GraphModule) or sampled.bound is None:
        return None
    nodes = output_nodes(graph.graph)
    assert sampled.float64_module is not None
    bounds = []
    for sample, answers in zip(samples, outputs, strict=True):
        with torch.no_grad():
            own = sampled.module(*sample)
            exact = sampled.float64_module(*cast_sample(sample, torch.float64))
        floats = sampled.bound(sample, own, exact)
        bounds.append([_step_bound(*parts) for parts in zip(nodes, floats, answers, strict=True)])
    return bounds


def _step_bound(node: torch.fx.Node, floating: Bound, answer: torch.Tensor) -> Bound:
    """The bound of one output of a quantized graph; `floating` is that of the float operator.

    `floating` itself, around float64, where nothing is quantized on the way.
    """
    scale = _scale(node)
    if scale is not None:
        rule = {"rule": "steps", "units": STEPS, "scale": scale, "why": _WHY_STEP}
        return Bound(answer, STEPS * scale + _rounding(answer), rule)
    ancestors = closure(node.all_input_nodes, lambda source: source.all_input_nodes)
    above = max((s for s in map(_scale, ancestors) if s is not None), default=None)
    if above is None:
        return floating
    rule = {"rule": "steps", "units": STEPS, "scale": above, "why": _WHY_INPUT}
    return Bound(answer, 2 * floating.limit + STEPS * above, rule)


def _rounding(answer: torch.Tensor) -> torch.Tensor:
    """How far two roundings of one number to the answer's type may lie apart; 0 for infinities."""
    largest = answer.double().abs() * torch.finfo(answer.dtype).eps
    return torch.where(answer.isfinite(), largest, 0.0)


def _scale(node: torch.fx.Node) -> float | None:
    quantized = dequantization(node)
    return None if quantized is None else float(quantized["scale"])


def rules_from_bounds(bounds: Sequence[Sequence[Bound]]) -> list[dict[str, Any]]:
    """For the reference's document: each output's rule."""
    return [bound.rule for bound in bounds[0]]
