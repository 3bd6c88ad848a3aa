"""Where elements lie: rank 4 is stored channels last, and moving data is one strided copy."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

STORED_FROM_LOGICAL = (0, 2, 3, 1)
"""Dimensions of (N, C, H, W) in the order in which they are stored."""
LOGICAL_FROM_STORED = (0, 3, 1, 2)
MAX_RANK = 6


@dataclass(frozen=True)
class Strides:
    """Reads elements `offset + sum(index * stride)` in the order of `dims`."""

    offset: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]


def stored_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """The storage's shape of a logical shape."""
    if len(shape) != 4:
        return tuple(shape)
    return tuple(shape[i] for i in STORED_FROM_LOGICAL)


def stored_axis(axis: int, rank: int) -> int:
    """Where a logical dimension is in the storage's shape."""
    axis %= rank
    return STORED_FROM_LOGICAL.index(axis) if rank == 4 else axis


def logical_view(shape: Sequence[int]) -> torch.Tensor:
    """A tensor without data that has the logical shape over the storage's strides."""
    stored = torch.empty(stored_shape(shape), device="meta")
    return stored.permute(LOGICAL_FROM_STORED) if len(shape) == 4 else stored


def strides_of(view: torch.Tensor, is_stored: bool = True) -> Strides:
    """How to read a view so that its elements come in the order of its own storage.

    `is_stored` false: in the order of its logical shape.
    """
    if is_stored and view.dim() == 4:
        view = view.permute(STORED_FROM_LOGICAL)
    return merge(Strides(int(view.storage_offset()), tuple(view.shape), tuple(view.stride())))


def merge(read: Strides) -> Strides:
    """Fewest dimensions: those of size one go, neighbours that continue each other become one."""
    dims: list[int] = []
    strides: list[int] = []
    for dim, stride in zip(read.dims, read.strides, strict=True):
        if dim == 1:
            continue
        if dims and strides[-1] == dim * stride:
            dims[-1], strides[-1] = dims[-1] * dim, stride
        else:
            dims.append(dim)
            strides.append(stride)
    return Strides(read.offset, tuple(dims) or (1,), tuple(strides) or (1,))
