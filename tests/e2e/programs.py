"""Small models and programs that several tests use."""

from collections.abc import Sequence

import pytest

FACTORY = """
import torch


def net():
    torch.manual_seed(1)
    layers = torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 3)
    return torch.nn.Sequential(*layers).eval(), (torch.zeros(1, 3, 12, 12),)
"""
"""`net`, a float32 network of two convolutions over 1x3x12x12."""

RELU = 19


def onnx_relu() -> bytes:
    """y = relu(x) of eight float32, as an ONNX file."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    x, y = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 8]) for name in ("x", "y")
    )
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [x], [y])
    opset = helper.make_opsetid("", 20)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=10)
    return bytes(model.SerializeToString())


def onnx_pair(dtype: str) -> bytes:
    """y = concat(x, x), for eight elements of a numpy type, as an ONNX file."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    element = getattr(onnx.TensorProto, dtype.upper())
    x = helper.make_tensor_value_info("x", element, [1, 8])
    y = helper.make_tensor_value_info("y", element, [1, 16])
    graph = helper.make_graph(
        [helper.make_node("Concat", ["x", "x"], ["y"], axis=1)], "p", [x], [y]
    )
    opset = helper.make_opsetid("", 20)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=10)
    return bytes(model.SerializeToString())


def tflite_relu() -> bytes:
    """y = relu(x) of eight float32, as a TensorFlow Lite file."""
    flatbuffers = pytest.importorskip("flatbuffers")
    builder = flatbuffers.Builder(512)

    def vector(values: Sequence[int], is_offsets: bool = False) -> int:
        builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            (builder.PrependUOffsetTRelative if is_offsets else builder.PrependInt32)(value)
        return int(builder.EndVector())

    def table(*fields: tuple[int, int]) -> int:
        """Fields that refer to something: (slot, offset)."""
        builder.StartObject(max(slot for slot, _ in fields) + 1)
        for slot, offset in fields:
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        return int(builder.EndObject())

    def tensor(name: str) -> int:
        text, shape = builder.CreateString(name), vector([1, 8])
        return table((0, shape), (3, text))

    tensors = vector([tensor("x"), tensor("y")], is_offsets=True)
    inputs, outputs = vector([0]), vector([1])
    operators = vector([table((1, inputs), (2, outputs))], is_offsets=True)
    ends = vector([0]), vector([1])
    graphs = vector([table((0, tensors), (1, ends[0]), (2, ends[1]), (3, operators))], True)
    builder.StartObject(4)
    builder.PrependInt8Slot(0, RELU, 0)
    builder.PrependInt32Slot(2, 1, 0)
    builder.PrependInt32Slot(3, RELU, 0)
    codes = vector([int(builder.EndObject())], is_offsets=True)
    builder.StartObject(1)
    buffers = vector([int(builder.EndObject())], is_offsets=True)
    builder.StartObject(5)
    builder.PrependUint32Slot(0, 3, 0)
    for slot, end in ((1, codes), (2, graphs), (4, buffers)):
        builder.PrependUOffsetTRelativeSlot(slot, end, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"TFL3")
    return bytes(builder.Output())
