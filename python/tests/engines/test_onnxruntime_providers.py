"""Execution providers of ONNX Runtime that come in packages of their own."""

import importlib.util

import numpy as np
import pytest

from assay._errors import AssayError
from assay.engines.base import LoadRequest

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

QNN = "QNNExecutionProvider"


@pytest.fixture
def engine():
    from assay.engines.onnxruntime.engine import OnnxRuntimeEngine

    made = OnnxRuntimeEngine()
    made.prepare()
    return made


def program(folder):
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    x, y = (helper.make_tensor_value_info(name, float32, [1, 8]) for name in ("x", "y"))
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    path = folder / "program.onnx"
    onnx.save(model, str(path))
    return path


def load(engine, folder, **options):
    return engine.load(LoadRequest(entry=program(folder), options=options))


def test_a_provider_whose_package_is_missing_says_how_to_get_it(engine, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime_qnn", None)
    with pytest.raises(AssayError, match="make qnn") as caught:
        load(engine, tmp_path, provider=QNN)
    assert caught.value.code == "unavailable"


def test_an_unknown_provider_is_refused_with_the_known_ones(engine, tmp_path):
    with pytest.raises(AssayError, match="CPUExecutionProvider") as caught:
        load(engine, tmp_path, provider="NoneExecutionProvider")
    assert caught.value.code == "unavailable"


@pytest.mark.parametrize("text", ["{", "[]", "7"])
def test_options_of_a_provider_are_an_object(engine, tmp_path, text):
    with pytest.raises(AssayError, match="JSON object") as caught:
        load(engine, tmp_path, provider_options=text)
    assert caught.value.code == "invalid_argument"


def test_the_cpu_is_no_emulator(engine, tmp_path):
    assert load(engine, tmp_path).report.emulator == ""


@pytest.mark.skipif(importlib.util.find_spec("onnxruntime_qnn") is None, reason="needs make qnn")
def test_qnn_computes_on_its_emulator_and_says_so(engine, tmp_path):
    session = load(engine, tmp_path, provider=QNN)
    assert session.report.backends == [QNN]
    assert "emulator" in session.report.emulator
    x = np.linspace(-2, 2, 8, dtype=np.float32)[None]
    session.bind([x])
    session.execute()
    np.testing.assert_allclose(session.fetch()[0], np.maximum(x, 0), atol=2e-3)


def test_what_the_cpu_computes_of_another_provider_is_counted():
    from types import SimpleNamespace as Part

    from assay.engines.onnxruntime.engine import count_by_provider

    def part(name, *kinds):
        return Part(ep_name=name, get_nodes=lambda: [Part(op_type=kind) for kind in kinds])

    parts = [part("CPUExecutionProvider", "Add", "Add"), part("FooExecutionProvider", "Conv")]
    assert count_by_provider(parts) == {"operators_left": {"Add": 2}, "operators_taken": 1}
