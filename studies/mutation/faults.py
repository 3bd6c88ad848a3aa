"""Faults that a kernel may have. A fault answers a call as a kernel that has it would.

What is wrong with outputs or inputs is tried with every operator; faults of an argument follow from
the operator's schema (fault_arguments.py); other arithmetic is listed by operator
(fault_arithmetic.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from fault_arguments import argument_faults
from fault_arithmetic import ARITHMETIC
from kernel_call import Call, Kernel, Tensor, packet_of

NARROW = {torch.float32: torch.bfloat16, torch.float16: torch.float8_e5m2}


def each(change: Callable[[Tensor], Tensor]) -> Kernel:
    """The kernel that does this to each of its outputs."""
    return lambda call: [change(one.clone()) for one in call.right]


def floats(change: Callable[[Tensor], Tensor]) -> Kernel:
    """Changes floating outputs only."""
    return each(lambda one: change(one) if one.dtype.is_floating_point else one)


def _flat(change: Callable[[Tensor], None]) -> Kernel:
    """The kernel that changes the elements of each output in their order."""

    def changed(one: Tensor) -> Tensor:
        flat = one.contiguous().view(-1)
        if flat.numel() > 0:
            change(flat)
        return flat.view(one.shape)

    return each(changed)


def _unwritten_tail(flat: Tensor) -> None:
    if flat.numel() % 4:
        flat[-(flat.numel() % 4) :] = 0


def _unwritten_end(flat: Tensor) -> None:
    flat[-1] = 0


def _one_negated(flat: Tensor) -> None:
    flat[flat.numel() // 2] = negated(flat[flat.numel() // 2])


def negated(one: Tensor) -> Tensor:
    """Negates a number, or a truth value."""
    return one.logical_not() if one.dtype == torch.bool else -one


def _first_batch_only(one: Tensor) -> Tensor:
    return one[:1].expand_as(one).clone() if one.dim() > 1 else one


def _transposed(one: Tensor) -> Tensor:
    return one.transpose(-1, -2).reshape(one.shape) if one.dim() > 1 else one


def _constant(one: Tensor) -> Tensor:
    return one.flatten()[:1].expand(one.numel()).reshape(one.shape) if one.numel() else one


def _scaled(one: Tensor, eps: float) -> Tensor:
    return (one.double() * (1 + eps * torch.finfo(one.dtype).eps)).to(one.dtype)


def _without_infinities(one: Tensor) -> Tensor:
    return one.clamp(torch.finfo(one.dtype).min, torch.finfo(one.dtype).max)


def stale(call: Call) -> list[Tensor]:
    """Answers as the call before did."""
    before = call.memory.get("before", call.right)
    call.memory["before"] = [one.clone() for one in call.right]
    return list(before)


def computed_once(call: Call) -> list[Tensor]:
    """Answers as the first call did."""
    return list(call.memory.setdefault("first", [one.clone() for one in call.right]))


def _narrower(one: Any) -> Any:
    if isinstance(one, Tensor) and one.dtype in NARROW:
        return one.to(NARROW[one.dtype]).to(one.dtype)
    return one


def with_inputs(change: Callable[[Tensor], Tensor]) -> Kernel:
    """The kernel that reads its tensors in another way."""

    def kernel(call: Call) -> list[Tensor]:
        return call.run(**{name: change(one) for name, one in call.tensors().items()})

    return kernel


def _without_strides(one: Tensor) -> Tensor:
    """The tensor's memory from its beginning, as if it were contiguous."""
    if one.is_contiguous():
        return one
    strides = torch.empty(one.shape).stride()
    return one.as_strided(one.shape, strides, one.storage_offset()).clone()


def _tail_ignored(one: Tensor) -> Tensor:
    if one.dim() == 0 or one.shape[-1] < 2:
        return one
    cut = one.clone()
    cut[..., -1] = 0
    return cut


def swapped_operands(call: Call) -> list[Tensor]:
    """The first two tensors of a pointwise operator, the other way round."""
    names = list(call.tensors())[:2]
    if len(names) < 2 or torch.Tag.pointwise not in call.overload.tags:
        return call.right
    return call.run(**{names[0]: call.arguments[names[1]], names[1]: call.arguments[names[0]]})


def broadcast_first(call: Call) -> list[Tensor]:
    """Takes only the first element of a tensor that is broadcast."""
    if torch.Tag.pointwise not in call.overload.tags:
        return call.right
    shape = call.right[0].shape
    return call.run(
        **{
            name: one.flatten()[:1].reshape([1] * one.dim()).expand(one.shape)
            for name, one in call.tensors().items()
            if one.shape != shape and one.numel() > 1
        }
    )


def saturated(call: Call) -> list[Tensor]:
    """Whole numbers that stop at the ends of their type and do not go round."""
    wide = {
        name: one.long()
        for name, one in call.tensors().items()
        if not one.dtype.is_floating_point and one.dtype not in (torch.bool, torch.int64)
    }
    made = call.run(**wide) if wide else call.right
    return [_saturated(one, like) for one, like in zip(made, call.right, strict=True)]


def _saturated(one: Tensor, like: Tensor) -> Tensor:
    if like.dtype.is_floating_point or like.dtype in (torch.bool, torch.int64):
        return like
    return one.clamp(torch.iinfo(like.dtype).min, torch.iinfo(like.dtype).max)


OUTPUTS: dict[str, Kernel] = {
    "zeros": each(torch.zeros_like),
    "a constant": each(_constant),
    "stale: the answer to the call before": stale,
    "stale: the answer to the first call": computed_once,
    "last element not written": _flat(_unwritten_end),
    "what is left over of vectors of four not written": _flat(_unwritten_tail),
    "one element with the other sign": _flat(_one_negated),
    "the other sign": each(negated),
    "transposed": each(_transposed),
    "last dimension in reverse": each(lambda one: one.flip(-1) if one.dim() else one),
    "a row starts one element late": each(lambda one: one.roll(1, -1) if one.dim() else one),
    "the first of a batch for all": each(_first_batch_only),
    "a hundredth too large": floats(lambda one: one * 1.01),
    "256 steps of the type too large": floats(lambda one: _scaled(one, 256)),
    "rounded to half of the bits": floats(_narrower),
    "NaN becomes 0": floats(lambda one: one.nan_to_num(0.0, torch.inf, -torch.inf)),
    "infinity becomes the largest number": floats(_without_infinities),
    "-0 becomes 0": floats(lambda one: one.masked_fill(one == 0, 0)),
}

INPUTS: dict[str, Kernel] = {
    "inputs rounded to half of the bits": with_inputs(_narrower),
    "inputs read without their strides": with_inputs(_without_strides),
    "last element of each row ignored": with_inputs(_tail_ignored),
    "operands swapped": swapped_operands,
    "broadcasts the first element only": broadcast_first,
    "saturates": saturated,
}


LETHAL = {
    ("aten._native_batch_norm_legit.no_stats", "training flipped"),
    ("aten.lstm.input", "batch_first flipped"),
}
"""Faults that PyTorch's own kernels die of, and the program with them: they do not check."""


@cache
def faults_of(overload: Any) -> dict[str, Kernel]:
    """The faults that are tried with an operator, by name, in a fixed order."""
    own = ARITHMETIC.get(packet_of(overload), {})
    faults = {**OUTPUTS, **INPUTS, **argument_faults(overload), **own}
    return {name: one for name, one in faults.items() if (str(overload), name) not in LETHAL}
