"""Recipes for OpenVINO, on the real fork server and with OpenVINO's own runtime."""

import json

import pytest
import torch
from processor import NEEDS_VNNI
from toolchain_requests import assert_calibrated, build, completed_results, reference, sqnr_db

from assay.toolchain.errors import Unsupported
from assay.toolchain.quantize.nncf import quantize

pytest.importorskip("openvino")

pytestmark = pytest.mark.engine

FP32, INT8 = "openvino/fp32", "openvino/int8"


def worst_sqnr_db(folder, expected):
    import openvino
    from safetensors.numpy import load_file

    inputs = load_file(expected / "inputs.safetensors")
    outputs = load_file(expected / "outputs.safetensors")
    program = openvino.compile_model(
        str(folder / "program.xml"), "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    return min(sqnr_db(outputs[name], program(value)[0]) for name, value in inputs.items())


@pytest.fixture(scope="module")
def built(server, factory, tmp_path_factory):
    """The small net by both recipes, with its float and QDQ references."""
    pytest.importorskip("nncf")
    root = tmp_path_factory.mktemp("built")
    ref = factory("small")
    done = {
        "fp32": build(server, ref, FP32, root / "fp32"),
        "int8": build(server, ref, INT8, root / "int8"),
        "float32": reference(server, ref, root / "float32", kind="float32"),
        "qdq": reference(server, ref, root / "qdq", kind="qdq", quantization="openvino-int8"),
    }
    return root, completed_results(done)


@pytest.mark.parametrize(
    ("name", "expected", "least_db"),
    [
        ("fp32", "float32", 90),
        pytest.param("int8", "qdq", 30, marks=NEEDS_VNNI),
        pytest.param("int8", "float32", 15, marks=NEEDS_VNNI),
    ],
)
def test_the_program_answers_like_its_reference(built, name, expected, least_db):
    root, _ = built
    assert worst_sqnr_db(root / name, root / expected) > least_db


def test_quantization_shows(built):
    root, _ = built
    assert worst_sqnr_db(root / "int8", root / "float32") < 60


def test_manifest_says_what_was_made(built):
    root, results = built
    manifest = results["int8"]
    assert manifest == json.loads((root / "int8/manifest.json").read_text())
    assert manifest["entry"] == "program.xml"
    roles = {entry["name"]: entry["role"] for entry in manifest["files"]}
    assert roles == {"program.xml": "program", "program.bin": "data"}
    assert_calibrated(manifest)
    assert results["fp32"]["calibration"] is None
    names = [stage["name"] for stage in manifest["stages"]]
    assert names == ["model", "quantize", "export", "lower", "serialize"]
    program = results["fp32"]["program"]
    assert program["bytes"] == sum(entry["bytes"] for entry in results["fp32"]["files"])
    assert program["operators_made"]["Convolution"] == 1
    assert program["operators_delegated"]["aten.relu.default"] == 1
    assert (manifest["delegation"], program["operators_left"]) == ("full", [])


def test_manifest_knows_the_boundary(built):
    _, results = built
    (method,) = results["int8"]["program"]["methods"]
    (x,) = method["inputs"]
    assert (x["name"], x["dtype"], x["shape"]) == ("x", "float32", [1, 3, 16, 16])
    assert x["quantization"]["dtype"] == "int8"
    assert results["fp32"]["program"]["methods"][0]["inputs"][0]["quantization"] is None


def test_weights_are_quantized_per_channel(built):
    root, _ = built
    text = (root / "int8/program.xml").read_text()
    assert 'element_type="i8" shape="8, 3, 3, 3"' in text
    assert 'shape="8, 1, 1, 1"' in text


def test_a_second_build_gives_the_same_bytes(server, factory, built, tmp_path):
    _, results = built
    for name, recipe in (("fp32", FP32), ("int8", INT8)):
        again = build(server, factory("small"), recipe, tmp_path / name)["result"]
        digests = [entry["sha256"] for entry in again["files"]]
        assert digests == [entry["sha256"] for entry in results[name]["files"]]


def test_weights_as_float16_are_an_option(server, factory, built, tmp_path):
    _, results = built
    recipe = {
        "engine": "openvino",
        "produces": "openvino_ir",
        "lowering": {"flow": "openvino", "options": {"compress_to_fp16": True}},
    }
    made = build(server, factory("small"), recipe, tmp_path)["result"]
    weights = [entry["bytes"] for entry in made["files"] if entry["role"] == "data"]
    whole = [entry["bytes"] for entry in results["fp32"]["files"] if entry["role"] == "data"]
    assert weights[0] < 0.6 * whole[0]


@pytest.mark.parametrize(
    ("recipe", "words"),
    [
        ({"lowering": {"flow": "openvino", "options": {"compress": True}}}, "did you mean"),
        ({"lowering": {"flow": "openvino", "options": {"compress_to_fp16": 1}}}, "takes bool"),
        (
            {
                "lowering": {"flow": "openvino"},
                "quantization": {"flow": "nncf", "preset": "fast"},
            },
            "unknown preset of nncf",
        ),
    ],
)
def test_refuses_and_says_why(server, factory, tmp_path, recipe, words):
    full = {"engine": "openvino", "produces": "openvino_ir", **recipe}
    done = build(server, factory("small"), full, tmp_path)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "invalid_request")
    assert words in done["text"]


def test_has_no_eager_form_of_what_it_lowers_to(server, factory, tmp_path):
    done = reference(
        server, factory("small"), tmp_path, kind="lowered_eager", lowering={"flow": "openvino"}
    )
    assert done["outcome"] == "unsupported", done


def test_several_inputs_and_types(server, factory, tmp_path):
    import openvino

    made = build(server, factory("two_inputs"), FP32, tmp_path)
    assert made["outcome"] == "completed", made["text"]
    (method,) = made["result"]["program"]["methods"]
    assert [value["dtype"] for value in method["inputs"]] == ["float32", "int64"]
    assert len(openvino.compile_model(str(tmp_path / "program.xml"), "CPU").outputs) == 2


def test_the_list_says_whether_they_can_be_made(server):
    items = server.run(job="list", what="recipes")["result"]["items"]
    known = {item["name"]: item for item in items}
    assert known[FP32]["available"], known[FP32]["reason"]
    assert {FP32, INT8} <= set(known)


@pytest.mark.parametrize("name", ["executorch/openvino-fp32", "executorch/openvino-int8"])
def test_is_a_delegate_of_executorch_too(server, factory, tmp_path, name):
    done = build(server, factory("small"), name, tmp_path)
    assert done["outcome"] == "completed", done["text"]
    program = done["result"]["program"]
    assert [delegate["backend"] for delegate in program["delegates"]] == ["OpenvinoBackend"]
    assert done["result"]["delegation"] == "full"
    assert (tmp_path / "program.pte").exists()


def test_inspects_a_program(server, built):
    root, results = built
    found = server.run(job="inspect", file=str(root / "int8/program.xml"))["result"]
    assert (found["format"], found["bytes"]) == (
        "openvino_ir",
        results["int8"]["files"][0]["bytes"],
    )
    (method,) = found["methods"]
    known = results["int8"]["program"]
    assert [value["shape"] for value in method["inputs"]] == [[1, 3, 16, 16]]
    assert method["outputs"][0]["dtype"] == "float32"
    made = {entry["name"]: entry["count"] for entry in found["operators"]}
    assert made == known["operators_made"]


@pytest.mark.parametrize("damage", ["cut", "alone"])
def test_a_corrupt_program_is_told(server, built, tmp_path, damage):
    text = (built[0] / "fp32/program.xml").read_text()
    path = tmp_path / "broken.xml"
    path.write_text(text[: len(text) // 2] if damage == "cut" else text)
    done = server.run(job="inspect", file=str(path))
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "corrupt_program"), done


def test_a_graph_that_nncf_does_not_understand_is_refused_with_a_way_out():
    pytest.importorskip("nncf")
    sample = (torch.randn(2, 3, 4),)
    graph = torch.export.export(torch.nn.GRU(4, 4).eval(), sample).module()
    with pytest.raises(Unsupported, match="recurrent layers"):
        quantize(graph, {}, [sample])
