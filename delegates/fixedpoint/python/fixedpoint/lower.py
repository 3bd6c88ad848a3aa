"""Lowers an edge program whose boundary is int8 to primitives. The rules are in rules.py."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.export import ExportedProgram
from torch.fx import Node

from fixedpoint.layout import MAX_RANK, Strides, logical_view, stored_shape, strides_of
from fixedpoint.match import (
    DEQUANTIZE,
    QUANTIZE,
    Match,
    NotLowered,
    find_match,
    is_call,
    is_dequantize,
    is_of_input,
    quantization_of,
)
from fixedpoint.numbers import NumberError, Quantization, float32_bits
from fixedpoint.program import Kind, Operation, Program, Tensor


class Constants:
    """Contents of the parameters, buffers and constants that a program's placeholders stand for."""

    def __init__(self, exported: ExportedProgram) -> None:
        signature = exported.graph_signature
        self._names = {
            **signature.inputs_to_parameters,
            **signature.inputs_to_buffers,
            **signature.inputs_to_lifted_tensor_constants,
        }
        self._exported = exported

    def find(self, node: Node) -> torch.Tensor | None:
        """The content of a placeholder, None when it is an input."""
        name = self._names.get(node.name)
        if name is None:
            return None
        stored: Any = self._exported.state_dict.get(name)
        return self._exported.constants[name] if stored is None else stored

    def get(self, node: object, what: str) -> np.ndarray:
        """The content of a constant.

        Raises:
            NotLowered: it is none.
        """
        found = self.find(node) if isinstance(node, Node) else None
        if found is None:
            raise NotLowered(f"its {what} is not a constant")
        return _content(found)


def _content(tensor: torch.Tensor) -> np.ndarray:
    """Its elements.

    Partitioners are shown tensors without any: ones stand for real numbers there, zeros for
    integers, which no rule refuses.
    """
    if isinstance(tensor, FakeTensor):
        make = torch.ones if tensor.dtype.is_floating_point else torch.zeros
        with unset_fake_temporarily():
            tensor = make(tuple(tensor.shape), dtype=tensor.dtype)
    made: np.ndarray = tensor.detach().cpu().numpy()
    return made


class Builder:
    """Collects primitives while rules lower one pattern after the other."""

    def __init__(self, constants: Constants, bias: str = "int64") -> None:
        self.program = Program()
        self.constants = constants
        self.bias = bias
        self._tensors: dict[Node, int] = {}
        self._match: Match | None = None

    def lower(self, match: Match) -> None:
        """Appends the primitives of one pattern.

        Raises:
            NotLowered: no rule takes it.
        """
        from fixedpoint.rules import RULES

        rule = RULES.get(match.name())
        if rule is None:
            raise NotLowered("the delegate has no primitive for it")
        self._match = match
        try:
            self._tensors[match.quantize] = rule(self, match)
        except NumberError as error:
            raise NotLowered(str(error)) from error

    def tensor_of(self, node: Node) -> int:
        """The tensor of an int8 value; one that nothing has made yet is an input of the program."""
        if node not in self._tensors:
            self._tensors[node] = self._add_input(node)
        return self._tensors[node]

    def input(self, node: object) -> tuple[int, Quantization, tuple[int, ...]]:
        """Tensor, parameters and logical shape behind a dequantize.

        Raises:
            NotLowered: the node is no per-tensor dequantize of int8.
        """
        if not is_dequantize(node) or not isinstance(node, Node):
            raise NotLowered("one of its inputs is not quantized")
        if not isinstance(node.args[0], Node) or len(node.args) != 6 or is_weight(node):
            raise NotLowered("one of its inputs is quantized per channel")
        return self.tensor_of(node.args[0]), quantization_of(node), shape_of(node)

    def emit(
        self,
        kind: Kind,
        inputs: Sequence[int | None],
        shape: Sequence[int],
        quantization: Quantization,
        attributes: dict[str, int],
        dtype: str = "int8",
        **numbers: Any,
    ) -> int:
        """Appends a primitive with a new output of the storage's `shape`; returns the output."""
        match = self._match
        nodes = () if match is None else tuple(match.nodes())
        name = f"t{len(self.program.tensors)}" if match is None else match.quantize.name
        tensor = Tensor(name, tuple(shape), dtype, quantization.scale, quantization.zero_point)
        output = self.program.add_tensor(tensor)
        handles = tuple(n.meta["debug_handle"] for n in nodes if n.meta.get("debug_handle"))
        operation = Operation(
            kind, tuple(inputs), output, attributes, nodes=tuple(n.name for n in nodes),
            handles=handles, **numbers,
        )  # fmt: skip
        self.program.operations.append(operation)
        return output

    def copy(
        self, source: int, read: Strides, shape: Sequence[int], quantization: Quantization
    ) -> int:
        """Appends a strided copy."""
        if len(read.dims) > MAX_RANK:
            raise NotLowered(f"it moves data in more than {MAX_RANK} dimensions")
        return self.emit(Kind.COPY, (source,), shape, quantization, _attributes_of(read))

    def quantize(self, node: Node) -> None:
        """Appends the boundary's quantize of a floating input."""
        source = node.args[0]
        assert isinstance(source, Node)
        parameters, shape = quantization_of(node), shape_of(node)
        read = strides_of(torch.empty(shape, device="meta"))
        attributes = _attributes_of(read) | {
            "zero_point": parameters.zero_point,
            "factor_bits": float32_bits(1.0 / parameters.scale),
        }
        self._tensors[node] = self.emit(
            Kind.QUANTIZE, (self.tensor_of(source),), stored_shape(shape), parameters, attributes,
            low=parameters.low, high=parameters.high,
        )  # fmt: skip

    def finish(self, outputs: Iterable[Node]) -> Program:
        """Appends what brings results in the order of their logical shapes; returns the program."""
        self._match = None
        for node in outputs:
            read = strides_of(logical_view(shape_of(node)), is_stored=False)
            if is_call(node, DEQUANTIZE):
                made = self._dequantize(node, read)
            else:
                source = self.tensor_of(node)
                tensor = self.program.tensors[source]
                parameters = Quantization(tensor.scale, tensor.zero_point)
                made = self.copy(source, read, shape_of(node), parameters)
            self.program.outputs.append(made)
        return self.program

    def _dequantize(self, node: Node, read: Strides) -> int:
        """Appends the boundary's dequantize of a floating output."""
        source, parameters, shape = self.input(node)
        attributes = _attributes_of(read) | {
            "zero_point": parameters.zero_point,
            "factor_bits": float32_bits(parameters.scale),
        }
        return self.emit(Kind.DEQUANTIZE, (source,), shape, parameters, attributes, dtype="float32")

    def _add_input(self, node: Node) -> int:
        shape = shape_of(node)
        if node.meta["val"].dtype == torch.float32:
            given = self.program.add_tensor(Tensor(node.name, shape, "float32"))
            self.program.inputs.append(given)
            return given
        parameters = self._input_quantization(node)
        tensor = Tensor(node.name, shape, "int8", parameters.scale, parameters.zero_point)
        given = self.program.add_tensor(tensor)
        self.program.inputs.append(given)
        if len(shape) != 4:
            return given
        channels_last = torch.empty(shape, device="meta")
        return self.copy(given, strides_of(channels_last), stored_shape(shape), parameters)

    def _input_quantization(self, node: Node) -> Quantization:
        user = next((u for u in node.users if is_dequantize(u)), None)
        if user is None:
            raise NotLowered(f"nothing says how {node.name} is quantized")
        return quantization_of(user)


def _attributes_of(read: Strides) -> dict[str, int]:
    attributes = {"rank": len(read.dims), "offset": read.offset}
    for i in range(MAX_RANK):
        attributes[f"dim{i}"] = read.dims[i] if i < len(read.dims) else 0
        attributes[f"stride{i}"] = read.strides[i] if i < len(read.dims) else 0
    return attributes


def shape_of(node: Node) -> tuple[int, ...]:
    """The logical shape of a node's value.

    Raises:
        NotLowered: a dimension is not known ahead of time.
    """
    dims = tuple(node.meta["val"].shape)
    if not all(isinstance(dim, int) for dim in dims):
        raise NotLowered("its shape is dynamic")
    return dims


def is_weight(node: Node) -> bool:
    """Whether a dequantize is per channel."""
    return not is_call(node, "quantized_decomposed.dequantize_per_tensor")


def lower(exported: ExportedProgram, bias: str = "int64") -> Program:
    """The primitives of a partition: every node of it belongs to a pattern.

    Raises:
        NotLowered: one does not.
    """
    constants = Constants(exported)
    builder = Builder(constants, bias)
    for node in exported.graph.nodes:
        # In the order of the signature, not of first use.
        if node.op == "placeholder" and constants.find(node) is None:
            builder.tensor_of(node)
    for node in exported.graph.nodes:
        if is_call(node, QUANTIZE) and is_of_input(node):
            builder.quantize(node)
        elif is_call(node, QUANTIZE):
            builder.lower(find_match(node))
    (returned,) = exported.graph.output_node().args
    return fuse_tables(builder.finish(returned))


def fuse_tables(program: Program) -> Program:
    """A table that alone reads a convolution becomes part of it: the same bits, one pass less."""
    kept: list[Operation] = []
    made: dict[int | None, int] = {}
    for operation in program.operations:
        source = operation.inputs[0]
        before = made.get(source)
        if operation.kind is Kind.TABLE and before is not None and _is_fusable(program, source):
            fused = kept[before]
            kept[before] = replace(
                fused, inputs=(*fused.inputs, operation.inputs[1]), output=operation.output,
                nodes=fused.nodes + operation.nodes, handles=fused.handles + operation.handles,
            )  # fmt: skip
        else:
            if operation.kind is Kind.CONV2D:
                made[operation.output] = len(kept)
            kept.append(operation)
    return _without_unused(replace(program, operations=kept))


def _is_fusable(program: Program, index: int | None) -> bool:
    assert index is not None
    return index not in program.outputs and len(list(program.consumers(index))) == 1


def _without_unused(program: Program) -> Program:
    """Drops tensors that nothing reads or makes any more."""
    used = {*program.inputs, *program.outputs}
    for op in program.operations:
        used.update((*op.given_inputs(), op.output))
    place = {old: new for new, old in enumerate(sorted(used))}
    operations = [
        replace(
            op, output=place[op.output],
            inputs=tuple(None if i is None else place[i] for i in op.inputs),
        )
        for op in program.operations
    ]  # fmt: skip
    return Program(
        [program.tensors[old] for old in sorted(used)],
        operations,
        [place[i] for i in program.inputs],
        [place[i] for i in program.outputs],
    )
