"""Functions of one value: their names in a graph, their bounds, their tables.

A table of 256 entries serves each of them in int8, an interpolated one of 513 those in int16 that
are no straight lines. The fixed output parameters are those that other integer runtimes use, where
the range of the function is known beforehand.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.fx

from fixedpoint.integer_types import INT8, INT16, IntegerType
from fixedpoint.numbers import Quantization

UNARY = frozenset(
    f"aten.{name}"
    for name in (
        "hardswish", "hardsigmoid", "sigmoid", "tanh", "silu", "gelu", "elu", "leaky_relu", "relu",
        "relu6", "hardtanh", "clamp", "exp", "abs", "neg",
    )
)  # fmt: skip
"""Keyed by the operator's name without overload and without the underscore of in-place variants."""

SHARES = ("aten.hardsigmoid", "aten.sigmoid", "aten.softmax", "aten._safe_softmax")
"""Functions whose results lie between 0 and 1; those of tanh lie between -1 and 1."""


def fixed_output(
    name: str, is_power_of_two: bool = False, kind: IntegerType = INT8
) -> tuple[float, int] | None:
    """Scale and zero point of functions whose range is known; in Q formats the zero point is 0."""
    if kind is INT16:
        return (2.0**-15, 0) if name == "aten.tanh" or name in SHARES else None
    if name == "aten.tanh" or (name in SHARES and is_power_of_two):
        return 2.0**-7, 0
    return (2.0**-8, -128) if name in SHARES else None


_CODES = {INT8: torch.arange(-128, 128), INT16: torch.arange(-32768, 32769, 128)}
"""Inputs at which tables have entries."""

_INFINITY = float("inf")


def overload_of(target: Any) -> Any:
    """The torch overload behind a target of either dialect."""
    return target if isinstance(target, torch._ops.OpOverload) else getattr(target, "_op", target)


def base_name(target: Any) -> str:
    """`aten.hardswish` for aten.hardswish_.default, in the ATen and in the edge dialect."""
    overload = overload_of(target)
    if not isinstance(overload, torch._ops.OpOverload):
        return str(getattr(target, "__name__", target))
    library, operator, _ = str(overload).split(".")
    return f"{library}.{operator.removesuffix('_').removesuffix('_copy')}"


def bounds_of(name: str, args: Sequence[Any]) -> tuple[float, float] | None:
    """The real bounds of an activation that clamps; None if it does not clamp.

    A clamp between tensors is none.
    """
    if any(isinstance(arg, torch.fx.Node) for arg in args[1:3]):
        return None
    if name == "aten.relu":
        return 0.0, _INFINITY
    if name == "aten.relu6":
        return 0.0, 6.0
    if name == "aten.hardtanh":
        return float(_at(args, 1, -1.0)), float(_at(args, 2, 1.0))
    if name == "aten.clamp":
        return float(_at(args, 1, -_INFINITY)), float(_at(args, 2, _INFINITY))
    return None


def _at(args: Sequence[Any], index: int, default: float) -> Any:
    return default if len(args) <= index or args[index] is None else args[index]


def make_table(
    function: Callable[[torch.Tensor], torch.Tensor], source: Quantization, result: Quantization
) -> np.ndarray:
    """The results from the function in float64, for all 256 inputs of int8.

    For int16, those for every 128th input, 513 from -32768 to 32768, which is none any more; but
    for 0, each makes up for half of what the lines beside it miss.
    """
    codes = _CODES[source.type].to(torch.float64)
    reals = function((codes - source.zero_point) * source.scale)
    if source.type is INT16:
        reals += _missed(reals, function((codes[:-1] + 64) * source.scale))
    results = [result.quantize(value) for value in reals.tolist()]
    return np.array(results, dtype=result.type.name)


def _missed(knots: torch.Tensor, middles: torch.Tensor) -> torch.Tensor:
    """Half of how far lines between knots lie from the function in their middles."""
    missed = (middles - (knots[:-1] + knots[1:]) / 2).nan_to_num(0.0, 0.0, 0.0)
    sides = torch.cat([missed[:1], missed, missed[-1:]])
    made = (sides[:-1] + sides[1:]) / 4
    made[len(made) // 2] = 0.0
    return made


def named_arguments(target: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments of an operator by name, defaults filled in."""
    arguments = overload_of(target)._schema.arguments
    values = {a.name: a.default_value for a in arguments}
    values.update({a.name: value for a, value in zip(arguments, args, strict=False)})
    return {**values, **kwargs}
