"""Generated cases of each primitive: the runtime beside the definitions.

FIXEDPOINT_CASES says how many of each, 300 unless it is given.
"""

import os
from dataclasses import replace

import numpy as np
import pytest
from fixedpoint_cases import DRAWN, cases

COUNT = int(os.environ.get("FIXEDPOINT_CASES", "300"))


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_the_runtime_gives_the_bits_of_the_definition(name, library):
    from fixedpoint import blob, evaluate, planner

    seen = set()
    for number, (program, inputs) in enumerate(cases(name, COUNT)):
        (expected,) = evaluate.evaluate(program, inputs)
        written = blob.write(program, planner.plan(program))
        for isa in library.isa_names():
            (found,) = library.run(program, written, inputs, isa)
            np.testing.assert_array_equal(found, expected, err_msg=f"{name} {number} {isa}")
        seen.update(expected.reshape(-1).tolist())
    assert len(seen) > 100


def changed_attribute(name, value):
    def change(program):
        (operation,) = program.operations
        attributes = {**operation.attributes, name: value}
        program.operations[0] = replace(operation, attributes=attributes)

    return change


def changed(**fields):
    def change(program):
        program.operations[0] = replace(program.operations[0], **fields)

    return change


def changed_constant(position, value):
    def change(program):
        index = program.operations[0].inputs[position]
        data = program.tensors[index].data.copy()
        data[0] = value
        program.tensors[index] = replace(program.tensors[index], data=data)

    return change


def with_constant(data):
    """One input more."""

    def change(program):
        operation = program.operations[0]
        inputs = (*operation.inputs, program.add_constant("more", data))
        program.operations[0] = replace(operation, inputs=inputs)

    return change


def changed_table(entries, dtype):
    def change(program):
        operation = program.operations[0]
        given = program.add_constant("table", np.zeros(entries, dtype))
        program.operations[0] = replace(operation, inputs=(operation.inputs[0], given))

    return change


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("matmul", changed_attribute("depth", 5), "matrices do not fit"),
        ("matmul", changed_attribute("rows", -1), "matrices do not fit"),
        ("matmul", changed_attribute("zero_point_b", 128), "zero point of its matrices"),
        ("matmul", changed(shift=0), "requantization may overflow"),
        ("matmul", changed(rounding=2), "does not know its rounding"),
        ("softmax", changed_attribute("columns", 3), "rows do not fit"),
        ("softmax", changed_attribute("columns", 0), "rows do not fit"),
        ("softmax", changed_constant(1, 0), "exponentials do not begin at one"),
        ("softmax", changed(rounding=1), "does not know its rounding"),
        ("layer_norm", changed_attribute("rows", 9), "rows do not fit"),
        ("layer_norm", changed(bias=0), "constants do not fit"),
        ("layer_norm", changed(bias=1 << 61), "constants do not fit"),
        ("layer_norm", changed_attribute("epsilon_bits", 16), "constants do not fit"),
        ("layer_norm", changed_attribute("epsilon_bits", -1), "constants do not fit"),
        ("layer_norm_int16", changed_attribute("epsilon_bits", 15), "constants do not fit"),
        ("conv2d", changed_attribute("pad_top", 1 << 10), "windows leave its input"),
        ("layer_norm", changed_constant(2, 63), "column 0 may overflow"),
        ("layer_norm", changed_constant(3, (1 << 62) + 1), "column 0 may overflow"),
        ("masked_softmax", changed_attribute("stride0", 1 << 20), "past the end of its input"),
        ("masked_softmax", changed_attribute("rows", 99), "rows do not fit"),
        ("masked_softmax", changed_attribute("dim2", 0), "its output has another size"),
        ("masked_softmax", changed_attribute("masks_nonzero", 2), "what they mask"),
        ("masked_softmax", changed_attribute("equal_where_empty", -1), "what they mask"),
        ("masked_softmax", changed_constant(1, 0), "exponentials do not begin at one"),
        ("masked_softmax", changed(shift=0), "requantization may overflow"),
        ("masked_softmax_int16", changed_table(256, np.int32), "no table of 512 exponentials"),
        ("embedding", changed_attribute("rows", 99), "constants do not fit its table"),
        ("embedding", changed_attribute("columns", 1 << 20), "rows do not fit its output"),
        ("embedding", changed_attribute("stride0", 1 << 20), "past the end of its input"),
        ("embedding", changed_attribute("rank", 7), "no rank that this runtime copies"),
        ("embedding", changed_constant(3, 0), "row 0 may overflow"),
        ("embedding", changed(low=-129), "no range of its type"),
        ("embedding", changed(rounding=1), "does not know its rounding"),
        ("embedding_int16", changed_constant(3, 15), "row 0 may overflow"),
        ("conv2d_int16", changed_attribute("input_zero_point", 1), "no zero point of its type"),
        ("conv2d_int16", changed_constant(3, 15), "channel 0 may overflow"),
        ("conv2d_int16", changed(low=-32769), "no range of its type"),
        ("conv2d_int16", with_constant(np.zeros(256, np.int8)), "constants do not fit"),
        ("conv2d_int16", with_constant(np.zeros(513, np.int16)), "constants do not fit"),
        ("add_int16", changed(shift=15), "its sum may overflow"),
        ("mul_int16", changed_attribute("zero_point_a", -1), "zero point of its operands"),
        ("mul_int16", changed(shift=15), "requantization may overflow"),
        ("mul", changed(low=-129), "no range of its type"),
        ("avg_pool2d_int16", changed_attribute("input_zero_point", -1), "no zero point"),
        ("table_int16", changed_table(256, np.int16), "no table of its type"),
        ("table_int16", changed_table(513, np.int8), "no table of its type"),
        ("table", changed_table(513, np.int16), "no table of its type"),
        ("quantize_int16", changed_attribute("zero_point", 1), "zero point none of its type"),
        ("dequantize_int16", changed_attribute("zero_point", 1), "zero point none of its type"),
        ("matmul_int16", changed_attribute("zero_point_b", 1), "zero point of its matrices"),
        ("softmax_int16", changed_table(256, np.int32), "no table of 512 exponentials"),
        ("softmax_int16", changed_constant(1, 0), "exponentials do not begin at one"),
        ("layer_norm_int16", changed_constant(2, 15), "column 0 may overflow"),
    ],
)
def test_what_could_overflow_or_leave_its_tensors_is_refused(name, change, reason, library):
    from fixedpoint import blob, planner
    from fixedpoint.checked import ProgramError
    from fixedpoint.checks import check_program
    from fixedpoint.runtime import BlobError

    ((program, _),) = cases(name, 1, seed=5)
    library.check(blob.write(program, planner.plan(program)))
    check_program(program)
    change(program)
    with pytest.raises(BlobError, match=reason):
        library.check(blob.write(program, planner.plan(program)))
    with pytest.raises(ProgramError):
        check_program(program)


@pytest.mark.parametrize("index", [-1, 4, 1 << 40, -(1 << 63)])
@pytest.mark.parametrize("is_constant", [False, True])
def test_an_index_outside_of_its_table_is_an_error_before_anything_is_read(
    index, is_constant, library
):
    from fixedpoint import blob, evaluate, planner
    from fixedpoint.checked import ProgramError
    from fixedpoint.runtime import BlobError, InputError

    program, indices = embedding_of([0, 3, 1, 2, 3], is_constant)
    written = blob.write(program, planner.plan(program))
    (expected,) = evaluate.evaluate(program, indices)
    np.testing.assert_array_equal(expected, [[-3, 2], [9, 7], [-1, 0], [4, 5], [9, 7]])
    for isa in library.isa_names():
        (found,) = library.run(program, written, indices, isa)
        np.testing.assert_array_equal(found, expected)
    program, indices = embedding_of([0, 3, index, 2, 3], is_constant)
    written = blob.write(program, planner.plan(program))
    reason = f"operation 0: index {index} at position 2 is none of the 4 rows"
    for isa in library.isa_names():
        with pytest.raises(BlobError if is_constant else InputError, match=reason):
            library.run(program, written, indices, isa)
    with pytest.raises(ProgramError if is_constant else IndexError, match="none of the 4 rows"):
        evaluate.evaluate(program, indices)


def embedding_of(indices, is_constant):
    """Rows of a table of 4 x 2 as they are; the program, and what goes in."""
    from fixedpoint.program import ATTRIBUTES, Kind, Operation, Program, Tensor

    program, array = Program(), np.array(indices, np.int64)
    if is_constant:
        given = program.add_constant("indices", array)
    else:
        given = program.add_tensor(Tensor("indices", array.shape, "int64"))
        program.inputs.append(given)
    constants = [
        np.array([[-3, 2], [-1, 0], [4, 5], [9, 7]], np.int8),
        np.full(4, 1 << 30, np.int32),
        np.full(4, 30, np.uint8),
        np.full(4, 1 << 29, np.int64),
    ]
    inputs = (given, *(program.add_constant(f"c{i}", data) for i, data in enumerate(constants)))
    output = program.add_tensor(Tensor("y", (len(indices), 2)))
    values = (1, 0, len(indices), *[0] * 5, 1, *[0] * 5, 4, 2)
    attributes = dict(zip(ATTRIBUTES[Kind.EMBEDDING], values, strict=True))
    program.operations.append(Operation(Kind.EMBEDDING, inputs, output, attributes))
    program.outputs.append(output)
    return program, [] if is_constant else [array]
