"""Evaluates a model, its float64 form and its quantized form on samples."""

from collections.abc import Sequence

import torch

from assay.toolchain.errors import JobError, Unsupported, readable_error
from assay.toolchain.stages import StageLog
from assay.toolchain.tensors import Sample, cast_sample, kept_buffers, run_module
from assay.toolchain.types import Evaluate, Model

Outputs = Sequence[torch.Tensor]


def evaluate(module: Evaluate, samples: Sequence[Sample]) -> list[Outputs]:
    """The flat tensor outputs for each sample."""
    return [run_module(module, sample) for sample in samples]


def evaluate_quantized(
    function: Evaluate, model: Model, samples: Sequence[Sample], stages: StageLog
) -> list[Outputs]:
    """`evaluate` of a quantized graph.

    Raises:
        JobError: in the stage "quantize", where the float model computes what its quantized
            graph cannot, or an operator's outputs have other shapes: that is the quantizer's
            fault, and no lack of a reference.
    """
    try:
        outputs = evaluate(function, samples)
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        evaluate(model.module, samples)
        with stages.stage("quantize"):
            why = f"the quantized graph cannot be evaluated: {readable_error(error)}"
            raise JobError(why, reason_code="quantize_failed") from error
    if model.sampled is not None:
        with kept_buffers(model.module):
            floats = evaluate(model.module, samples)
        _check_shapes(outputs, floats, stages)
    return outputs


def _check_shapes(
    quantized: Sequence[Outputs], floats: Sequence[Outputs], stages: StageLog
) -> None:
    for sample, both in enumerate(zip(quantized, floats, strict=True)):
        shapes = [[tuple(tensor.shape) for tensor in outputs] for outputs in both]
        if shapes[0] != shapes[1]:
            with stages.stage("quantize"):
                why = f"the quantized graph answers sample {sample} in the shapes {shapes[0]}, and "
                why += f"the float model in {shapes[1]}"
                raise JobError(why, reason_code="quantize_failed")


def evaluate_float64(
    model: Model, module: torch.nn.Module, samples: Sequence[Sample]
) -> list[Outputs]:
    """`module`, the model's or one with its layers, in float64, on the same inputs widened."""
    if model.exported is not None:
        raise Unsupported("an exported program has its types baked in; no float64 reference of it")
    widened = None if model.sampled is None else model.sampled.float64_module
    wide = module.double() if widened is None else widened
    return evaluate(wide, [cast_sample(sample, torch.float64) for sample in samples])
