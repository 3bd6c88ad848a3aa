"""Recipes for ONNX Runtime, on the real fork server and with ONNX Runtime itself."""

import importlib
import json

import pytest
import torch
from processor import NEEDS_VNNI
from toolchain_requests import assert_calibrated, build, completed_results, reference, sqnr_db

onnx = pytest.importorskip("onnx")
ort = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

pytestmark = pytest.mark.engine

ENGINE = {"engine": "onnxruntime", "produces": "onnx"}
ONNX = {**ENGINE, "lowering": {"flow": "onnx"}}
STATIC, DYNAMIC = "onnxruntime-int8", "onnxruntime-int8-dynamic"
NAMES = ("fp32", "fp16", "int8", "int8-dynamic")


def pairs(folder, expected, level):
    """Answers of the program with these graph optimizations, and the expected ones."""
    from safetensors.numpy import load_file

    inputs = load_file(expected / "inputs.safetensors")
    outputs = load_file(expected / "outputs.safetensors")
    options = ort.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        str(folder / "program.onnx"), options, providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    return [(outputs[key], session.run(None, {name: value})[0]) for key, value in inputs.items()]


def worst_sqnr_db(folder, expected):
    level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    return min(sqnr_db(wanted, made) for wanted, made in pairs(folder, expected, level))


@pytest.fixture(scope="module")
def built(server, factory, tmp_path_factory):
    """The small net by all four recipes, with its references."""
    root = tmp_path_factory.mktemp("built")
    ref = factory("small")
    done = {name: build(server, ref, f"onnxruntime/{name}", root / name) for name in NAMES}
    done["float32"] = reference(server, ref, root / "float32", kind="float32")
    for name, used in (("qdq", STATIC), ("qdq-dynamic", DYNAMIC), ("qdq-fp16", "float16")):
        done[name] = reference(server, ref, root / name, kind="qdq", quantization=used)
    return root, completed_results(done)


@pytest.mark.parametrize(
    ("name", "expected", "least_db"),
    [
        ("fp32", "float32", 90),
        ("fp16", "qdq-fp16", 50),
        pytest.param("int8", "qdq", 30, marks=NEEDS_VNNI),
        pytest.param("int8-dynamic", "qdq-dynamic", 90, marks=NEEDS_VNNI),
        pytest.param("int8", "float32", 15, marks=NEEDS_VNNI),
        pytest.param("int8-dynamic", "float32", 15, marks=NEEDS_VNNI),
    ],
)
def test_the_program_answers_like_its_reference(built, name, expected, least_db):
    root, _ = built
    assert worst_sqnr_db(root / name, root / expected) > least_db


@pytest.mark.parametrize("name", ["int8", "int8-dynamic"])
def test_quantization_shows(built, name):
    root, _ = built
    assert worst_sqnr_db(root / name, root / "float32") < 60


@pytest.mark.parametrize(("name", "expected"), [("int8", "qdq"), ("int8-dynamic", "qdq-dynamic")])
def test_the_reference_is_of_the_same_graph_as_the_program(built, name, expected):
    """Bit for bit what ONNX Runtime answers when it may optimize nothing."""
    root, _ = built
    level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    for wanted, made in pairs(root / name, root / expected, level):
        assert wanted.tobytes() == made.tobytes()


def test_the_reference_computes_what_is_written(built):
    """ONNX's own evaluator in numpy, which knows no fused kernel, agrees."""
    from onnx.reference import ReferenceEvaluator
    from safetensors.numpy import load_file

    root, _ = built
    evaluator = ReferenceEvaluator(str(root / "int8/program.onnx"))
    inputs = load_file(root / "qdq/inputs.safetensors")
    outputs = load_file(root / "qdq/outputs.safetensors")
    for key, value in inputs.items():
        assert sqnr_db(outputs[key], evaluator.run(None, {"x": value})[0]) > 60


def constants(folder):
    model = onnx.load(str(folder / "program.onnx"))
    return model, {
        tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer
    }


def test_weights_are_quantized_per_channel(built):
    root, _ = built
    model, known = constants(root / "int8")
    dequantized = {node.output[0]: node for node in model.graph.node if "Dequant" in node.op_type}
    (conv,) = [node for node in model.graph.node if node.op_type == "Conv"]
    weight, scale, zero_point = (known[name] for name in dequantized[conv.input[1]].input)
    assert (weight.dtype.name, weight.shape) == ("int8", (8, 3, 3, 3))
    assert scale.shape == (8,)
    assert not zero_point.any()
    assert len(set(scale.tolist())) > 1


def test_one_scale_a_tensor_is_an_option(server, factory, tmp_path):
    quantization = {"flow": "onnxruntime", "mode": "static", "is_per_channel": False}
    done = build(server, factory("small"), {**ONNX, "quantization": quantization}, tmp_path)
    assert done["outcome"] == "completed", done["text"]
    _, known = constants(tmp_path)
    assert known["conv.weight_scale"].shape == ()


def test_manifest_says_what_was_made(built):
    root, results = built
    manifest = results["int8"]
    assert manifest == json.loads((root / "int8/manifest.json").read_text())
    assert [file["name"] for file in manifest["files"]] == ["program.onnx"]
    assert (manifest["entry"], manifest["files"][0]["role"]) == ("program.onnx", "program")
    assert_calibrated(manifest)
    names = [stage["name"] for stage in manifest["stages"]]
    assert names == ["model", "export", "lower", "quantize", "serialize"]
    names = [stage["name"] for stage in results["fp32"]["stages"]]
    assert names == ["model", "quantize", "export", "lower", "serialize"]
    program = results["fp32"]["program"]
    assert program["bytes"] == results["fp32"]["files"][0]["bytes"]
    assert program["operators_delegated"]["aten.relu.default"] == 1
    assert program["operators_made"] == {
        "Conv": 1, "Gemm": 1, "ReduceMean": 1, "Relu": 1, "Reshape": 1
    }  # fmt: skip
    assert (results["fp32"]["delegation"], program["operators_left"]) == ("full", [])


def test_manifest_counts_what_quantizes(built):
    _, results = built
    static = results["int8"]["program"]["operators_made"]
    assert static["QuantizeLinear"] >= 3
    assert static["DequantizeLinear"] > static["QuantizeLinear"]
    dynamic = results["int8-dynamic"]["program"]["operators_made"]
    assert (dynamic["ConvInteger"], dynamic["MatMulInteger"]) == (1, 1)


def test_manifest_knows_the_boundary(built):
    _, results = built
    (method,) = results["int8"]["program"]["methods"]
    (x,), (y,) = method["inputs"], method["outputs"]
    assert (x["name"], x["dtype"], x["shape"]) == ("x", "float32", [1, 3, 16, 16])
    assert (x["quantization"]["dtype"], x["quantization"]["quant_max"]) == ("uint8", 255)
    assert y["quantization"]["scale"] > 0
    (method,) = results["fp32"]["program"]["methods"]
    assert method["inputs"][0]["quantization"] is None
    (method,) = results["fp16"]["program"]["methods"]
    assert [value["dtype"] for value in method["inputs"] + method["outputs"]] == ["float16"] * 2


def test_nodes_name_their_modules_and_no_place(built):
    root, _ = built
    model, _ = constants(root / "fp32")
    keys = {entry.key for node in model.graph.node for entry in node.metadata_props}
    assert keys == {"pkg.torch.onnx.name_scopes"}
    assert b".py" not in (root / "fp32/program.onnx").read_bytes()


def test_a_second_build_gives_the_same_bytes(server, factory, built, tmp_path):
    _, results = built
    for name in ("fp32", "int8"):
        again = build(server, factory("small"), f"onnxruntime/{name}", tmp_path / name)["result"]
        assert again["files"] == results[name]["files"], name


@pytest.mark.parametrize(
    "quantization",
    [
        {"activation_type": "uint8", "reduce_range": True},
        {"activation_type": "uint8", "weight_type": "uint8"},
        {"calibrate_method": "entropy", "activation_type": "int8"},
        {"calibrate_method": "percentile", "operators": ["Conv"]},
        {"mode": "dynamic", "operators": ["MatMul"], "weight_type": "uint8"},
    ],
)
def test_other_quantizations_build(server, factory, tmp_path, quantization):
    recipe = {**ONNX, "quantization": {"flow": "onnxruntime", **quantization}}
    done = build(server, factory("small"), recipe, tmp_path, stop_after="lower")
    assert done["outcome"] == "completed", done["text"]
    made = done["result"]["program"]["operators_made"]
    assert done["result"]["files"] == []
    is_dynamic = quantization.get("mode") == "dynamic"
    assert ("MatMulInteger" if is_dynamic else "QuantizeLinear") in made
    assert "ConvInteger" not in made


def test_a_bad_option_stops_the_build_before_the_export(server, factory, tmp_path):
    recipe = {**ONNX, "quantization": {"flow": "onnxruntime", "per_channel": True}}
    done = build(server, factory("small"), recipe, tmp_path)
    assert (done["outcome"], done["stage"]) == ("aot_error", "model")
    assert "did you mean is_per_channel" in done["text"]


@pytest.mark.parametrize(
    ("mode", "name", "words"),
    [("static", "Matmul", "did you mean MatMul"), ("dynamic", "Relu", "known: Attention")],
)
def test_a_bad_operator_to_quantize_is_named(server, factory, tmp_path, mode, name, words):
    recipe = {**ONNX, "quantization": {"flow": "onnxruntime", "mode": mode, "operators": [name]}}
    done = build(server, factory("small"), recipe, tmp_path)
    assert (done["outcome"], done["stage"]) == ("aot_error", "quantize")
    assert words in done["text"]


@pytest.mark.parametrize(("opset", "outcome"), [(21, "completed"), (9, None)])
def test_the_opset_is_an_option(server, factory, tmp_path, opset, outcome):
    recipe = {**ENGINE, "lowering": {"flow": "onnx", "options": {"opset": opset}}}
    done = build(server, factory("small"), recipe, tmp_path)
    assert done["outcome"] == (outcome or "unsupported"), done["text"]
    if outcome is None:
        assert "cannot make opset 9" in done["text"]
    else:
        assert (
            server.run(job="inspect", file=str(tmp_path / "program.onnx"))["result"]["opset"]
            == opset
        )


def test_an_operator_that_onnx_lacks_is_a_refusal(server, factory, tmp_path):
    done = build(server, factory("odd"), "onnxruntime/fp32", tmp_path)
    assert (done["outcome"], done["stage"]) == ("unsupported", "lower"), done["text"]
    assert "assay_tests.odd" in done["text"]


def test_a_failed_export_names_the_operator_and_the_cause(server, factory, tmp_path):
    done = build(server, factory("histogram"), "onnxruntime/fp32", tmp_path)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "lower_failed"), done["text"]
    assert "at aten.histc.default: aten_histc with min == max" in done["text"]


def test_has_no_eager_form_of_what_it_lowers_to(server, factory, tmp_path):
    done = reference(
        server, factory("small"), tmp_path, kind="lowered_eager", lowering={"flow": "onnx"}
    )
    assert done["outcome"] == "unsupported", done


def test_sizes_that_the_inputs_decide_are_open(server, tmp_path):
    import torch
    from toolchain_factories import small

    batch = torch.export.Dim("batch", min=1, max=8)
    module = small()[0].eval()
    exported = torch.export.export(
        module, (torch.zeros(2, 3, 16, 16),), dynamic_shapes=[{0: batch}]
    )
    path = tmp_path / "small.pt2"
    torch.export.save(exported, path)
    done = build(server, str(path), "onnxruntime/fp32", tmp_path / "made")
    assert done["outcome"] == "completed", done["text"]
    (method,) = done["result"]["program"]["methods"]
    assert method["inputs"][0]["shape"] == [-1, 3, 16, 16]
    assert method["inputs"][0]["dimensions"][1:] == ["", "", ""]
    assert method["inputs"][0]["dimensions"][0] == method["outputs"][0]["dimensions"][0] != ""
    assert method["outputs"][0]["shape"] == [-1, 10]


def test_several_inputs_and_types(server, factory, tmp_path):
    made = build(server, factory("two_inputs"), "onnxruntime/fp32", tmp_path)
    assert made["outcome"] == "completed", made["text"]
    (method,) = made["result"]["program"]["methods"]
    assert [value["dtype"] for value in method["inputs"]] == ["float32", "int64"]
    assert [value["name"] for value in method["inputs"]] == ["x", "index"]
    assert len(method["outputs"]) == 2


def test_weights_that_are_too_many_lie_beside_the_program(built, monkeypatch, tmp_path):
    from assay.toolchain.file_formats import onnx_model
    from assay.toolchain.flows import onnx
    from assay.toolchain.programs.manifest import DATA_SUFFIXES

    root, _ = built
    model, known = constants(root / "fp32")
    monkeypatch.setattr(onnx_model, "MAX_INLINE_BYTES", 100)
    program, data = onnx.serialize(model, tmp_path)
    assert data.suffix in DATA_SUFFIXES
    again, _ = constants(program.parent)
    assert {tensor.name for tensor in again.graph.initializer} == set(known)
    monkeypatch.undo()
    assert onnx.serialize(again, tmp_path) == [program]
    assert not data.exists()


def test_inspects_a_program(server, built):
    root, results = built
    done = server.run(job="inspect", file=str(root / "int8/program.onnx"))
    assert done["outcome"] == "completed", done["text"]
    found = done["result"]
    assert (found["format"], found["opset"]) == ("onnx", 20)
    assert found["sha256"] == results["int8"]["files"][0]["sha256"]
    (method,) = found["methods"]
    known = results["int8"]["program"]
    assert method["inputs"] == known["methods"][0]["inputs"]
    assert method["outputs"] == known["methods"][0]["outputs"]
    assert {entry["name"]: entry["count"] for entry in found["operators"]} == known[
        "operators_made"
    ]
    assert "QuantizeLinear" in found["text"]


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty"])
def test_a_corrupt_program_is_told(server, built, tmp_path, damage):
    data = (built[0] / "fp32/program.onnx").read_bytes()
    path = tmp_path / "broken.onnx"
    path.write_bytes({"cut": data[: len(data) // 2], "garbage": b"nonsense", "empty": b""}[damage])
    done = server.run(job="inspect", file=str(path))
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "corrupt_program"), done
    assert "broken.onnx is corrupt" in done["text"]


def test_the_list_says_whether_they_can_be_made(server):
    items = server.run(job="list", what="recipes")["result"]["items"]
    known = {item["name"]: item for item in items}
    for name in NAMES:
        assert known[f"onnxruntime/{name}"]["available"], known[f"onnxruntime/{name}"]["reason"]


@pytest.mark.parametrize("package", ["onnxscript", "onnx"])
def test_a_missing_package_is_named(monkeypatch, package):
    from assay.toolchain import packages
    from assay.toolchain.errors import MissingDependency

    def absent(name):
        raise ModuleNotFoundError(f"No module named '{name}'")

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(MissingDependency, match=f"pip install --no-deps {package}"):
        packages.import_package(package, wanted_by="the onnx lowering")


@pytest.mark.parametrize(("rows", "is_large"), [(131072, True), (1024, False)])
def test_weights_are_measured_by_type_and_shape(rows, is_large):
    """Nothing serializes them: protobuf cannot above 2 GiB."""
    from assay.toolchain.file_formats.onnx_model import is_too_large

    model = onnx.ModelProto()
    for name in ("text", "embedding"):
        tensor = model.graph.initializer.add(name=name, data_type=onnx.TensorProto.FLOAT)
        tensor.dims.extend([rows, 4160])
    model.graph.initializer[0].data_type = onnx.TensorProto.STRING
    assert is_too_large(model) is is_large


def test_calibration_refuses_types_that_numpy_lacks():
    from assay.toolchain.errors import Unsupported
    from assay.toolchain.quantize.onnx import _feed

    assert list(_feed(["x"], (torch.zeros(2),))["x"]) == [0, 0]
    with pytest.raises(Unsupported, match="no inputs of bfloat16"):
        _feed(["x"], (torch.zeros(2, dtype=torch.bfloat16),))
