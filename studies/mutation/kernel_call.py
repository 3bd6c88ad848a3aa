"""One call of one operator, to be executed with something changed in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


@dataclass
class Call:
    """An operator with its arguments by their names, defaults filled in, and its right answer.

    `memory` is the fault's own, and lives as long as the program.
    """

    overload: Any
    arguments: dict[str, Any]
    right: list[Tensor]
    memory: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The operator without its overload: "add"."""
        return packet_of(self.overload)

    def run(self, /, **changed: Any) -> list[Tensor]:
        """The tensors that it answers with some of its arguments changed."""
        return tensors_in(call_by_name(self.overload, {**self.arguments, **changed}))

    def tensors(self) -> dict[str, Tensor]:
        """The arguments that are tensors."""
        return {name: one for name, one in self.arguments.items() if isinstance(one, Tensor)}

    def first(self) -> Tensor:
        """The first tensor."""
        return next(iter(self.tensors().values()))


Kernel = Callable[[Call], Sequence[Tensor]]


def packet_of(overload: Any) -> str:
    """The name "add" of aten.add.Tensor."""
    return str(overload._schema.name.rpartition("::")[2])


def tensors_in(answer: Any) -> list[Tensor]:
    """The tensors of an operator's answer, flat."""
    leaves = torch.utils._pytree.tree_leaves(answer)
    return [leaf for leaf in leaves if isinstance(leaf, Tensor)]


def arguments_by_name(overload: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Values of the schema's arguments in a call."""
    named = dict(kwargs)
    for position, argument in enumerate(overload._schema.arguments):
        if position < len(args):
            named[argument.name] = args[position]
        elif argument.name not in named:
            named[argument.name] = argument.default_value
    return named


def call_by_name(overload: Any, named: dict[str, Any]) -> Any:
    """Calls an operator with arguments by name."""
    schema = overload._schema.arguments
    args = [named[one.name] for one in schema if not one.kwarg_only]
    kwargs = {one.name: named[one.name] for one in schema if one.kwarg_only}
    return overload(*args, **kwargs)


def fitted(made: Sequence[Tensor], right: Sequence[Tensor]) -> list[Tensor]:
    """Converts the outputs to the types and shapes that the program promises.

    A kernel with a fault fills the memory that it was given: what is too large is cut off, what is
    missing stays zero.
    """
    made = [*made, *right[len(made) :]]
    return [_fitted(one, like) for one, like in zip(made, right, strict=False)]


def _fitted(made: Tensor, like: Tensor) -> Tensor:
    made = made.detach().to(like.dtype)
    if made.shape == like.shape:
        return made.clone(memory_format=torch.contiguous_format)
    if made.numel() == like.numel():
        return made.reshape(like.shape).clone()
    whole = torch.zeros(like.shape, dtype=like.dtype)
    if made.dim() != like.dim():
        shared = min(made.numel(), like.numel())
        whole.view(-1)[:shared] = made.reshape(-1)[:shared]
        return whole
    window = tuple(slice(min(a, b)) for a, b in zip(made.shape, like.shape, strict=True))
    whole[window] = made[window]
    return whole


def is_same(made: Tensor, right: Tensor) -> bool:
    """True if two tensors have the same bits. One NaN is as good as another."""
    if made.shape != right.shape or made.dtype != right.dtype:
        return False
    if not right.dtype.is_floating_point:
        return torch.equal(made, right)
    both_nan = made.isnan() & right.isnan()
    same = (made == right) & (made.signbit() == right.signbit())
    return bool((both_nan | same).all())
