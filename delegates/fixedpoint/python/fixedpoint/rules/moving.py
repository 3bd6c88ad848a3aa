"""Operators that only move data."""

import numpy as np
import torch
from torch.fx import Node

from fixedpoint.builder import Builder, shape_of
from fixedpoint.functions import base_name, named_arguments
from fixedpoint.match import Match
from fixedpoint.program import Kind
from fixedpoint.rules.common import arguments, plain_result_of, requantized
from fixedpoint.values import Value, plain, view_of


def move(builder: Builder, match: Match) -> Value:
    """A view; a copy where a view does not suffice, a requantization if need be."""
    assert match.core is not None
    result = plain_result_of(match)
    value = builder.value(match.dequantizes[0])
    for node in (*match.moves, match.core):
        try:
            view = _move(value.view, node)
        except RuntimeError:  # the elements do not lie so that a view could
            order = plain(len(value.shape))
            stored = builder.stored(value, order)
            view = _move(view_of(value.shape, order), node)
            value = Value(stored, view, value.quantization)
        value = Value(value.tensor, view, value.quantization)
    return requantized(builder, value, result)


def _move(x: torch.Tensor, node: Node) -> torch.Tensor:
    """The view of x that an operator makes that only moves data.

    Raises:
        RuntimeError: there is none.
    """
    a, name = named_arguments(node.target, node.args, dict(node.kwargs)), base_name(node.target)
    made: torch.Tensor = x
    if name == "aten.permute":
        made = x.permute(a["dims"])
    elif name == "aten.transpose":
        made = x.transpose(a["dim0"], a["dim1"])
    elif name == "aten.slice":
        made = torch.ops.aten.slice.Tensor(x, a["dim"], a["start"], a["end"], a["step"])
    elif name == "aten.select":
        made = x.select(a["dim"], a["index"])
    elif name == "aten.expand":
        made = x.expand(a["size"])
    elif tuple(x.shape) != shape_of(node):
        made = x.view(shape_of(node))
    return made


def cat(builder: Builder, match: Match) -> Value:
    """Slices of each part in turn, in the order in which the first part lies."""
    a = arguments(match)
    result = plain_result_of(match)
    parts = [requantized(builder, builder.value(node), result) for node in a["tensors"]]
    shape = shape_of(match.quantize)
    order = parts[0].order() or plain(len(shape))
    place = order.index(a["dim"] % len(shape))
    outer = int(np.prod([shape[d] for d in order[:place]]))
    tensors = [builder.stored(part, order) for part in parts]
    return builder.emit(Kind.CONCAT, tensors, shape, order, result, {"outer": outer})
