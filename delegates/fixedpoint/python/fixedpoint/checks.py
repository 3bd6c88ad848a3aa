"""Checks of a program as the runtime makes them, so that both refuse the same programs.

The checks of validate.cpp and of the decoders beside it: sizes fit shapes, windows touch their
input, no accumulator and no product overflows. Lowering runs them on each operation that it emits,
and the reference on each program before it computes.
"""

import math
from collections.abc import Callable

import numpy as np

from fixedpoint.checked import MAX_BYTES, Checked, ProgramError, is_safe, product, require
from fixedpoint.integer_types import INT8
from fixedpoint.numbers import NumberError, check_epsilon, float32_from_bits
from fixedpoint.program import MAX_COLUMNS, MAX_RANK, Kind, Operation, Program, Tensor

_MAX_SIZE = 1 << 24
_MAX_INT32 = (1 << 31) - 1
_ONE = 1 << 30
_MAX_SUM_MULTIPLIER = 1 << 30
_INDICES = ("int32", "int64")


def check_program(program: Program) -> None:
    """Checks a whole program.

    Raises:
        ProgramError: names the operation and what is wrong with it.
    """
    made = {*program.inputs, *(i for i, t in enumerate(program.tensors) if t.data is not None)}
    used = {*program.inputs, *program.outputs}
    for position, operation in enumerate(program.operations):
        inputs = operation.given_inputs()
        used.update((*inputs, operation.output))
        if not made.issuperset(inputs):
            raise ProgramError(f"operation {position} reads a tensor that nothing has made")
        if operation.output in made:
            raise ProgramError(f"operation {position} writes a tensor that is there already")
        made.add(operation.output)
        try:
            check_operation(program, operation)
        except ProgramError as error:
            raise ProgramError(f"operation {position}: {error}") from error
    for index in used:
        check_tensor(program.tensors[index])
    if not made.issuperset(program.outputs):
        raise ProgramError("nothing makes an output of the program")


def check_operation(program: Program, operation: Operation) -> None:
    """Checks one operation by itself.

    Raises:
        ProgramError: says what is wrong with it.
    """
    check_tensor(program.tensors[operation.output])
    for value in (*operation.attributes.values(), *operation.multipliers):
        require(-_MAX_INT32 <= value <= _MAX_INT32, "a number of it leaves 32 bits")
    _CHECKS[operation.kind](Checked(program, operation))


def check_tensor(tensor: Tensor) -> None:
    """Checks the shape of a tensor.

    Raises:
        ProgramError: it has too many dimensions, or none of its elements can be stored.
    """
    if len(tensor.shape) > MAX_RANK:
        raise ProgramError(f"{tensor.name} has more than {MAX_RANK} dimensions")
    if not 0 < tensor.bytes <= MAX_BYTES:
        raise ProgramError(f"{tensor.name} has the shape {tensor.shape}: it is empty, or too large")


def _check_image(op: Checked, channels: tuple[str, str], dilation: tuple[int, int]) -> None:
    """Each window touches the input, and the tensors have the window's sizes."""
    sides = (("height", "pad_top", dilation[0]), ("width", "pad_left", dilation[1]))
    names = ["batch", *channels]
    for side, _, _ in sides:
        names += [f"{kind}_{side}" for kind in ("in", "out", "kernel", "stride")]
    sizes = [*(op[name] for name in names), *dilation]
    require(all(1 <= size <= _MAX_SIZE for size in sizes), "a size of its window is not positive")
    for side, pad, step in sides:
        reach = step * (op[f"kernel_{side}"] - 1) + 1
        last = (op[f"out_{side}"] - 1) * op[f"stride_{side}"] - op[pad]
        is_reachable = 0 <= op[pad] < reach <= _MAX_SIZE and last < op[f"in_{side}"]
        require(is_reachable, "its windows leave its input")
    require(op["kernel_height"] * op["kernel_width"] <= _MAX_SIZE, "its windows are too large")
    inner, outer = channels
    counts = [
        product([op["batch"], op[f"{where}_height"], op[f"{where}_width"], op[channel]])
        for where, channel in (("in", inner), ("out", outer))
    ]
    fits = op.is_operand(0, counts[0]) and op.is_output(counts[1])
    require(fits, "its window does not fit its tensors")


def _conv2d(op: Checked) -> None:
    op.check_clamp()
    groups, outputs, inputs = op["groups"], op["out_channels"], op["in_channels"]
    is_even = groups >= 1 and inputs % groups == 0 and outputs % groups == 0
    require(is_even, "its groups do not divide its channels")
    dilation = op["dilation_height"], op["dilation_width"]
    _check_image(op, ("in_channels", "out_channels"), dilation)
    is_padded = op.has_zero_point("input_zero_point")
    require(is_padded, "its padding is no zero point of its type")
    count = product([outputs, op["kernel_height"], op["kernel_width"], inputs // groups])
    require(0 < count <= _MAX_INT32, "its constants do not fit its window")
    weights = op.get_constant(1, "int8", count, "window")
    numbers = [
        op.get_constant(position, dtype, outputs, "window")
        for position, dtype in ((2, "int32"), (3, "uint8"), (4, "int64"))
    ]
    if op.input(5) is not None:
        require(op.type is INT8, "its constants do not fit its window")
        op.get_constant(5, "int8", 256, "window")
    sums = np.abs(weights.reshape(outputs, -1).astype(np.int64)).sum(1)
    rows = zip(sums.tolist(), *(values.tolist() for values in numbers), strict=True)
    for channel, (total, multiplier, shift, bias) in enumerate(rows):
        safe = is_safe(op.type, op.type.magnitude * total, multiplier, bias, shift)
        require(safe, f"its channel {channel} may overflow")


def _avg_pool2d(op: Checked) -> None:
    _check_image(op, ("channels", "channels"), (1, 1))
    is_padded = op.has_zero_point("input_zero_point")
    require(is_padded, "its padding is no zero point of its type")
    op.check_requantization(op.type.magnitude * op["kernel_height"] * op["kernel_width"])


def _max_pool2d(op: Checked) -> None:
    op.check_clamp()
    dilation = op["dilation_height"], op["dilation_width"]
    _check_image(op, ("channels", "channels"), dilation)


def _add(op: Checked) -> None:
    count = op["count"]
    fits = op.is_operand(0, count) and op.is_operand(1, count) and op.is_output(count)
    require(fits, "its operands have different sizes")
    op.check_clamp()
    for multiplier in op.operation.multipliers:
        safe = is_safe(op.type, 0, multiplier, op.operation.bias, op.operation.shift)
        require(safe and multiplier <= _MAX_SUM_MULTIPLIER, "its sum may overflow")


def _mul(op: Checked) -> None:
    count = product([op["outer"], op["rows"], op["inner"]])
    small = product([op["outer"], op["inner"]])
    fits = op.is_operand(0, count) and op.is_operand(1, small) and op.is_output(count)
    require(fits, "its operands do not fit each other")
    op.check_zero_points()
    op.check_requantization(op.type.span**2)


def _table(op: Checked) -> None:
    count, entries = op["count"], 256 if op.type is INT8 else 513
    fits = op.is_operand(0, count) and op.is_output(count)
    is_constant = op.constant(1, op.type.name, entries) is not None
    require(fits and is_constant, "it has no table of its type's size")


def _check_strided(op: Checked, source: str, made: str) -> None:
    given = op.input(0)
    if given is None or given.dtype != source or op.made.dtype != made:
        raise ProgramError("its output has another type")
    op.check_reads(given, op.made.elements)


def _copy(op: Checked) -> None:
    _check_strided(op, op.type.name, op.type.name)


def _check_factor(op: Checked) -> None:
    op.check_clamp()
    factor = float32_from_bits(op["factor_bits"])
    is_known = factor > 0 and math.isfinite(factor) and op.has_zero_point("zero_point")
    require(is_known, "its scale is not positive, or its zero point none of its type")


def _quantize(op: Checked) -> None:
    _check_strided(op, "float32", op.type.name)
    _check_factor(op)


def _dequantize(op: Checked) -> None:
    _check_strided(op, op.type.name, "float32")
    _check_factor(op)


def _concat(op: Checked) -> None:
    outer, total = op["outer"], 0
    for position in range(len(op.operation.inputs)):
        part = op.input(position)
        count = 0 if part is None else part.elements
        fits = outer >= 1 and op.is_operand(position, count) and count % outer == 0
        require(fits, "an input does not divide into its slices")
        total += count
    is_whole = total >= 1 and op.is_output(total)
    require(is_whole, "its output has another size than its inputs together")


def _matmul(op: Checked) -> None:
    batch, rows, columns, depth = (op[name] for name in ("batch", "rows", "columns", "depth"))
    fits = (
        op.is_operand(0, product([batch, rows, depth]))
        and op.is_operand(1, product([batch, columns, depth]))
        and op.is_output(product([batch, rows, columns]))
    )
    require(fits and depth <= _MAX_SIZE, "its matrices do not fit its tensors")
    op.check_zero_points()
    op.check_requantization(op.type.span**2 * depth)


def _check_rows(op: Checked) -> None:
    count = product([op["rows"], op["columns"]])
    fits = op["columns"] <= MAX_COLUMNS and op.is_operand(0, count) and op.is_output(count)
    require(fits, "its rows do not fit its tensors, or are too long")
    op.check_clamp()


def _softmax(op: Checked) -> None:
    _check_rows(op)
    op.check_requantization(_ONE)
    entries = 256 if op.type is INT8 else 512
    table = op.get_constant(1, "int32", entries, "type")
    are_bounded = bool((table >= 0).all() and (table <= _ONE).all())
    begins = bool((table.reshape(-1)[::256] == _ONE).all())
    require(are_bounded and begins, "its exponentials do not begin at one, or leave 30 bits")


def _masked_softmax(op: Checked) -> None:
    _softmax(op)
    mask = op.input(2)
    flags = {op["masks_nonzero"], op["equal_where_empty"]}
    if mask is None or mask.dtype != "uint8" or not flags <= {0, 1}:
        raise ProgramError("it has no mask of bytes, or does not say what they mask")
    op.check_reads(mask, op["rows"] * op["columns"])
    rank = op["rank"]
    is_by_rows = rank >= 2 and op[f"dim{rank - 1}"] == op["columns"]
    require(is_by_rows, "its mask is not read row by row")


def _layer_norm(op: Checked) -> None:
    _check_rows(op)
    columns = op["columns"]
    multipliers, shifts, biases = (
        op.get_constant(position, dtype, columns, "rows").tolist()
        for position, dtype in ((1, "int32"), (2, "uint8"), (3, "int64"))
    )
    try:
        check_epsilon(op.operation.bias, op["epsilon_bits"], columns, op.type)
    except NumberError as error:
        raise ProgramError(str(error)) from error
    for i in range(columns):
        safe = is_safe(op.type, _MAX_INT32, abs(multipliers[i]), biases[i], shifts[i])
        require(safe, f"its column {i} may overflow")


def _embedding(op: Checked) -> None:
    op.check_clamp()
    indices, rows, columns = op.input(0), op["rows"], op["columns"]
    if indices is None or indices.dtype not in _INDICES:
        raise ProgramError("its indices are neither int32 nor int64")
    made = op.made.elements
    fits = rows >= 1 and columns >= 1 and made % columns == 0 and op.is_output(made)
    require(fits, "its rows do not fit its output")
    op.get_constant(1, "int8", rows * columns, "table")
    numbers = [
        op.get_constant(position, dtype, rows, "table").tolist()
        for position, dtype in ((2, "int32"), (3, "uint8"), (4, "int64"))
    ]
    op.check_reads(indices, made // columns)
    for row, (multiplier, shift, bias) in enumerate(zip(*numbers, strict=True)):
        safe = is_safe(op.type, INT8.magnitude, multiplier, bias, shift)
        require(safe, f"its row {row} may overflow")
    if indices.data is not None:
        _check_indices(op, indices.data)
    else:
        is_input = op.operation.inputs[0] in op.program.inputs
        require(is_input, "its indices are neither an input of the program nor a constant")


def _check_indices(op: Checked, content: np.ndarray) -> None:
    """Those that are constants; those of an input are checked at each call."""
    rank = op["rank"]
    strides = [op[f"stride{i}"] * content.itemsize for i in range(rank)]
    flat = content.reshape(-1)[op["offset"] :]
    dims = [op[f"dim{i}"] for i in range(rank)]
    read = np.lib.stride_tricks.as_strided(flat, dims, strides)
    is_row = bool((read >= 0).all() and (read < op["rows"]).all())
    require(is_row, f"an index is none of the {op['rows']} rows")


_CHECKS: dict[Kind, Callable[[Checked], None]] = {
    Kind.CONV2D: _conv2d,
    Kind.ADD: _add,
    Kind.MUL: _mul,
    Kind.AVG_POOL2D: _avg_pool2d,
    Kind.MAX_POOL2D: _max_pool2d,
    Kind.TABLE: _table,
    Kind.COPY: _copy,
    Kind.CONCAT: _concat,
    Kind.QUANTIZE: _quantize,
    Kind.DEQUANTIZE: _dequantize,
    Kind.MATMUL: _matmul,
    Kind.SOFTMAX: _softmax,
    Kind.LAYER_NORM: _layer_norm,
    Kind.EMBEDDING: _embedding,
    Kind.MASKED_SOFTMAX: _masked_softmax,
}
