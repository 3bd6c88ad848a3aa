"""Other arithmetic than the right one, by operator: what kernels are known to get wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from kernel_call import Call, Kernel, Tensor


def by(function: Callable[..., Any], *names: str) -> Kernel:
    """The kernel that computes this of some of the arguments; of the first tensor unless named."""

    def kernel(call: Call) -> Sequence[Tensor]:
        given = [call.arguments[name] for name in names] or [call.first()]
        made = function(*given)
        return [made] if isinstance(made, Tensor) else list(made)

    return kernel


def of_two(function: Callable[..., Any]) -> Kernel:
    """Fault that takes self and other."""
    return by(function, "self", "other")


def _half_away(x: Tensor) -> Tensor:
    return x.sign() * (x.abs() + 0.5).floor()


def _naive_softmax(x: Tensor, dim: int) -> Tensor:
    return x.exp() / x.exp().sum(dim, keepdim=True)


def _zero_padded_pool(call: Call) -> Sequence[Tensor]:
    """Max pooling whose border is zero and not minus infinity."""
    padding = list(call.arguments["padding"] or [0])
    x = call.arguments["self"]
    spatial = len(call.arguments["kernel_size"])
    padding = padding * spatial if len(padding) == 1 else padding
    border = [size for one in reversed(padding) for size in (one, one)]
    return call.run(self=torch.nn.functional.pad(x, border), padding=[0] * spatial)


def _groups_mixed(call: Call) -> Sequence[Tensor]:
    """Each group with the filters of its neighbour."""
    groups = call.arguments.get("groups", 1)
    weight = call.arguments["weight"]
    if groups < 2:
        return call.right
    return call.run(weight=weight.roll(weight.shape[0] // groups, 0))


def _channels_first_skipped(call: Call) -> Sequence[Tensor]:
    """The last channel of the input does not count."""
    name = "input" if "input" in call.arguments else "self"
    x = call.arguments[name].clone()
    if x.dim() < 2 or x.shape[1] < 2:
        return call.right
    x[:, -1] = 0
    return call.run(**{name: x})


def _variance_of_squares(x: Tensor) -> Tensor:
    return (x * x).mean() - x.mean() ** 2


_CONVOLUTION: dict[str, Kernel] = {
    "groups mixed": _groups_mixed,
    "last input channel skipped": _channels_first_skipped,
}
_CONVOLUTIONS = (
    *("conv1d", "conv2d", "conv3d", "convolution"),
    *("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
)
_POOLS = ("max_pool1d", "max_pool2d", "max_pool3d")
_POOL: dict[str, Kernel] = {"border of zeros": _zero_padded_pool}

ARITHMETIC: dict[str, dict[str, Kernel]] = {
    **dict.fromkeys(_CONVOLUTIONS, _CONVOLUTION),
    **dict.fromkeys((*_POOLS, *(f"{pool}_with_indices" for pool in _POOLS)), _POOL),
    "round": {"half away from zero": by(_half_away), "truncates": by(torch.trunc)},
    "floor": {"truncates": by(torch.trunc), "rounds": by(torch.round)},
    "ceil": {"truncates": by(torch.trunc), "one above the floor": by(lambda x: x.floor() + 1)},
    "trunc": {"floors": by(torch.floor), "rounds": by(torch.round)},
    "frac": {"from the floor": by(lambda x: x - x.floor())},
    "remainder": {"sign of the dividend": of_two(torch.fmod)},
    "fmod": {"sign of the divisor": of_two(torch.remainder)},
    "floor_divide": {"truncates": of_two(lambda a, b: torch.div(a, b, rounding_mode="trunc"))},
    "ge": {"greater": of_two(torch.gt), "less": of_two(torch.lt)},
    "gt": {"greater or equal": of_two(torch.ge), "less": of_two(torch.lt)},
    "le": {"less": of_two(torch.lt), "greater": of_two(torch.gt)},
    "lt": {"less or equal": of_two(torch.le), "greater": of_two(torch.gt)},
    "eq": {"not equal": of_two(torch.ne), "greater or equal": of_two(torch.ge)},
    "ne": {"equal": of_two(torch.eq), "less": of_two(torch.lt)},
    "maximum": {"ignores NaN": of_two(torch.fmax), "minimum": of_two(torch.minimum)},
    "minimum": {"ignores NaN": of_two(torch.fmin), "maximum": of_two(torch.maximum)},
    "fmax": {"passes NaN on": of_two(torch.maximum)},
    "fmin": {"passes NaN on": of_two(torch.minimum)},
    "relu": {"NaN becomes 0": by(lambda x: x.clamp(min=0).nan_to_num(0.0)), "abs": by(torch.abs)},
    "logical_and": {"or": of_two(torch.logical_or)},
    "logical_or": {"exclusive": of_two(torch.logical_xor)},
    "logical_xor": {"or": of_two(torch.logical_or)},
    "bitwise_and": {"or": of_two(torch.bitwise_or)},
    "bitwise_or": {"exclusive": of_two(torch.bitwise_xor)},
    "bitwise_xor": {"or": of_two(torch.bitwise_or)},
    "sign": {"of zero is one": by(lambda x: torch.where(x >= 0, 1, -1))},
    "isinf": {"of the positive one only": by(torch.isposinf)},
    "isnan": {"infinities too": by(lambda x: ~torch.isfinite(x))},
    "expm1": {"exp(x) - 1": by(lambda x: x.exp() - 1)},
    "log1p": {"log(1 + x)": by(lambda x: (1 + x).log())},
    "sinh": {"of two exponentials": by(lambda x: (x.exp() - (-x).exp()) / 2)},
    "tanh": {"of two exponentials": by(lambda x: 1 - 2 / ((2 * x).exp() + 1))},
    "asinh": {"of a logarithm": by(lambda x: (x + (x * x + 1).sqrt()).log())},
    "sigmoid": {"hard": by(torch.nn.functional.hardsigmoid)},
    "silu": {"hard": by(torch.nn.functional.hardswish)},
    "softplus": {"log(1 + exp(x))": by(lambda x: (1 + x.exp()).log())},
    "hypot": {"of squares": of_two(lambda a, b: (a * a + b * b).sqrt())},
    "logaddexp": {"of exponentials": of_two(lambda a, b: (a.exp() + b.exp()).log())},
    "softmax": {"without taking the largest away": by(_naive_softmax, "self", "dim")},
    "_softmax": {"without taking the largest away": by(_naive_softmax, "self", "dim")},
    "atan2": {"atan(y / x)": of_two(lambda a, b: (a / b).atan())},
    "bitwise_right_shift": {
        "fills with zeros": of_two(lambda a, b: ((a.long() & 0xFF) >> b.long()).to(a.dtype))
    },
    "var": {"of squares": by(_variance_of_squares)},
    "square": {"of the magnitude": by(torch.abs)},
    "rsub": {"not reversed": of_two(torch.sub)},
    "where": {
        "the other branch": lambda call: call.run(
            condition=call.arguments["condition"].logical_not()
        )
    },
}
"""Faults by operator, by name."""
