"""Small files of the formats that inputs and programs made elsewhere come in."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest


def onnx_scale(path: Path, factor: float = 2.0, shape: Sequence[int | str] = ("batch", 3)) -> Path:
    """y = factor * x as an ONNX file; a name in `shape` leaves that dimension open."""
    onnx = pytest.importorskip("onnx")
    from onnx import helper, numpy_helper

    kind = onnx.TensorProto.FLOAT
    weight = numpy_helper.from_array(np.array(factor, np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "w"], ["y"])],
        "scale",
        [helper.make_tensor_value_info("x", kind, shape)],
        [helper.make_tensor_value_info("y", kind, shape)],
        [weight],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), str(path))
    return path


def onnx_test_data(
    folder: Path,
    inputs: Sequence[Sequence[np.ndarray]],
    outputs: Sequence[Sequence[np.ndarray]] = (),
) -> Path:
    """test_data_set_0, test_data_set_1, … with input_0.pb and, if there are some, output_0.pb."""
    onnx = pytest.importorskip("onnx")
    for what, samples in (("input", inputs), ("output", outputs)):
        for number, arrays in enumerate(samples):
            one = folder / f"test_data_set_{number}"
            one.mkdir(parents=True, exist_ok=True)
            for index, array in enumerate(arrays):
                proto = onnx.numpy_helper.from_array(array)
                (one / f"{what}_{index}.pb").write_bytes(proto.SerializeToString())
    return folder


def bundle(path: Path, *, is_wrong: bool = False) -> Path:
    """y = 2 * x of 1x4 float32 as a .bpte with two cases; wrong: it expects something else."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("executorch")
    from executorch.devtools import BundledProgram
    from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
    from executorch.devtools.bundled_program.serialize import (
        serialize_from_bundled_program_to_flatbuffer,
    )
    from executorch.exir import to_edge_transform_and_lower

    class Scale(torch.nn.Module):
        def forward(self, x: "torch.Tensor") -> "torch.Tensor":
            return x * 2

    samples = [torch.tensor([[1.0, -2.0, 3.0, 0.5]]), torch.tensor([[0.0, 4.0, -1.0, 7.0]])]
    exported = torch.export.export(Scale().eval(), (samples[0],))
    program = to_edge_transform_and_lower(exported).to_executorch()
    cases = [MethodTestCase((x,), (x * (3 if is_wrong else 2),)) for x in samples]
    bundled = BundledProgram(program, [MethodTestSuite("forward", cases)])
    path.write_bytes(serialize_from_bundled_program_to_flatbuffer(bundled))
    return path
