"""Recipes for LiteRT, on the fork server of their own toolchain and with LiteRT itself."""

import importlib.util
import json

import pytest
from toolchain_client import Client, find_own_toolchain
from toolchain_requests import assert_calibrated, build, completed_results, reference, sqnr_db

from assay.toolchain.errors import JobError, RequestError
from assay.toolchain.file_formats.litert_interpreter import make_interpreter
from assay.toolchain.quantize.litert import MODES, check_options, check_weights
from assay.toolchain.recipes import availability

NAMES = ("fp32", "int8", "int8-dynamic")
RECIPE = {"engine": "litert", "produces": "tflite", "lowering": {"flow": "litert"}}


@pytest.fixture(scope="module")
def litert_server():
    toolchain = find_own_toolchain("litert")
    if toolchain is None:
        pytest.skip("no toolchain for LiteRT: make litert")
    client = Client([str(toolchain), "-m", "assay.toolchain.server", "--jobs", "1"])
    assert client.next_event()["event"] == "ready"
    yield client
    assert client.close() == 0


@pytest.fixture(scope="module")
def built(litert_server, factory, tmp_path_factory):
    """The small net by all three recipes, with its references."""
    root = tmp_path_factory.mktemp("built")
    ref = factory("small")
    done = {name: build(litert_server, ref, f"litert/{name}", root / name) for name in NAMES}
    done["float32"] = reference(litert_server, ref, root / "float32", kind="float32")
    for name, used in (("qdq", "litert-int8"), ("qdq-dynamic", "litert-int8-dynamic")):
        folder = root / name
        done[name] = reference(litert_server, ref, folder, kind="qdq", quantization=used)
    return root, completed_results(done)


def worst_sqnr_db(folder, expected):
    """SQNR of LiteRT's answers over all samples."""
    from safetensors.numpy import load_file

    inputs = load_file(expected / "inputs.safetensors")
    outputs = load_file(expected / "outputs.safetensors")
    interpreter = make_interpreter(folder / "program.tflite")
    (x,), (y,) = interpreter.get_input_details(), interpreter.get_output_details()

    def run(value):
        interpreter.set_tensor(x["index"], value)
        interpreter.invoke()
        return interpreter.get_tensor(y["index"])

    return min(sqnr_db(outputs[key], run(value)) for key, value in inputs.items())


@pytest.mark.engine
@pytest.mark.parametrize(
    ("name", "expected", "least_db"),
    [
        ("fp32", "float32", 90),
        ("int8", "qdq", 30),
        ("int8-dynamic", "qdq-dynamic", 30),
        ("int8", "float32", 15),
        ("int8-dynamic", "float32", 15),
    ],
)
def test_the_program_answers_like_its_reference(built, name, expected, least_db):
    root, _ = built
    assert worst_sqnr_db(root / name, root / expected) > least_db


@pytest.mark.engine
@pytest.mark.parametrize("name", ["int8", "int8-dynamic"])
def test_quantization_shows(built, name):
    root, _ = built
    assert worst_sqnr_db(root / name, root / "float32") < 70


class Doubled:
    """An interpreter of a program with weights twice as large."""

    def __init__(self, interpreter):
        self.interpreter = interpreter

    def __getattr__(self, name):
        return getattr(self.interpreter, name)

    def get_tensor(self, index):
        return self.interpreter.get_tensor(index) * 2


@pytest.mark.engine
@pytest.mark.parametrize("name", ["int8", "int8-dynamic"])
def test_a_quantizer_that_halves_weights_is_blamed(built, name):
    root, _ = built
    floating, quantized = (
        make_interpreter(root / made / "program.tflite", "BUILTIN_REF") for made in ("fp32", name)
    )
    check_weights(floating, quantized)
    with pytest.raises(JobError, match="the largest weight of"):
        check_weights(Doubled(floating), quantized)


@pytest.mark.engine
def test_the_reference_is_computed_in_the_programs_own_integers(built):
    """Its outputs lie on the grid of the program's last quantization; the float32 ones do not."""
    import numpy as np
    from safetensors.numpy import load_file

    root, _ = built
    interpreter = make_interpreter(root / "int8/program.tflite", "BUILTIN_REF")
    (last,) = [n for n in interpreter._get_ops_details() if n["op_name"] == "DEQUANTIZE"]
    details = {one["index"]: one for one in interpreter.get_tensor_details()}
    (scale,) = details[last["inputs"][0]]["quantization_parameters"]["scales"]

    def off_grid(name):
        values = load_file(root / name / "outputs.safetensors").values()
        steps = np.concatenate([value.ravel() for value in values]) / scale
        return float(np.abs(steps - np.round(steps)).max())

    assert off_grid("qdq") < 1e-3
    assert off_grid("float32") > 0.1


@pytest.mark.engine
def test_manifest_says_what_was_made_and_who_takes_it(built):
    root, results = built
    manifest = results["int8"]
    assert manifest == json.loads((root / "int8/manifest.json").read_text())
    assert [file["name"] for file in manifest["files"]] == ["program.tflite"]
    assert_calibrated(manifest)
    names = [stage["name"] for stage in manifest["stages"]]
    assert names == ["model", "export", "lower", "quantize", "serialize"]
    assert manifest["toolchain"]["packages"]["litert-torch"] is not None
    (method,) = manifest["program"]["methods"]
    assert [value["dtype"] for value in method["inputs"] + method["outputs"]] == ["float32"] * 2
    program = manifest["program"]
    assert (program["operators_delegated"]["QUANTIZE"], manifest["delegation"]) == (1, "full")
    assert program["delegates"] == [{"backend": "XNNPACK", "count": 1}]


@pytest.mark.engine
def test_what_xnnpack_leaves_is_named(litert_server, factory, tmp_path):
    done = build(litert_server, factory("partial"), "litert/fp32", tmp_path)
    program = done["result"]["program"]
    assert done["result"]["delegation"] == "partial"
    assert program["operators_left"] == [{"name": "CUMSUM", "count": 1, "reason": None}]
    assert program["nodes_delegated"] == sum(program["operators_delegated"].values()) > 0


@pytest.mark.engine
def test_inputs_keep_their_order_and_types(litert_server, factory, tmp_path):
    done = build(litert_server, factory("two_inputs"), "litert/fp32", tmp_path)
    (method,) = done["result"]["program"]["methods"]
    assert [(v["dtype"], v["shape"]) for v in method["inputs"]] == [
        ("float32", [1, 8]),
        ("int64", [3]),
    ]
    assert [value["shape"] for value in method["outputs"]] == [[1, 8], [1, 3]]


@pytest.mark.engine
def test_a_second_build_gives_the_same_bytes(litert_server, factory, built, tmp_path):
    _, results = built
    for name in NAMES:
        again = build(litert_server, factory("small"), f"litert/{name}", tmp_path / name)["result"]
        assert again["files"] == results[name]["files"], name


@pytest.mark.engine
def test_other_modes_and_kinds(litert_server, factory, tmp_path):
    recipe = {**RECIPE, "quantization": {"flow": "litert", "mode": "weight_only"}}
    done = build(litert_server, factory("small"), recipe, tmp_path / "weights")
    assert done["result"]["program"]["operators_delegated"]["DEQUANTIZE"] == 2
    more = {"quantization": "litert-int8", "lowering": RECIPE["lowering"]}
    refused = reference(
        litert_server, factory("small"), tmp_path / "lowered", kind="lowered_eager", **more
    )
    assert refused["outcome"] == "unsupported"


@pytest.mark.engine
def test_a_program_can_be_looked_into(litert_server, built, tmp_path):
    root, _ = built
    path = root / "int8/program.tflite"
    found = litert_server.run(job="inspect", file=str(path))["result"]
    counts = {one["name"]: one["count"] for one in found["operators"]}
    assert (found["format"], counts["CONV_2D"], counts["QUANTIZE"]) == ("tflite", 1, 1)
    assert found["methods"][0]["inputs"][0]["shape"] == [1, 3, 16, 16]
    damaged = tmp_path / "half.tflite"
    damaged.write_bytes(path.read_bytes()[:500])
    refused = litert_server.run(job="inspect", file=str(damaged))
    assert refused["reason_code"] == "corrupt_program"


def test_without_its_toolchain_a_recipe_says_how_to_get_it(monkeypatch):
    found = importlib.util.find_spec
    lacking = ("litert_torch", "ai_edge_quantizer")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in lacking else found(name)
    )
    missing = availability.describe()["missing"]
    for name in NAMES:
        assert "make litert" in missing[f"litert/{name}"]


@pytest.mark.parametrize("options", [{"mode": "statik"}, {"mod": "static"}])
def test_options_of_the_quantization_are_checked(options):
    with pytest.raises(RequestError, match="did you mean"):
        check_options(options)
    for mode in MODES:
        check_options({"mode": mode})
