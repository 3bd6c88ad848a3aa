"""The reader of TOSA's flatbuffers, on a program that is written here."""

import flatbuffers
import pytest

from assay.toolchain.file_formats.tosa import TosaTensor, read_program

INT8, FP32 = 3, 7
CONV2D, CONST, NEWER = 3, 67, 200


def table(builder, fields):
    """`fields`: (adds one, its arguments) by number."""
    builder.StartObject(max(fields) + 1)
    for number, (add, value) in fields.items():
        add(number, value, 0)
    return builder.EndObject()


def vector(builder, offsets):
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return builder.EndVector()


def program():
    """Two inputs, an output, three operators; version 1.1."""
    builder = flatbuffers.Builder()
    offset, number = builder.PrependUOffsetTRelativeSlot, builder.PrependUint32Slot
    tensors = []
    for name, kind, shape in (("a", INT8, [1, 2]), ("b", FP32, []), ("c", 99, [3])):
        text = builder.CreateString(name)
        builder.StartVector(4, len(shape), 4)
        for size in reversed(shape):
            builder.PrependInt32(size)
        sizes = builder.EndVector()
        fields = {0: (offset, text), 1: (offset, sizes), 2: (number, kind)}
        tensors.append(table(builder, fields))
    operators = [table(builder, {0: (number, one)}) for one in (CONV2D, CONST, NEWER)]
    inputs = vector(builder, [builder.CreateString(name) for name in "ba"])
    outputs = vector(builder, [builder.CreateString("c")])
    lists = [vector(builder, operators), vector(builder, tensors), inputs, outputs]
    block = table(builder, {1 + place: (offset, one) for place, one in enumerate(lists)})
    region = table(builder, {1: (offset, vector(builder, [block]))})
    version = table(builder, {0: (builder.PrependInt32Slot, 1), 1: (builder.PrependInt32Slot, 1)})
    regions = vector(builder, [region])
    builder.Finish(table(builder, {0: (offset, version), 1: (offset, regions)}), b"TOSA")
    return bytes(builder.Output())


def test_the_boundary_the_operators_and_the_version_are_read():
    read = read_program(program())
    assert read.inputs == (TosaTensor("b", "float32", ()), TosaTensor("a", "int8", (1, 2)))
    assert read.outputs == (TosaTensor("c", "type 99", (3,)),)
    assert read.operators == {"CONV2D": 1, "CONST": 1, "OPERATOR_200": 1}
    assert read.version == "1.1"


def test_other_and_damaged_files_are_refused():
    content = program()
    with pytest.raises(ValueError, match="at byte 4"):
        read_program(b"0123TFL3" + content[8:])
    for size in range(9, len(content) - 8, 7):
        with pytest.raises(ValueError, match="ends early"):
            read_program(content[:size])
