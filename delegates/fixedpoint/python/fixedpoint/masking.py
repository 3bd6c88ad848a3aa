"""Masks of attention, as a rewritten graph has them: places, and what is added to the others.

A mask is a boolean tensor, of an input or constant, that says which places have no weight; numbers
that are added to the scores stay a sum, so that minus infinity is in no tensor that is quantized.
"""

from dataclasses import dataclass, replace

import torch
from torch.fx import Node

from fixedpoint.constant_values import constant_value
from fixedpoint.functions import base_name, named_arguments, overload_of
from fixedpoint.graph_edit import call_before, constant_before, erase_unused
from fixedpoint.program import MAX_COLUMNS

_aten = torch.ops.aten
LEFT_KEY = "fixedpoint_left"
"""Key of the metadata that marks operators which stay in floating point."""

_MASKED = -1e4
"""Numbers from here down, added to scores, leave no weight beside scores as they are in use."""

_ABSORBS = -1e30
"""Numbers from here down leave nothing of a score that is added to them, not even its order."""

_NOT = ("aten.bitwise_not", "aten.logical_not")
_ZEROS = ("aten.zeros", "aten.zeros_like", "aten.new_zeros")
_VIEWS = (
    "aten.view", "aten.reshape", "aten.expand", "aten.unsqueeze", "aten.squeeze", "aten.transpose",
    "aten.permute", "aten.slice", "aten.select", "aten.alias", "aten.contiguous", "aten.clone",
)  # fmt: skip
_SOFTMAX = ("aten.softmax", "aten._safe_softmax")


@dataclass(frozen=True)
class Mask:
    """Boolean `places` with what true means; `added` to the scores before; what empty rows give."""

    places: Node | None
    is_kept: bool = False
    value: float = -torch.inf
    added: Node | None = None
    may_empty_rows: bool = True


def causal_mask(node: Node, rows: int, columns: int) -> Mask:
    """Each row has a weight for its own place and those before."""
    places = torch.ones(rows, columns, dtype=torch.bool).triu(1)
    return Mask(constant_before(node, f"{node.name}_causal", places), may_empty_rows=False)


def attention_mask(node: Node, given: Node) -> Mask | None:
    """The mask that attention takes: true is kept, numbers are added. None: numbers of an input."""
    if given.meta["val"].dtype != torch.bool:
        return additive_mask(node, given)
    value = constant_value(given)
    if value is not None:
        return _constant_places(node, ~value)
    inner, is_negated = _without_not(given)
    return Mask(inner, is_kept=not is_negated)


def additive_mask(node: Node, given: Node) -> Mask | None:
    """A mask whose numbers are constants, or made of a boolean tensor. None: it is no such."""
    value = constant_value(given)
    if value is not None:
        return _constant_numbers(node, value)
    name = base_name(given.target) if given.op == "call_function" else ""
    if name == "aten.masked_fill" and _is_zero(given.args[0]):
        inner, is_negated = _without_not(given.args[1])
        filled = float(given.args[2]) if isinstance(given.args[2], int | float) else 0.0
        return Mask(inner, is_negated, filled) if filled <= _ABSORBS else None
    if name in _VIEWS and isinstance(given.args[0], Node):
        mask = additive_mask(node, given.args[0])
        if mask is None or mask.places is None or mask.added is not None:
            return None
        rest = given.args[1:]
        return replace(mask, places=call_before(node, given.target, mask.places, *rest))
    if name == "aten.add" and all(isinstance(arg, Node) for arg in given.args[:2]):
        return _both(node, [additive_mask(node, arg) for arg in given.args[:2]])
    return None


def mask_softmax(node: Node) -> None:
    """Softmax of scores with a mask added, filled in or chosen instead: as the delegate masks."""
    source = node.args[0]
    if not isinstance(source, Node) or source.op != "call_function" or len(source.users) > 1:
        return
    if not is_static(source):
        return
    name = base_name(source.target)
    a = named_arguments(source.target, source.args, dict(source.kwargs))
    if name == "aten.masked_fill":
        _put_masked_fill(node, source, a)
    elif name == "aten.where":
        _put_where(node, source)
    elif name == "aten.add" and isinstance(a["other"], Node) and a.get("alpha", 1) == 1:
        _put_sum(node, source, a["self"], a["other"])


def masked_scores(node: Node, scores: Node, mask: Mask) -> Node:
    """The scores before the softmax at `node`."""
    if mask.added is not None:
        scores = call_before(node, _aten.add.Tensor, scores, mask.added)
    if mask.places is None:
        return scores
    if mask.is_kept:
        return call_before(node, _aten.where.ScalarOther, mask.places, scores, mask.value)
    return call_before(node, _aten.masked_fill.Scalar, scores, mask.places, mask.value)


def masked_inner(node: object) -> Node | None:
    """The scores that a node masks for a softmax alone; None: it does no such thing."""
    if not isinstance(node, Node) or node.op != "call_function":
        return None
    target, inner = overload_of(node.target), None
    if target is _aten.masked_fill.Scalar:
        inner, value = node.args[0], node.args[2]
    elif target is _aten.where.ScalarOther:
        inner, value = node.args[1], node.args[2]
    if not isinstance(inner, Node) or value > _MASKED or len(node.users) != 1:
        return None
    (user,) = node.users
    names = (*_SOFTMAX, "aten._softmax")
    if user.op != "call_function" or base_name(user.target) not in names:
        return None
    shape, dim = node.meta["val"].shape, user.args[1]
    assert isinstance(dim, int)
    is_alike = is_static(node) and inner.meta["val"].shape == shape
    return inner if is_alike and shape[dim] <= MAX_COLUMNS else None


def is_static(node: Node) -> bool:
    """True if no size is left open."""
    return all(isinstance(size, int) for size in node.meta["val"].shape)


def _constant_numbers(node: Node, value: torch.Tensor) -> Mask | None:
    """Numbers that leave no weight are places, the others are added."""
    is_masked = value <= _MASKED
    if (is_masked & value.isfinite()).all(-1).any():
        return None  # rows without any weight left have one after all
    rest = torch.where(is_masked, torch.zeros_like(value), value)
    mask = _constant_places(node, is_masked)
    if not rest.any():
        return mask
    return replace(mask, added=constant_before(node, f"{node.name}_added", rest))


def _constant_places(node: Node, is_masked: torch.Tensor) -> Mask:
    if not is_masked.any():
        return Mask(None, may_empty_rows=False)
    places = constant_before(node, f"{node.name}_places", is_masked)
    return Mask(places, may_empty_rows=bool(is_masked.all(-1).any()))


def _both(node: Node, masks: list[Mask | None]) -> Mask | None:
    """Places that one of two masks takes."""
    first, second = masks
    if first is None or second is None or first.value != second.value:
        return None
    if first.added is not None or second.added is not None:
        return None
    places = [_masked_places(node, mask) for mask in (first, second) if mask.places is not None]
    if not places:
        return first
    union = places[0] if len(places) == 1 else call_before(node, _aten.logical_or.default, *places)
    return Mask(union, value=first.value)


def _masked_places(node: Node, mask: Mask) -> Node | None:
    if mask.places is None or not mask.is_kept:
        return mask.places
    return call_before(node, _aten.logical_not.default, mask.places)


def _put_masked_fill(node: Node, source: Node, a: dict[str, object]) -> None:
    scores, given, value = a["self"], a["mask"], a["value"]
    if not (isinstance(scores, Node) and isinstance(given, Node)):
        return
    if not isinstance(value, int | float) or value > _MASKED:
        return
    constant = constant_value(given)
    if constant is not None:
        mask = replace(_constant_places(node, constant), value=float(value))
    else:
        inner, is_negated = _without_not(given)
        mask = Mask(inner, is_negated, float(value))
    _put(node, source, scores, mask)


def _put_where(node: Node, source: Node) -> None:
    """Minus infinity may be a number or a tensor, on either side."""
    given, *sides = source.args
    values = [float(side) if not isinstance(side, Node) else _only_number(side) for side in sides]
    masked = [value is not None and value <= _MASKED for value in values]
    if not isinstance(given, Node) or masked.count(True) != 1:
        return
    is_kept = masked[1]
    scores, value = (sides[0], values[1]) if is_kept else (sides[1], values[0])
    if not isinstance(scores, Node) or value is None:
        return
    constant = constant_value(given)
    if constant is not None:
        mask = _constant_places(node, ~constant if is_kept else constant)
    else:
        inner, is_negated = _without_not(given)
        mask = Mask(inner, is_kept != is_negated)
    _put(node, source, scores, replace(mask, value=value))


def _put_sum(node: Node, source: Node, left: Node, right: Node) -> None:
    """Leaves sums with constants that mask nothing: they are operands like others."""
    for scores, given in ((left, right), (right, left)):
        mask = additive_mask(node, given)
        if mask is not None and mask.places is not None:
            _put(node, source, scores, mask)
            return
        if mask is None and _is_scaled_mask(given):
            for left in (node, source, given):
                left.meta[LEFT_KEY] = True
            return


def _is_scaled_mask(node: Node) -> bool:
    """True if numbers of an input become those that leave no weight.

    A range that holds both is useless for the scores.
    """
    while node.op == "call_function" and base_name(node.target) in _VIEWS:
        node = node.args[0]
    if node.op != "call_function" or base_name(node.target) not in ("aten.mul", "aten.masked_fill"):
        return False
    numbers = [arg for arg in node.args if isinstance(arg, int | float)]
    return any(abs(number) >= -_MASKED for number in numbers)


def _put(node: Node, source: Node, scores: Node, mask: Mask) -> None:
    if scores.meta["val"].shape != source.meta["val"].shape:
        return
    node.replace_input_with(source, masked_scores(node, scores, mask))
    erase_unused(source)


def _only_number(node: Node) -> float | None:
    """The number that a constant holds everywhere."""
    value = constant_value(node)
    if value is None or not bool((value == value.reshape(-1)[0]).all()):
        return None
    return float(value.reshape(-1)[0])


def _is_zero(node: object) -> bool:
    if not isinstance(node, Node) or node.op != "call_function":
        return False
    return base_name(node.target) in _ZEROS


def _without_not(node: Node) -> tuple[Node, bool]:
    """Finds the tensor under negations, and whether they are odd in number."""
    is_negated = False
    while node.op == "call_function" and base_name(node.target) in _NOT:
        node, is_negated = node.args[0], not is_negated
    return node, is_negated
