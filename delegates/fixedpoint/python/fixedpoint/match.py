"""Finds dq -> operator -> q in an edge graph: what becomes one primitive, why the rest does not.

A match ends in a quantize; before it stand activations that are clamps, and before them one
operator whose floating inputs are all dequantized values. A quantize of a dequantized value alone
is a requantization, an operator of no kind.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch.fx import Node

from fixedpoint.functions import base_name, bounds_of
from fixedpoint.integer_types import INT8, INT16
from fixedpoint.masking import masked_inner
from fixedpoint.numbers import Quantization

QUANTIZE = "quantized_decomposed.quantize_per_tensor"
DEQUANTIZE = "quantized_decomposed.dequantize_per_tensor"
DEQUANTIZE_CHANNELS = "quantized_decomposed.dequantize_per_channel"
_TYPES = {torch.int8: INT8, torch.int16: INT16}

INTEGERS = {torch.int32: "int32", torch.int64: "int64", torch.bool: "uint8"}
"""Types of inputs that are not quantized, indices and masks, by their names in a program."""

MOVES = (
    "aten.view",
    "aten.reshape",
    "aten.flatten",
    "aten.squeeze",
    "aten.unsqueeze",
    "aten.permute",
    "aten.transpose",
    "aten.slice",
    "aten.select",
    "aten.expand",
    "aten.clone",
    "aten.alias",
    "aten.dropout",
    "aten._to",
    "dim_order_ops._to_dim_order",
    "dim_order_ops._clone_dim_order",
)
"""Operators that only move data."""

_CONVERSIONS = ("aten.dropout", "aten._to", "dim_order_ops._to_dim_order")
VIEWS = tuple(name for name in MOVES if name not in _CONVERSIONS)
"""Those among them that keep the type of integers: another is a conversion."""


class NotLowered(Exception):
    """Raised when a pattern is no primitive of this delegate; its text is for the report."""


@dataclass(frozen=True)
class Match:
    """One pattern. `core` is None for a requantization, whose input is `dequantizes[0]`."""

    quantize: Node
    core: Node | None
    activations: tuple[Node, ...]
    dequantizes: tuple[Node, ...]
    moves: tuple[Node, ...] = ()
    """Operators that only move data, before a core that moves data, too."""
    mask: Node | None = None
    """The operator that masks the input of a softmax."""

    def integers(self) -> Iterator[Node]:
        """Inputs of the operator that are not quantized: indices, a mask."""
        for reader in (self.core, self.mask):
            if reader is not None:
                yield from (node for node in reader.all_input_nodes if is_integer(node))

    def nodes(self) -> Iterator[Node]:
        """Every node that belongs to the pattern."""
        yield from self.dequantizes
        yield from self.moves
        if self.mask is not None:
            yield self.mask
        if self.core is not None:
            yield self.core
        yield from self.activations
        yield self.quantize

    def name(self) -> str:
        """The operator's name, or `requantize`."""
        return "requantize" if self.core is None else base_name(self.core.target)


def is_call(node: object, *names: str) -> bool:
    """True if a node calls one of the named operators."""
    return isinstance(node, Node) and node.op == "call_function" and base_name(node.target) in names


def is_integer(node: object) -> bool:
    """True if a node's value is a tensor of indices, or a mask."""
    value = node.meta.get("val") if isinstance(node, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype in INTEGERS


def is_dequantize(node: object) -> bool:
    """True if a node dequantizes, per tensor or per channel."""
    return is_call(node, DEQUANTIZE, DEQUANTIZE_CHANNELS)


def is_per_channel(node: Node) -> bool:
    """True if a dequantize is per channel."""
    return is_call(node, DEQUANTIZE_CHANNELS)


def is_of_input(quantize: Node) -> bool:
    """True if a quantize is of an input, of the program or of the partition."""
    source = quantize.args[0]
    return isinstance(source, Node) and source.op == "placeholder"


def quantization_of(node: Node) -> Quantization:
    """The parameters that a per-tensor quantize or dequantize is written with.

    Raises:
        NotLowered: they are not constants of a type of activations.
    """
    scale, zero_point, low, high, dtype = node.args[1:6]
    if not isinstance(scale, float | int) or not isinstance(zero_point, int):
        raise NotLowered("its quantization parameters are computed, not constants")
    kind = _TYPES.get(dtype)
    if kind is None:
        raise NotLowered(f"it is quantized to {dtype}, neither to int8 nor to int16")
    if not (math.isfinite(scale) and scale > 0):
        raise NotLowered(f"its scale is {scale}; calibrate it with finite values")
    if zero_point != 0 and not kind.has_zero_points:
        raise NotLowered(f"it is quantized to {dtype} with a zero point, {zero_point}")
    return Quantization(float(scale), zero_point, int(low), int(high), kind)


def find_match(quantize: Node) -> Match:
    """The pattern that ends in `quantize`.

    Raises:
        NotLowered: there is none.
    """
    node: object = quantize.args[0]
    activations: list[Node] = []
    while isinstance(node, Node) and _is_activation(node):
        _check_only_user(node)
        activations.insert(0, node)
        node = node.args[0]
    if not isinstance(node, Node) or node.op != "call_function":
        raise NotLowered("it quantizes an input of the program")
    if is_dequantize(node):
        return Match(quantize, None, tuple(activations), (node,))
    _check_only_user(node)
    moves = _moves_before(node)
    mask = node.args[0] if node.args and masked_inner(node.args[0]) is not None else None
    first = moves[0] if moves else mask or node
    inputs = tuple(_dequantized_inputs(first))
    if is_call(node, *MOVES):
        _check_moves((*moves, node), inputs)
    return Match(quantize, node, tuple(activations), inputs, moves, mask)


def _check_moves(moves: Iterable[Node], inputs: tuple[Node, ...]) -> None:
    """Refuses conversions: of integers, which are not quantized, or to another real type."""
    if len(inputs) != 1:
        raise NotLowered("its input is not quantized")
    for node in moves:
        dtype = node.meta["val"].dtype
        if dtype != torch.float32:
            raise NotLowered(f"it converts to {dtype}; the delegate has quantized values only")


def _moves_before(core: Node) -> tuple[Node, ...]:
    moves: list[Node] = []
    node = core
    while is_call(node, *MOVES) and is_call(node.args[0], *MOVES):
        node = node.args[0]
        _check_only_user(node)
        moves.insert(0, node)
    return tuple(moves)


def _is_activation(node: Node) -> bool:
    """A clamp that another operator may take in; one of a dequantized value stands alone."""
    if node.op != "call_function" or bounds_of(base_name(node.target), node.args) is None:
        return False
    return not is_dequantize(node.args[0])


def _check_only_user(node: Node) -> None:
    if len(node.users) > 1:
        names = ", ".join(user.name for user in node.users)
        raise NotLowered(f"its result is read before it is quantized, by {names}")


def _dequantized_inputs(node: Node) -> Iterator[Node]:
    for source in node.all_input_nodes:
        if is_dequantize(source):
            yield source
        elif source.op != "placeholder" and _is_floating(source):
            raise NotLowered(f"its input {source.name} is not quantized")


def _is_floating(node: Node) -> bool:
    value = node.meta.get("val")
    return not isinstance(value, torch.Tensor) or value.dtype.is_floating_point
