"""Samples as tuples of tensors, and the tensors among the outputs of a module."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

Sample = tuple[torch.Tensor, ...]


def cast_sample(sample: Sequence[torch.Tensor], dtype: torch.dtype) -> Sample:
    """The sample with floating tensors as `dtype`."""
    return tuple(t.to(dtype) if t.is_floating_point() else t for t in sample)


def flatten_tensors(outputs: Any) -> list[torch.Tensor]:
    """The tensors in nested outputs, in order; anything else is left out."""
    leaves = torch.utils._pytree.tree_leaves(outputs)
    return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]


def run_module(module: Callable[..., Any], sample: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The flat tensor outputs for one sample, without gradients."""
    with torch.no_grad():
        return [output.detach() for output in flatten_tensors(module(*sample))]


@contextmanager
def kept_buffers(module: torch.nn.Module) -> Iterator[None]:
    """Puts the buffers back that calls of the module change: its state begins anew afterwards."""
    kept = [
        (owner, {name: None if t is None else t.clone() for name, t in owner._buffers.items()})
        for owner in module.modules()
    ]
    try:
        yield
    finally:
        for owner, buffers in kept:
            owner._buffers.update(buffers)
