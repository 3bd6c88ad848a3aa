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


def test_bound_sizes_cost_no_second_session(tmp_path, monkeypatch):
    import onnxruntime

    from assay.engines.onnxruntime.engine import OnnxRuntimeEngine

    made = []
    session_of = onnxruntime.InferenceSession

    def counted(*given):
        made.append(given)
        return session_of(*given)

    monkeypatch.setattr(onnxruntime, "InferenceSession", counted)
    engine = OnnxRuntimeEngine()
    engine.prepare()
    entry = program(tmp_path, ["n", 3])
    session = engine.load(LoadRequest(entry=entry, options={"input_shapes": "x:4x3"}))
    assert len(made) == 1
    assert [list(spec.shape) for spec in session.report.inputs] == [[4, 3]]
    assert [list(spec.shape) for spec in session.report.outputs] == [[4, 3]]


def test_names_of_dimensions_are_read_without_the_weights(tmp_path):
    from assay.engines.onnxruntime.dimensions import read_dimension_names

    entry = program(tmp_path, ["batch", 3])
    assert read_dimension_names(entry) == {"x": ["batch", ""]}
    content = entry.read_bytes()
    for size in range(len(content)):
        entry.write_bytes(content[:size])
        assert set(read_dimension_names(entry)) <= {"x"}
    entry.write_bytes(bytes(range(256)))
    assert read_dimension_names(entry) == {}


def test_an_output_that_is_an_input_has_its_values(tmp_path):
    from assay.engines.onnxruntime.engine import OnnxRuntimeEngine

    float32 = onnx.TensorProto.FLOAT
    ports = [onnx.helper.make_tensor_value_info(name, float32, [2]) for name in ("x", "y")]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Neg", ["x"], ["y"])], "g", ports[:1], [ports[1], ports[0]]
    )
    opset = [onnx.helper.make_opsetid("", 18)]
    path = tmp_path / "through.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=9), str(path))
    engine = OnnxRuntimeEngine()
    engine.prepare()
    session = engine.load(LoadRequest(entry=path, options={}))
    for value in (1, 5):
        x = np.array([value, 2], np.float32)
        session.bind([x])
        session.execute()
        y, same = session.fetch()
        np.testing.assert_array_equal(y, -x)
        np.testing.assert_array_equal(same, x)


def test_a_size_needs_no_name_where_weights_are_listed_as_inputs(tmp_path):
    from assay.engines.onnxruntime.engine import OnnxRuntimeEngine

    float32 = onnx.TensorProto.FLOAT
    x, y, w = (
        onnx.helper.make_tensor_value_info(name, float32, shape)
        for name, shape in (("x", ["n", 2]), ("y", ["n", 2]), ("w", [2, 2]))
    )
    weights = onnx.helper.make_tensor("w", float32, [2, 2], [1.0, 0.0, 0.0, 1.0])
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [w, x], [y], [weights])
    opset = [onnx.helper.make_opsetid("", 8)]
    path = tmp_path / "old.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=3), str(path))
    engine = OnnxRuntimeEngine()
    engine.prepare()
    session = engine.load(LoadRequest(entry=path, options={"input_shapes": "4x2"}))
    assert [list(spec.shape) for spec in session.report.inputs] == [[4, 2]]
