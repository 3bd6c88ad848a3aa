"""Masks as a softmax reads them: row by row, through whatever views and repeats them."""

import math

from fixedpoint.builder import Builder, Operand, shape_of
from fixedpoint.functions import base_name, named_arguments
from fixedpoint.match import Match, NotLowered
from fixedpoint.numbers import SOFTMAX_BITS
from fixedpoint.program import MAX_RANK
from fixedpoint.rules.integers import read_integers
from fixedpoint.values import Strides, merge

_NOTHING = (SOFTMAX_BITS + 1) * math.log(2)
"""Distance of a score from the largest whose exponential is rounded to zero."""


def read_mask(builder: Builder, match: Match, x: Operand) -> tuple[int, dict[str, int]]:
    """The tensor of the mask before a softmax, and how it is read for rows in the scores' order.

    Raises:
        NotLowered: masked places would have a weight, or too many dimensions are repeated.
    """
    mask = match.mask
    assert mask is not None
    a = named_arguments(mask.target, mask.args, dict(mask.kwargs))
    is_fill = base_name(mask.target) == "aten.masked_fill"
    places, value = (a["mask"], a["value"]) if is_fill else (a["condition"], a["other"])
    _check_value(x, float(value))
    read = read_integers(builder, places)
    view = read.view.expand(shape_of(mask)).permute(x.order)
    rows = merge(Strides(int(view.storage_offset()), view.shape[:-1], view.stride()[:-1]))
    whole = Strides(
        rows.offset, (*rows.dims, view.shape[-1]), (*rows.strides, view.stride(view.dim() - 1))
    )
    if len(whole.dims) > MAX_RANK:
        raise NotLowered(f"its mask is read in more than {MAX_RANK} dimensions")
    attributes = whole.attributes() | {
        "masks_nonzero": int(is_fill),
        "equal_where_empty": int(math.isfinite(value)),
    }
    return read.tensor, attributes


def _check_value(x: Operand, value: float) -> None:
    """A number in the place of a score must leave it no weight beside any other."""
    parameters = x.quantization
    least = (parameters.low - parameters.zero_point) * parameters.scale
    if least - value < _NOTHING:
        raise NotLowered(f"its mask puts {value} beside scores from {least} on")
