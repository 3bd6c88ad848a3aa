"""Functions of one value that are straight lines between bounds: products compute them exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fixedpoint.functions import bounds_of, named_arguments

_INFINITY = float("inf")


@dataclass(frozen=True)
class Affine:
    """clamp(slope * x + offset, low, high)."""

    slope: float = 1.0
    offset: float = 0.0
    low: float = -_INFINITY
    high: float = _INFINITY


def affine_of(name: str, target: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Affine | None:
    """The line that an operator of one tensor computes; None: it computes no line."""
    bounds = bounds_of(name, args)
    if bounds is not None:
        return Affine(low=bounds[0], high=bounds[1])
    if name == "aten.neg":
        return Affine(slope=-1.0)
    if name == "aten.hardsigmoid":
        return Affine(1 / 6, 0.5, 0.0, 1.0)
    if name not in ("aten.add", "aten.sub", "aten.rsub", "aten.mul", "aten.div"):
        return None
    a = named_arguments(target, args, kwargs)
    number = float(a["other"])
    if name == "aten.rsub":
        return Affine(slope=-float(a["alpha"]), offset=number)
    if name in ("aten.add", "aten.sub"):
        added = number * float(a.get("alpha", 1))
        return Affine(offset=added if name == "aten.add" else -added)
    if a.get("rounding_mode") is not None:
        return None
    return Affine(slope=number if name == "aten.mul" else 1 / number)
