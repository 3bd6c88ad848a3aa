"""Operators that only move data."""

import numpy as np
import torch
from torch.fx import Node

from fixedpoint.builder import Builder, shape_of
from fixedpoint.functions import base_name, named_arguments
from fixedpoint.match import Match, NotLowered
from fixedpoint.program import Kind
from fixedpoint.rules.common import arguments, plain_result_of
from fixedpoint.rules.unary import requantized
from fixedpoint.values import Value, plain, shape_in, view_of


def move(builder: Builder, match: Match) -> Value:
    """A view; a copy where a view does not suffice, a requantization if need be."""
    assert match.core is not None
    result = plain_result_of(match)
    value = builder.value(match.dequantizes[0])
    for node in (*match.moves, match.core):
        try:
            view = move_view(value.view, node)
        except RuntimeError:  # the elements do not lie so that a view could
            order = plain(len(value.shape))
            stored = builder.stored(value, order)
            view = move_view(view_of(value.shape, order), node)
            value = Value(stored, view, value.quantization)
        value = Value(value.tensor, view, value.quantization)
    return requantized(builder, value, result)


def move_view(x: torch.Tensor, node: Node) -> torch.Tensor:
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


def pad(builder: Builder, match: Match) -> Value:
    """A concatenation with constants, dimension by dimension."""
    a = arguments(match)
    result = plain_result_of(match)
    value = builder.value(a["self"])
    filler = value.quantization.quantize(float(a.get("value") or 0.0))
    rank, widths = len(value.shape), list(a["pad"])
    if min(widths) < 0:
        raise NotLowered("negative padding is not supported")
    for i in range(0, len(widths), 2):
        dim = rank - 1 - i // 2
        if widths[i] or widths[i + 1]:
            value = between(builder, value, dim, (widths[i], widths[i + 1]), filler)
    return requantized(builder, value, result)


def between(
    builder: Builder, value: Value, dim: int, widths: tuple[int, int], filler: int
) -> Value:
    """The value with an integer before and behind it along one dimension."""
    order = value.order() or plain(len(value.shape))
    parts = []
    for width in widths:
        shape = tuple(width if d == dim else size for d, size in enumerate(value.shape))
        constant = np.full(shape_in(shape, order), filler, value.quantization.type.name)
        name = f"padding{len(builder.program.tensors)}"
        parts.append(builder.program.add_constant(name, constant) if width else None)
    inputs = [parts[0], builder.stored(value, order), parts[1]]
    shape = tuple(s + sum(widths) if d == dim else s for d, s in enumerate(value.shape))
    outer = int(np.prod([shape[d] for d in order[: order.index(dim)]]))
    return builder.emit(
        Kind.CONCAT, [i for i in inputs if i is not None], shape, order, value.quantization,
        {"outer": outer},
    )  # fmt: skip


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
