"""Arguments and results of patterns, as the rules read them."""

from collections.abc import Callable
from typing import Any

from fixedpoint.builder import Builder
from fixedpoint.functions import base_name, bounds_of, named_arguments
from fixedpoint.match import Match, NotLowered, quantization_of
from fixedpoint.numbers import Quantization, activation_bounds
from fixedpoint.values import Value

Rule = Callable[[Builder, Match], Value]


def arguments(match: Match) -> dict[str, Any]:
    """The operator's arguments by name."""
    assert match.core is not None
    return named_arguments(match.core.target, match.core.args, dict(match.core.kwargs))


def result_of(match: Match) -> tuple[Quantization, int, int]:
    """Parameters of the result, and its bounds with the activations taken in."""
    result = quantization_of(match.quantize)
    low, high = result.low, result.high
    for node in match.activations:
        bounds = bounds_of(base_name(node.target), node.args)
        assert bounds is not None
        least, most = activation_bounds(result, *bounds)
        low, high = min(max(low, least), most), max(min(high, most), least)
    return result, low, high


def plain_result_of(match: Match) -> Quantization:
    """Parameters of a result that takes no activation in.

    Raises:
        NotLowered: there is one.
    """
    if match.activations:
        raise NotLowered("it has an activation behind it")
    return result_of(match)[0]
