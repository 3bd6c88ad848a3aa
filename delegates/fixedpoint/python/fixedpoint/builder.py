"""Collects primitives while rules lower one pattern after the other."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.fx import Node

from fixedpoint.checked import ProgramError
from fixedpoint.checks import check_operation, check_tensor
from fixedpoint.constants import Constants
from fixedpoint.match import (
    DEQUANTIZE,
    INTEGERS,
    Match,
    NotLowered,
    is_call,
    is_dequantize,
    is_integer,
    is_per_channel,
    quantization_of,
)
from fixedpoint.numbers import NumberError, Quantization, float32_bits
from fixedpoint.program import MAX_RANK, ROUNDED, Kind, Operation, Program, Rounding, Tensor
from fixedpoint.values import (
    Order,
    Strides,
    Value,
    image_order,
    plain,
    read_in,
    shape_in,
    view_of,
)

_UNQUANTIZED = {torch.float32: "float32", **INTEGERS}
"""Types of inputs that have no parameters, by their names in a program."""


@dataclass(frozen=True)
class Modes:
    """Options of a lowering. `bias`: int64 or int32; `rounding`: half_up or half_even."""

    bias: str = "int64"
    rounding: str = "half_up"


@dataclass(frozen=True)
class Operand:
    """An input as a rule gets it: a tensor that holds the value in an order."""

    tensor: int
    quantization: Quantization
    shape: tuple[int, ...]
    order: Order


class Builder:
    """Primitives so far, and where the values of the graph lie."""

    def __init__(
        self,
        constants: Constants,
        modes: Modes | None = None,
        inside: Collection[Node] | None = None,
    ) -> None:
        """Takes what constants hold, options, and the nodes of the partition.

        Without these every node of the graph belongs to it.
        """
        self.program = Program()
        self._inside = inside
        self.constants = constants
        self.modes = modes or Modes()
        self._values: dict[Node, Value] = {}
        self._copies: dict[tuple[int, Strides], int] = {}
        self._match: Match | None = None

    def apply(self, rule: "Callable[[Builder, Match], Value]", match: Match) -> None:
        """Appends the primitives that a rule makes of one pattern.

        Raises:
            NotLowered: the rule refuses the pattern.
        """
        self._match = match
        if not all(self.is_inside(node) for node in match.nodes()):
            raise NotLowered("its operators lie in several parts of the program")
        try:
            self._values[match.quantize] = rule(self, match)
        except NumberError as error:
            raise NotLowered(str(error)) from error

    def is_inside(self, node: Node) -> bool:
        """True if a node belongs to what is lowered."""
        return self._inside is None or node in self._inside

    def value_of(self, node: Node) -> Value:
        """The integers of a node; one that nothing has made is an input, or a constant."""
        if node not in self._values:
            is_constant = self.constants.is_constant(node)
            self._values[node] = self._constant(node) if is_constant else self._input(node)
        return self._values[node]

    def value(self, node: object) -> Value:
        """The value behind a dequantize.

        Raises:
            NotLowered: the node is no per-tensor dequantize, or of another type than the result.
        """
        if not is_dequantize(node) or not isinstance(node, Node):
            raise NotLowered("one of its inputs is not quantized")
        if not isinstance(node.args[0], Node) or is_per_channel(node):
            raise NotLowered("one of its inputs is quantized per channel")
        found, parameters = self.value_of(node.args[0]), quantization_of(node)
        self._check_type(parameters)
        return Value(found.tensor, found.view, parameters)

    def read(self, node: object, order: Order | None = None) -> Operand:
        """The value behind a dequantize, in an order; None: the one in which it lies."""
        value = self.value(node)
        order = order or value.order() or plain(len(value.shape))
        return Operand(self.stored(value, order), value.quantization, value.shape, order)

    def stored(self, value: Value, order: Order) -> int:
        """A tensor that holds the value in this order: its own, or a copy."""
        if value.lies_in(order):
            return value.tensor
        read = read_in(value.view, order)
        key = (value.tensor, read)
        if key not in self._copies:
            made = self._strided(Kind.COPY, value.tensor, read, value, order)
            self._copies[key] = made.tensor
        return self._copies[key]

    def emit(
        self,
        kind: Kind,
        inputs: Sequence[int | None],
        shape: Sequence[int],
        order: Order,
        quantization: Quantization,
        attributes: dict[str, int],
        dtype: str | None = None,
        **numbers: Any,
    ) -> Value:
        """Appends a primitive whose result of this logical shape is stored in this order."""
        match = self._match
        nodes = () if match is None else tuple(match.nodes())
        name = f"t{len(self.program.tensors)}" if match is None else match.quantize.name
        scale, zero_point = quantization.scale, quantization.zero_point
        dtype = dtype or quantization.type.name
        tensor = Tensor(name, shape_in(shape, order), dtype, scale, zero_point)
        output = self.program.add_tensor(tensor)
        handles = tuple(n.meta["debug_handle"] for n in nodes if n.meta.get("debug_handle"))
        operation = Operation(
            kind, tuple(inputs), output, attributes, nodes=tuple(n.name for n in nodes),
            handles=handles, rounding=self._rounding(kind, quantization), **numbers,
        )  # fmt: skip
        try:
            check_operation(self.program, operation)
        except ProgramError as error:
            raise NotLowered(str(error)) from error
        self.program.operations.append(operation)
        return Value(output, view_of(shape, order), quantization)

    def quantize(self, node: Node) -> None:
        """Appends the boundary's quantize of a floating input."""
        source = node.args[0]
        assert isinstance(source, Node)
        parameters, shape = quantization_of(node), shape_of(node)
        given, order = self.value_of(source), image_order(len(shape))
        self._values[node] = self._strided(
            Kind.QUANTIZE, given.tensor, read_in(given.view, order),
            Value(given.tensor, given.view, parameters), order,
            {"zero_point": parameters.zero_point,
             "factor_bits": float32_bits(1.0 / parameters.scale)},
            low=parameters.low, high=parameters.high,
        )  # fmt: skip

    def finish(self, outputs: Iterable[Node]) -> Program:
        """Appends what brings results in the order of their logical shapes; returns the program."""
        for node in outputs:
            self.put_output(node)
        return self.program

    def put_output(self, node: Node) -> None:
        """Appends what brings one result in the order in which ExecuTorch keeps it."""
        self._match = None
        order = order_of(node)
        if is_call(node, DEQUANTIZE):
            value = self.value(node)
            parameters = value.quantization
            numbers = {
                "zero_point": parameters.zero_point,
                "factor_bits": float32_bits(parameters.scale),
            }
            kind, dtype = Kind.DEQUANTIZE, "float32"
        else:
            value, numbers, kind, dtype = self.value_of(node), {}, Kind.COPY, None
        read = read_in(value.view, order)
        made = self._strided(kind, value.tensor, read, value, order, numbers, dtype=dtype)
        tensors = self.program.tensors
        tensors[made.tensor] = replace(tensors[made.tensor], order=order)
        self.program.outputs.append(made.tensor)

    def _strided(
        self,
        kind: Kind,
        source: int,
        read: Strides,
        value: Value,
        order: Order,
        numbers: dict[str, int] | None = None,
        **more: Any,
    ) -> Value:
        """Appends what reads in strides and writes `value` in an order."""
        if len(read.dims) > MAX_RANK:
            raise NotLowered(f"it moves data in more than {MAX_RANK} dimensions")
        attributes = read.attributes() | (numbers or {})
        return self.emit(
            kind, (source,), value.shape, order, value.quantization, attributes, **more
        )

    def _check_type(self, source: Quantization) -> None:
        """Every primitive computes in one type."""
        if self._match is None:
            return
        made = quantization_of(self._match.quantize).type
        if source.type is not made:
            raise NotLowered(f"it takes {source.type.name} and makes {made.name}")

    def _rounding(self, kind: Kind, quantization: Quantization) -> Rounding:
        if kind not in ROUNDED or self.modes.rounding == "half_up":
            return Rounding.HALF_UP
        if quantization.zero_point % 2:
            raise NotLowered("rounding half to even requires an even zero point")
        return Rounding.HALF_EVEN

    def _input(self, node: Node) -> Value:
        shape, order = shape_of(node), order_of(node)
        dtype = _UNQUANTIZED.get(node.meta["val"].dtype)
        parameters = Quantization(1.0, 0) if dtype else _input_quantization(node)
        dtype = dtype or parameters.type.name
        scale, zero_point = parameters.scale, parameters.zero_point
        tensor = Tensor(node.name, shape_in(shape, order), dtype, scale, zero_point, order=order)
        if self._inside is not None:  # beside others an input may be a view that nothing stores
            _check_tensor(tensor)
        given = self.program.add_tensor(tensor)
        self.program.inputs.append(given)
        return Value(given, view_of(shape, order), parameters)

    def _constant(self, node: Node) -> Value:
        content = self.constants.get(node, "operand")
        is_quantized = not is_integer(node)
        parameters = _input_quantization(node) if is_quantized else Quantization(1.0, 0)
        given = self.program.add_constant(node.name, _bytes_of_mask(content))
        _check_tensor(self.program.tensors[given])
        return Value(given, view_of(content.shape, plain(content.ndim)), parameters)


def _check_tensor(tensor: Tensor) -> None:
    try:
        check_tensor(tensor)
    except ProgramError as error:
        raise NotLowered(str(error)) from error


def _bytes_of_mask(content: np.ndarray) -> np.ndarray:
    return content.astype(np.uint8) if content.dtype == np.bool_ else content


def _input_quantization(node: Node) -> Quantization:
    user = next((u for u in node.users if is_dequantize(u)), None)
    if user is None:
        raise NotLowered(f"nothing says how {node.name} is quantized")
    return quantization_of(user)


def order_of(node: Node) -> Order:
    """The order in which ExecuTorch keeps a node's value: that of its strides."""
    value = node.meta["val"]
    strides = [int(stride) for stride in value.stride()]
    order = tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))
    moved = [d for d in order if value.shape[d] != 1]
    return plain(len(order)) if moved == sorted(moved) else order


def shape_of(node: Node) -> tuple[int, ...]:
    """The logical shape of a node's value.

    Raises:
        NotLowered: a dimension is not known ahead of time.
    """
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor):
        raise NotLowered("it has several results, or none that is a tensor")
    dims = tuple(value.shape)
    if not all(isinstance(dim, int) for dim in dims):
        raise NotLowered("its shape is dynamic")
    return dims
