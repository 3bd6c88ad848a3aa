"""Data-dependent initialization of random weights, so that outputs are well conditioned.

Networks with their initial weights often answer (almost) zero, or the same to every input; a
comparison of such outputs passes whatever the program does. The rules here look at parameters and
activations, never at a model's name: re-draw what is zero and multiplies, settle the statistics of
normalization, and where that is not enough center and scale each layer by its response to inputs.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.modules.batchnorm import _BatchNorm

from assay.toolchain.files import number
from assay.toolchain.models.inputs import generate_sample
from assay.toolchain.tensors import Sample, run_module
from assay.toolchain.types import InputSet, InputSpec

MIN_RMS, MAX_RMS = 0.01, 100.0
"""Outputs outside of this range are unhealthy."""

MIN_DIFFERENCE_RATIO = 0.1
"""Outputs of two inputs must differ by this share of their rms."""

SMALL_SCALE = 1e-3
"""A constant factor up to this size keeps its branch out of the output (layer scale)."""

SETTLE_BATCHES, SETTLE_BATCH_SIZE = 4, 4
_LAYERS = (torch.nn.Linear, torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)
_SEED_OFFSET = 0x48454154  # keeps these inputs apart from any a request would name


def initialize_weights(
    module: torch.nn.Module, inputs: Sequence[InputSpec], *, seed: int
) -> list[dict[str, Any]]:
    """Initializes the module's weights from data in place, deterministically for a seed.

    Returns:
        What was done, in order: [{"step": …, …}]. Empty when nothing had to be.
    """
    steps: list[dict[str, Any]] = []
    _add(steps, redraw_zero_factors(module, seed=seed))
    _add(steps, settle_batch_norm(module, inputs, seed=seed))
    if not measure_outputs(module, inputs, seed=seed)["is_healthy"]:
        _add(steps, center_layers(module, inputs, seed=seed))
        _add(steps, settle_batch_norm(module, inputs, seed=seed))
    return steps


def measure_outputs(
    module: torch.nn.Module, inputs: Sequence[InputSpec], *, seed: int
) -> dict[str, Any]:
    """Answers of the module to two random inputs.

    Returns:
        {is_healthy, reason|None, output_rms, output_abs_max, difference_rms}: root mean square and
        largest magnitude over all floating outputs for one input, and the root mean square of
        the difference to the outputs for another.
    """
    return measure_samples(module, _settle_samples(inputs, seed, count=2))


def measure_samples(module: torch.nn.Module, samples: Sequence[Sample]) -> dict[str, Any]:
    """`measure_outputs` with two samples given."""
    first, second = (_outputs(module, sample) for sample in samples)
    if first.shape != second.shape:  # the values decide how many there are
        second = torch.zeros_like(first)
    rms, difference = _rms(first), _rms(first - second)
    peak = float(first.abs().max()) if first.numel() else 0.0
    reason = _complaint(first, rms, difference)
    return {
        "is_healthy": reason is None,
        "reason": reason,
        "output_rms": number(rms),
        "output_abs_max": number(peak),
        "difference_rms": number(difference),
    }


def redraw_zero_factors(module: torch.nn.Module, *, seed: int) -> dict[str, Any] | None:
    """Re-draws parameters that multiply and are constant and (almost) zero.

    A parameter is taken when all of its elements are equal, at most `SMALL_SCALE` in magnitude,
    and its name does not end in "bias". A matrix (two dimensions larger than one) becomes normal
    with variance 1/fan-in, anything else a factor uniform in [0.5, 1.5].
    """
    random = torch.Generator().manual_seed(seed + _SEED_OFFSET)
    redrawn = []
    for name, parameter in module.named_parameters():
        if name.endswith("bias") or not _is_small_constant(parameter):
            continue
        with torch.no_grad():
            parameter.copy_(_draw_factor(parameter.shape, random))
        redrawn.append(name)
    return {"step": "redraw_zero_factors", "parameters": redrawn} if redrawn else None


def settle_batch_norm(
    module: torch.nn.Module, inputs: Sequence[InputSpec], *, seed: int
) -> dict[str, Any] | None:
    """Gives batch normalization the statistics of random inputs.

    Resets the running statistics, averages (momentum None) over `SETTLE_BATCHES` batches with
    only the normalization layers in training mode, so dropout stays off.
    """
    layers = [layer for layer in module.modules() if _has_statistics(layer)]
    if not layers:
        return None
    with _training(layers), torch.no_grad():
        for batch in _settle_samples(_batched(inputs), seed + 1, count=SETTLE_BATCHES):
            module(*batch)
    return {"step": "settle_batch_norm", "layers": len(layers), "batches": SETTLE_BATCHES}


def center_layers(
    module: torch.nn.Module, inputs: Sequence[InputSpec], *, seed: int
) -> dict[str, Any] | None:
    """Makes each convolution and linear layer answer inputs with zero mean and unit spread.

    In one forward pass, each layer in turn has the mean of its channels taken out of its bias
    (where it has one) and is divided by the spread of its output across different inputs.
    Source: Krähenbühl et al., Data-dependent initializations of convolutional neural networks,
    2016; differs in: one factor a layer, its spread taken over inputs and not over positions.
    """
    centered: list[torch.nn.Module] = []
    layers = [layer for layer in module.modules() if type(layer) in _LAYERS]
    hooks = [layer.register_forward_hook(_centering_hook(centered)) for layer in layers]
    try:
        batch = _settle_samples(_batched(inputs), seed + 2, count=1)[0]
        with torch.no_grad():
            module(*batch)
    finally:
        for hook in hooks:
            hook.remove()
    return {"step": "center_layers", "layers": len(centered)} if centered else None


def _centering_hook(centered: list[torch.nn.Module]) -> Any:
    """A hook that rewrites a layer at its first call and corrects the output it has just made."""

    def hook(layer: Any, _: Any, output: torch.Tensor) -> torch.Tensor:
        if layer in centered or output.shape[0] < 2:
            return output
        spread = float(output.std(dim=0).square().mean().sqrt())
        if not math.isfinite(spread) or spread == 0.0:
            return output
        centered.append(layer)
        layer.weight.div_(spread)
        if layer.bias is None:
            return output / spread
        channel = -1 if isinstance(layer, torch.nn.Linear) else 1
        others = [axis for axis in range(output.dim()) if axis != channel % output.dim()]
        mean = output.mean(dim=others, keepdim=True)
        layer.bias.sub_(mean.reshape(-1)).div_(spread)
        return (output - mean) / spread

    return hook


def _has_statistics(layer: torch.nn.Module) -> bool:
    return isinstance(layer, _BatchNorm) and layer.track_running_stats


@contextmanager
def _training(layers: Iterable[Any]) -> Iterator[None]:
    """The layers with fresh statistics, averaging, in training mode; restored afterwards."""
    before = [(layer, layer.momentum, layer.training) for layer in layers]
    for layer, _, _ in before:
        layer.reset_running_stats()
        layer.momentum = None
        layer.train()
    try:
        yield
    finally:
        for layer, momentum, training in before:
            layer.momentum = momentum
            layer.train(training)


def _settle_samples(inputs: Sequence[InputSpec], seed: int, *, count: int) -> list[Sample]:
    source = InputSet("normal", seed=seed + _SEED_OFFSET)
    return [generate_sample(source, inputs, index) for index in range(count)]


def _batched(inputs: Sequence[InputSpec]) -> list[InputSpec]:
    """The inputs with a batch where their first dimension is one, as they are otherwise."""
    if any(not spec.shape or spec.shape[0] != 1 for spec in inputs):
        return list(inputs)
    batch = SETTLE_BATCH_SIZE
    return [InputSpec((batch, *spec.shape[1:]), spec.dtype, spec.low, spec.high) for spec in inputs]


def _outputs(module: torch.nn.Module, sample: Sample) -> torch.Tensor:
    """All floating outputs for a sample, flat, in float64."""
    floating = [t for t in run_module(module, sample) if t.is_floating_point()]
    return torch.cat([t.reshape(-1).double() for t in floating] or [torch.zeros(0)])


def _complaint(outputs: torch.Tensor, rms: float, difference: float) -> str | None:
    if not outputs.numel():
        return "the model has no floating outputs to judge"
    if not bool(outputs.isfinite().all()):
        return "the outputs are not finite"
    if not MIN_RMS <= rms <= MAX_RMS:
        return f"the outputs' rms {rms:.3g} is outside of [{MIN_RMS}, {MAX_RMS}]"
    if difference < MIN_DIFFERENCE_RATIO * rms:
        return f"two inputs change the outputs by rms {difference:.3g} only, of {rms:.3g}"
    return None


def _rms(values: torch.Tensor) -> float:
    return math.sqrt(float(values.square().mean())) if values.numel() else 0.0


def _is_small_constant(parameter: torch.Tensor) -> bool:
    if not parameter.is_floating_point() or not parameter.numel():
        return False
    low, high = parameter.detach().aminmax()
    return bool(low == high) and abs(float(low)) <= SMALL_SCALE


def _draw_factor(shape: torch.Size, random: torch.Generator) -> torch.Tensor:
    if sum(size > 1 for size in shape) >= 2:
        fan_in = math.prod(shape[1:])
        return torch.randn(shape, generator=random) / math.sqrt(fan_in)
    return torch.rand(shape, generator=random) + 0.5


def _add(steps: list[dict[str, Any]], step: dict[str, Any] | None) -> None:
    if step is not None:
        steps.append(step)
