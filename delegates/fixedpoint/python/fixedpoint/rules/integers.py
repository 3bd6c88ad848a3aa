"""Values that are not quantized: indices, through the operators that only view them."""

from collections.abc import Callable

import torch
from torch.fx import Node

from fixedpoint.builder import Builder
from fixedpoint.match import VIEWS, is_call
from fixedpoint.rules.data_movement import move_view
from fixedpoint.values import Value, plain, view_of


def integer_source(
    node: Node, is_inside: Callable[[Node], bool] = lambda _: True
) -> tuple[Node, tuple[Node, ...]]:
    """The node that holds the elements in order, and the views of it that lead to this one."""
    views: list[Node] = []
    source = node
    while is_call(source, *VIEWS) and isinstance(source.args[0], Node) and is_inside(source):
        views.insert(0, source)
        source = source.args[0]
    while True:
        failed = _first_that_copies(source, views)
        if failed is None:
            return source, tuple(views)
        source, views = views[failed], views[failed + 1 :]


def read_integers(builder: Builder, node: Node) -> Value:
    """The elements of a node in their storage, and how they are viewed."""
    source, views = integer_source(node, builder.is_inside)
    value = builder.value_of(source)
    view = value.view
    for each in views:
        view = move_view(view, each)
    return Value(value.tensor, view, value.quantization)


def _first_that_copies(source: Node, views: list[Node]) -> int | None:
    """The position of the first operator whose result is no view of the source."""
    shape = source.meta["val"].shape
    view: torch.Tensor = view_of(shape, plain(len(shape)))
    for position, node in enumerate(views):
        try:
            view = move_view(view, node)
        except RuntimeError:
            return position
    return None
