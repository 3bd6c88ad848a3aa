"""Runs a lowered program with the reference operators: every tensor, no runtime."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from fixedpoint import reference, transformer
from fixedpoint.checks import check_program
from fixedpoint.numbers import float32_from_bits
from fixedpoint.program import ATTRIBUTES, Kind, Operation, Program

Values = dict[int, torch.Tensor]


def evaluate(program: Program, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The program's outputs, in their logical shapes.

    Raises:
        ProgramError: the runtime would not load the program.
    """
    values: Values = {}
    for _ in steps(program, inputs, values):
        pass
    return [program.tensors[index].logical(values[index].numpy()) for index in program.outputs]


def steps(
    program: Program, inputs: Sequence[np.ndarray], values: Values | None = None
) -> Iterator[tuple[Operation, np.ndarray]]:
    """Runs operation by operation and yields each with what it made.

    `values` collects tensors by index when it is given, as they are stored.

    Raises:
        ProgramError: the runtime would not load the program.
    """
    check_program(program)
    values = {} if values is None else values
    for index, tensor in enumerate(program.tensors):
        if tensor.data is not None:
            values[index] = torch.from_numpy(np.array(tensor.data))
    for index, array in zip(program.inputs, inputs, strict=True):
        values[index] = torch.from_numpy(np.array(program.tensors[index].stored(array)))
    for operation in program.operations:
        made = _CALLS[operation.kind](program, operation, values)
        values[operation.output] = made.reshape(program.tensors[operation.output].shape)
        yield operation, values[operation.output].numpy()


def _window(attributes: dict[str, int]) -> tuple[list[int], list[int], list[int]]:
    """Stride, padding, output size."""
    return (
        [attributes["stride_height"], attributes["stride_width"]],
        [attributes["pad_top"], attributes["pad_left"]],
        [attributes["out_height"], attributes["out_width"]],
    )


def _image(x: torch.Tensor, attributes: dict[str, int], channels: str) -> torch.Tensor:
    shape = (attributes["batch"], attributes["in_height"], attributes["in_width"])
    return x.reshape(*shape, attributes[channels])


def _conv2d(program: Program, op: Operation, values: Values) -> torch.Tensor:
    a = dict(op.attributes)
    x, weight, multiplier, shift, bias, *table = (
        None if i is None else values[i] for i in op.inputs
    )
    assert x is not None
    return reference.conv2d(
        _image(x, a, "in_channels"), weight, multiplier, shift, bias, table[0] if table else None,
        *_window(a), [a["dilation_height"], a["dilation_width"]], a["groups"],
        a["input_zero_point"], op.low, op.high, op.rounding,
    )  # fmt: skip


def _add(program: Program, op: Operation, values: Values) -> torch.Tensor:
    a, b = (values[i] for i in op.given_inputs())
    return reference.add(
        a.reshape(-1), b.reshape(-1), *op.multipliers, op.shift, op.bias, op.low, op.high,
        op.rounding,
    )  # fmt: skip


def _mul(program: Program, op: Operation, values: Values) -> torch.Tensor:
    a, b = (values[i] for i in op.given_inputs())
    outer, rows, inner = (op.attributes[key] for key in ("outer", "rows", "inner"))
    return reference.mul(
        a.reshape(outer, rows, inner), b.reshape(outer, 1, inner), op.attributes["zero_point_a"],
        op.attributes["zero_point_b"], op.multipliers[0], op.shift, op.bias, op.low, op.high,
        op.rounding,
    )  # fmt: skip


def _avg_pool2d(program: Program, op: Operation, values: Values) -> torch.Tensor:
    a = dict(op.attributes)
    return reference.avg_pool2d(
        _image(values[op.given_inputs()[0]], a, "channels"),
        [a["kernel_height"], a["kernel_width"]], *_window(a), a["input_zero_point"],
        op.multipliers[0], op.shift, op.bias, op.low, op.high,
        op.rounding,
    )  # fmt: skip


def _max_pool2d(program: Program, op: Operation, values: Values) -> torch.Tensor:
    a = dict(op.attributes)
    return reference.max_pool2d(
        _image(values[op.given_inputs()[0]], a, "channels"),
        [a["kernel_height"], a["kernel_width"]], *_window(a),
        [a["dilation_height"], a["dilation_width"]], op.low, op.high,
    )  # fmt: skip


def _table(program: Program, op: Operation, values: Values) -> torch.Tensor:
    x, table = (values[i] for i in op.given_inputs())
    return reference.table(x, table)


def _strided(program: Program, op: Operation, values: Values) -> torch.Tensor:
    return _read(values[op.given_inputs()[0]], op)


def _read(x: torch.Tensor, op: Operation) -> torch.Tensor:
    a, rank = op.attributes, op.attributes["rank"]
    dims = [a[f"dim{i}"] for i in range(rank)]
    strides = [a[f"stride{i}"] for i in range(rank)]
    source = x.contiguous().reshape(-1)
    return source.as_strided(dims, strides, a["offset"]).contiguous()


def _quantize(program: Program, op: Operation, values: Values) -> torch.Tensor:
    x = _strided(program, op, values)
    a = op.attributes
    factor = float32_from_bits(a["factor_bits"])
    bits = 8 * np.dtype(program.tensors[op.output].dtype).itemsize
    return reference.quantize(x, factor, a["zero_point"], op.low, op.high, bits)


def _dequantize(program: Program, op: Operation, values: Values) -> torch.Tensor:
    a = op.attributes
    x = _strided(program, op, values)
    return reference.dequantize(x, float32_from_bits(a["factor_bits"]), a["zero_point"])


def _concat(program: Program, op: Operation, values: Values) -> torch.Tensor:
    outer = op.attributes["outer"]
    return torch.cat([values[i].reshape(outer, -1) for i in op.given_inputs()], 1)


def _matmul(program: Program, op: Operation, values: Values) -> torch.Tensor:
    a, b = (values[i] for i in op.given_inputs())
    batch, rows, columns, depth, zero_point_a, zero_point_b = (
        op.attributes[name] for name in ATTRIBUTES[Kind.MATMUL]
    )
    return transformer.matmul(
        a.reshape(batch, rows, depth), b.reshape(batch, columns, depth), zero_point_a,
        zero_point_b, op.multipliers[0], op.shift, op.bias, op.low, op.high, op.rounding,
    )  # fmt: skip


def _embedding(program: Program, op: Operation, values: Values) -> torch.Tensor:
    table, multiplier, shift, bias = (values[i] for i in op.given_inputs()[1:])
    bits = 8 * np.dtype(program.tensors[op.output].dtype).itemsize
    indices = _strided(program, op, values)
    shape = (op.attributes["rows"], op.attributes["columns"])
    return reference.embedding(
        indices, table.reshape(shape), multiplier, shift, bias, op.low, op.high, bits
    )


def _rows(x: torch.Tensor, op: Operation) -> torch.Tensor:
    return x.reshape(op.attributes["rows"], op.attributes["columns"])


def _softmax(program: Program, op: Operation, values: Values) -> torch.Tensor:
    x, exponentials = (values[i] for i in op.given_inputs())
    return transformer.softmax(
        _rows(x, op), exponentials, op.multipliers[0], op.shift, op.bias, op.low, op.high
    )


def _masked_softmax(program: Program, op: Operation, values: Values) -> torch.Tensor:
    x, exponentials, mask = (values[i] for i in op.given_inputs())
    a = op.attributes
    nonzero = _read(mask, op).reshape(a["rows"], a["columns"]) != 0
    kept = ~nonzero if a["masks_nonzero"] else nonzero
    return transformer.masked_softmax(
        _rows(x, op), kept, exponentials, bool(a["equal_where_empty"]), op.multipliers[0],
        op.shift, op.bias, op.low, op.high,
    )  # fmt: skip


def _layer_norm(program: Program, op: Operation, values: Values) -> torch.Tensor:
    x, multiplier, shift, bias = (values[i] for i in op.given_inputs())
    return transformer.layer_norm(
        _rows(x, op), multiplier, shift, bias, op.bias, op.attributes["epsilon_bits"], op.low,
        op.high,
    )  # fmt: skip


_CALLS: dict[Kind, Callable[[Program, Operation, Values], torch.Tensor]] = {
    Kind.CONV2D: _conv2d,
    Kind.ADD: _add,
    Kind.MUL: _mul,
    Kind.AVG_POOL2D: _avg_pool2d,
    Kind.MAX_POOL2D: _max_pool2d,
    Kind.TABLE: _table,
    Kind.COPY: _strided,
    Kind.CONCAT: _concat,
    Kind.QUANTIZE: _quantize,
    Kind.DEQUANTIZE: _dequantize,
    Kind.MATMUL: _matmul,
    Kind.SOFTMAX: _softmax,
    Kind.LAYER_NORM: _layer_norm,
    Kind.EMBEDDING: _embedding,
    Kind.MASKED_SOFTMAX: _masked_softmax,
}
