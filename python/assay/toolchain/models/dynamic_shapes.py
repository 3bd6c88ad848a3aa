"""Dimensions that a model leaves open, as torch.export takes them."""

import inspect
from typing import Any

import torch
from torch.export import Dim

from assay.toolchain.sampled_model import SampledModel


def dynamic_shapes(module: torch.nn.Module, sampled: SampledModel | None) -> Any:
    """The dynamic_shapes of torch.export for the model's open dimensions; None without any."""
    if sampled is None or not any(sampled.dynamic):
        return None
    names: dict[str, Any] = {}
    for places in sampled.dynamic:
        for dimension in places.values():
            dim = Dim(dimension.name, min=dimension.least, max=dimension.most)
            names.setdefault(dimension.name, dim)
    shapes = tuple(
        {place: names[dimension.name] for place, dimension in places.items()}
        for places in sampled.dynamic
    )
    kinds = [parameter.kind for parameter in inspect.signature(module.forward).parameters.values()]
    return (shapes,) if inspect.Parameter.VAR_POSITIONAL in kinds else shapes
