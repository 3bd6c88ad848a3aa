"""Places of values while rules lower a program: a storage, and a view of it.

Operators that only move data change the view and emit nothing; a copy is made when somebody needs
the elements in an order that the storage does not have. An order is a permutation of the logical
dimensions, outermost first: images are kept channels last, rows of a matrix as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from fixedpoint.numbers import Quantization
from fixedpoint.program import MAX_RANK

Order = tuple[int, ...]


@dataclass(frozen=True)
class Strides:
    """Reads elements `offset + sum(index * stride)` in the order of `dims`."""

    offset: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]

    def attributes(self) -> dict[str, int]:
        """The view as attributes of a copy."""
        made = {"rank": len(self.dims), "offset": self.offset}
        for i in range(MAX_RANK):
            made[f"dim{i}"] = self.dims[i] if i < len(self.dims) else 0
            made[f"stride{i}"] = self.strides[i] if i < len(self.dims) else 0
        return made


@dataclass(frozen=True)
class Value:
    """A value of the program. `view` has no data: the logical shape over the storage."""

    tensor: int
    view: torch.Tensor
    quantization: Quantization

    @property
    def shape(self) -> tuple[int, ...]:
        """The logical shape."""
        return tuple(self.view.shape)

    def order(self) -> Order | None:
        """The order in which the storage holds just these elements; None when there is none."""
        by_stride = sorted(range(self.view.dim()), key=lambda d: (-self.view.stride(d), d))
        return tuple(by_stride) if self.lies_in(tuple(by_stride)) else None

    def lies_in(self, order: Order) -> bool:
        """True if the storage, read from its beginning to its end, is this value in that order."""
        size = self.view.untyped_storage().nbytes() // self.view.element_size()
        return read_in(self.view, order) == Strides(0, (size,), (1,))


def plain(rank: int) -> Order:
    """The dimensions as they are."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """(N, C, …) with its channels innermost."""
    return (0, *range(2, rank), 1) if rank > 2 else plain(rank)


def image_order(rank: int) -> Order:
    """The default storage of a tensor: rank 4, channels last."""
    return channels_last(rank) if rank == 4 else plain(rank)


def shape_in(shape: Sequence[int], order: Order) -> tuple[int, ...]:
    """The storage's shape of a logical shape."""
    return tuple(shape[d] for d in order)


def view_of(shape: Sequence[int], order: Order) -> torch.Tensor:
    """The view of a value that a storage of its own holds in this order."""
    stored = torch.empty(shape_in(shape, order), device="meta", dtype=torch.int8)
    return stored.permute([order.index(d) for d in range(len(order))])


def read_in(view: torch.Tensor, order: Order) -> Strides:
    """Says how to read a view so that its elements come in an order."""
    v = view.permute(order)
    return merge(Strides(int(v.storage_offset()), tuple(v.shape), tuple(v.stride())))


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
