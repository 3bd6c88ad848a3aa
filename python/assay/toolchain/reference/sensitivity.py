"""The loss of float32 itself in a network: the measure of the bounds for engines that are right."""

from collections.abc import Sequence

import torch

from assay.toolchain.reference.evaluation import Outputs
from assay.toolchain.tensors import Sample, cast_sample, run_module

SAMPLES = 2
"""Enough samples to say how sensitive a network is; float64 takes several times as long."""

MOST_PARAMETERS = 1 << 28
"""Larger networks are not evaluated in float64: their weights alone would take 2 GiB more."""

Sensitivity = dict[str, float]


def evaluate_wide(module: torch.nn.Module, samples: Sequence[Sample]) -> list[Outputs]:
    """The outputs of the first samples in float64; none where the module cannot compute in it.

    Leaves the module in float64.
    """
    if sum(parameter.numel() for parameter in module.parameters()) > MOST_PARAMETERS:
        return []
    try:
        wide = module.double()
        return [
            run_module(wide, cast_sample(sample, torch.float64)) for sample in samples[:SAMPLES]
        ]
    except (AssertionError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError):
        return []  # Types are written into it.


def measure_sensitivity(
    own: Sequence[Outputs], exact: Sequence[Outputs]
) -> list[Sensitivity | None]:
    """Computes for each output its errors against `exact`, over the first samples.

    None for what is not computed in float32, and where there is nothing to compare.
    """
    count = min(SAMPLES, len(own), len(exact))
    if count == 0 or len(own[0]) != len(exact[0]):
        return []
    return [
        _errors([of[index] for of in own[:count]], [of[index] for of in exact[:count]])
        for index in range(len(own[0]))
    ]


def _errors(own: Outputs, exact: Outputs) -> Sensitivity | None:
    """The metrics relative_l2_error and scaled_max_error, as docs/reference/metrics.md has them."""
    pairs = list(zip(own, exact, strict=True))
    if any(a.dtype != torch.float32 or a.shape != b.shape for a, b in pairs):
        return None
    found = torch.cat([a.double().reshape(-1) for a, _ in pairs])
    wanted = torch.cat([b.double().reshape(-1) for _, b in pairs])
    is_finite = found.isfinite() & wanted.isfinite()
    size, off = wanted[is_finite].abs(), (found - wanted)[is_finite].abs()
    if not bool(size.any()):
        return None
    rms = size.square().mean().sqrt()
    return {
        "relative_l2_error": float(off.norm() / size.norm()),
        "scaled_max_error": float((off / size.clamp(min=float(rms))).max()),
    }
