"""Recipes for PyTorch itself: an exported program as it is, and compiled by AOTInductor."""

import shutil

import pytest
from toolchain_requests import assert_builds_repeat, build, completed_results, reference, sqnr_db

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.engine

EAGER, INT8, AOTI = "torch/eager", "torch/eager-int8", "torch/aoti"


def pairs(function, expected):
    from safetensors.torch import load_file

    inputs = load_file(expected / "inputs.safetensors")
    outputs = load_file(expected / "outputs.safetensors")
    with torch.no_grad():
        return [(outputs[key], function(value)) for key, value in inputs.items()]


@pytest.fixture(scope="module")
def built(server, factory, tmp_path_factory, one_thread):
    root = tmp_path_factory.mktemp("built")
    ref = factory("small")
    done = {
        "eager": build(server, ref, EAGER, root / "eager"),
        "int8": build(server, ref, INT8, root / "int8"),
        "float32": reference(server, ref, root / "float32", kind="float32"),
        "qdq": reference(server, ref, root / "qdq", kind="qdq", quantization="xnnpack-int8"),
    }
    return root, completed_results(done)


@pytest.fixture(scope="module")
def compiled(server, factory, tmp_path_factory):
    """A package of AOTInductor; compiling takes seconds, so there is one."""
    if shutil.which("g++") is None:
        pytest.skip("AOTInductor needs g++")
    folder = tmp_path_factory.mktemp("compiled")
    done = build(server, factory("small"), AOTI, folder)
    assert done["outcome"] == "completed", done["text"]
    return folder, done["result"]


@pytest.mark.parametrize(("name", "expected"), [("eager", "float32"), ("int8", "qdq")])
def test_eager_is_its_own_reference(built, name, expected):
    import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401  registers quantize's operators

    root, _ = built
    function = torch.export.load(root / name / "program.torch.pt2").module()
    for wanted, made in pairs(function, root / expected):
        assert torch.equal(wanted, made)


def test_manifest_says_what_was_made(built):
    _, results = built
    manifest = results["eager"]
    assert (manifest["entry"], manifest["delegation"]) == ("program.torch.pt2", "full")
    assert manifest["recipe"]["produces"] == "pt2"
    names = [stage["name"] for stage in manifest["stages"]]
    assert names == ["model", "quantize", "export", "serialize"]
    program = manifest["program"]
    assert program["operators_delegated"]["aten.conv2d.default"] == 1
    assert program["nodes_delegated"] == sum(program["operators_delegated"].values())
    (method,) = program["methods"]
    assert method["outputs"][0]["shape"] == [1, 10]
    program = results["int8"]["program"]
    quantized = program["operators_delegated"]
    assert quantized["quantized_decomposed.dequantize_per_channel.default"] == 2
    assert program["methods"][0]["inputs"][0]["quantization"]["dtype"] == "int8"


def test_float_weights_that_were_quantized_are_not_written(built):
    import torchao.quantization.pt2e.quantize_pt2e  # noqa: F401

    root, _ = built
    exported = torch.export.load(root / "int8/program.torch.pt2")
    weights = [value for value in exported.state_dict.values() if value.dim() > 1]
    assert {value.dtype for value in weights} == {torch.int8}
    assert len(weights) == 2


def test_a_second_build_gives_the_same_bytes(server, factory, built, tmp_path):
    _, results = built
    recipes = {"eager": EAGER, "int8": INT8}
    assert_builds_repeat(server, factory("small"), recipes, results, tmp_path)


def test_lowered_eager_is_the_exported_program(server, factory, built, tmp_path):
    _, results = built
    done = reference(
        server, factory("small"), tmp_path, kind="lowered_eager", lowering={"flow": "torch_export"}
    )
    assert done["outcome"] == "completed", done["text"]
    eager = dict(results["float32"]["outputs"][0])
    assert eager.pop("sensitivity").keys() == {"relative_l2_error", "scaled_max_error"}
    assert done["result"]["outputs"] == [eager]


def test_the_package_answers_like_the_model(built, compiled):
    folder, _ = compiled
    function = torch._inductor.aoti_load_package(str(folder / "program.aoti.pt2"))
    for wanted, made in pairs(function, built[0] / "float32"):
        assert sqnr_db(wanted, made) > 90


def test_manifest_says_for_which_machine_it_was_compiled(compiled):
    import platform

    _, manifest = compiled
    assert [file["name"] for file in manifest["files"]] == ["program.aoti.pt2"]
    program = manifest["program"]
    assert program["compiled_for"]["machine"] == platform.machine()
    assert program["compiled_for"]["isa"]
    assert program["operators_made"]["aoti_torch_cpu_convolution"] == 1
    assert program["operators_made"]["cpp_fused"] >= 1
    names = [stage["name"] for stage in manifest["stages"]]
    assert names == ["model", "quantize", "export", "lower"]


def test_a_package_is_inspected(server, compiled):
    folder, manifest = compiled
    found = server.run(job="inspect", file=str(folder / "program.aoti.pt2"))["result"]
    assert found["format"] == "aoti"
    assert found["compiled_for"] == manifest["program"]["compiled_for"]
    made = {entry["name"]: entry["count"] for entry in found["operators"]}
    assert made == manifest["program"]["operators_made"]


def test_a_program_of_torch_is_inspected(server, built):
    root, results = built
    found = server.run(job="inspect", file=str(root / "int8/program.torch.pt2"))["result"]
    assert found["format"] == "pt2"
    made = {entry["name"]: entry["count"] for entry in found["operators"]}
    assert made == results["int8"]["program"]["operators_delegated"]


def test_a_package_is_no_model(server, compiled, tmp_path):
    folder, _ = compiled
    done = build(server, str(folder / "program.aoti.pt2"), EAGER, tmp_path)
    assert (done["outcome"], done["reason_code"]) == ("aot_error", "invalid_request")
    assert "is a program that AOTInductor made" in done["text"]


def test_a_missing_compiler_is_named(monkeypatch):
    from assay.toolchain.errors import MissingDependency
    from assay.toolchain.flows import aoti
    from assay.toolchain.flows.base import LoweringJob
    from assay.toolchain.stages import StageLog
    from assay.toolchain.types import Lowering

    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(MissingDependency, match="no-such-compiler"):
        aoti.FLOW.make(LoweringJob(None, Lowering("aoti"), None, StageLog()))
