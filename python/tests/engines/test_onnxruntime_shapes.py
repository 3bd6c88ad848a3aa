import numpy as np
import pytest

from assay.engines.base import LoadRequest

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")


def program(folder, shape):
    float32 = onnx.TensorProto.FLOAT
    ports = [onnx.helper.make_tensor_value_info(name, float32, shape) for name in ("x", "y")]
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    graph = onnx.helper.make_graph([node], "g", ports[:1], ports[1:])
    opset = [onnx.helper.make_opsetid("", 18)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=9)
    path = folder / "program.onnx"
    onnx.save(model, str(path))
    return path


def test_a_session_takes_a_size_after_another_and_the_first_again(tmp_path):
    from assay.engines.onnxruntime.engine import OnnxRuntimeEngine

    engine = OnnxRuntimeEngine()
    engine.prepare()
    request = LoadRequest(entry=program(tmp_path, ["n", 3]), options={"memory_arena": True})
    session = engine.load(request)
    for size in (2, 5, 9, 2):
        x = np.random.default_rng(size).normal(size=(size, 3)).astype(np.float32)
        session.bind([x])
        for _ in range(2):
            session.execute()
            (y,) = session.fetch()
            np.testing.assert_array_equal(y, np.maximum(x, 0))
