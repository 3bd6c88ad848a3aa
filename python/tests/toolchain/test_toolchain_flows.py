"""The lowering flows as a table: what they make, take and refuse."""

import importlib.util
import json
import subprocess
import sys
from importlib import resources

import pytest

from assay.toolchain.errors import RequestError
from assay.toolchain.flows.registry import (
    FLOWS,
    POST_LOWERING,
    find_flow_of_quantization,
    products,
)
from assay.toolchain.recipes import availability, recipes
from assay.toolchain.types import Lowering

ONNX = {"engine": "onnxruntime", "produces": "onnx"}


def test_the_schema_of_specs_knows_every_flow():
    text = resources.files("assay").joinpath("data/spec.schema.json").read_text()
    assert json.loads(text)["$defs"]["lowering"]["properties"]["flow"]["enum"] == list(FLOWS)


def test_products_follow_from_the_flows():
    assert products() == {
        "executorch": ["pte"],
        "openvino": ["openvino_ir"],
        "onnxruntime": ["onnx"],
        "torch": ["pt2", "aoti"],
        "litert": ["tflite"],
        "tosa": ["tosa"],
        "vgf": ["vgf"],
    }


def test_a_quantization_of_what_was_lowered_belongs_to_one_flow():
    assert {name: find_flow_of_quantization({"flow": name}).name for name in POST_LOWERING} == {
        "onnxruntime": "onnx",
        "litert": "litert",
    }


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({**ONNX, "lowering": {"flow": "onxx"}}, "did you mean onnx"),
        ({**ONNX, "lowering": {"flow": "onnx", "partitioner": "xnnpack"}}, "takes no partitioner"),
        ({"lowering": {"recipe": "xnnpack_fp32"}}, "takes no recipe"),
        ({"lowering": {"flow": "executorch_recipe", "partitioner": "x"}}, "takes no partitioner"),
        ({"engine": "torch", "produces": "aoti", "lowering": {"flow": "torch_export"}}, "not aoti"),
        ({"engine": "torch", "produces": "onnx"}, "torch's pt2 or aoti"),
        ({**ONNX, "lowering": {"flow": "aoti"}}, "makes nothing for onnxruntime"),
        ({"quantization": "onnxruntime-int8", "lowering": {}}, "what the lowering flow onnx makes"),
    ],
)
def test_refuses_and_says_why(document, words):
    with pytest.raises(RequestError, match=words):
        recipes.recipe_from_json(document)


@pytest.mark.parametrize(
    ("lowering", "words"),
    [
        (Lowering("onnx", None, {"opsett": 20}), "did you mean opset"),
        (Lowering("onnx", None, {"opset": "20"}), "opset takes int"),
        (Lowering("openvino", None, {"compress_to_fp16": 1}), "takes bool"),
        (Lowering("torch_export", None, {"strict": True}), "unknown option"),
        (Lowering("aoti", None, {"freezing": 1}), "freezing takes bool"),
        (Lowering("litert", None, {"opset": 20}), "unknown option"),
        (Lowering("tosa", None, {"specification": 1}), "takes a text"),
        (Lowering("ethos_u", None, {}), "needs a target"),
        (Lowering("cortex_m", None, {"target": "ethos-u55-128"}), "such as cortex-m55"),
        (Lowering("ethos_u", None, {"target": "cortex-m55"}), "needs a target"),
        (Lowering("tosa", None, {"spec": "TOSA-1.0+FP"}), "unknown option"),
        (Lowering("aoti", None, {"threads": True}), "threads takes int"),
        (Lowering("aoti", None, {"threads": 0}), "1 or more"),
        (Lowering(partitioner="xnnpack", options={"external_constants": 1}), "takes bool"),
    ],
)
def test_options_are_checked_before_any_work(lowering, words):
    with pytest.raises(RequestError, match=words):
        FLOWS[lowering.flow].check(lowering)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mod": "static"}, "did you mean mode"),
        ({"mode": "statik"}, "did you mean static"),
        ({"weight_type": "int4"}, "int8"),
        ({"activation_type": "int9"}, "int8"),
        ({"calibrate_method": "minmx"}, "did you mean minmax"),
        ({"is_per_channel": 1}, "takes bool"),
        ({"operators": "MatMul"}, "takes a list"),
        ({"weight_type": "uint8"}, "no uint8 weights with int8"),
        ({"mode": "dynamic", "calibrate_method": "entropy"}, "is for mode static"),
    ],
)
def test_options_of_onnxruntimes_quantization_are_checked(options, words):
    with pytest.raises(RequestError, match=words):
        POST_LOWERING["onnxruntime"].check_options(options)


def test_every_flow_reads_without_torch():
    code = "import sys, assay.toolchain.flows.registry; sys.exit(int('torch' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize(
    ("recipe", "package"),
    [
        ("openvino/fp32", "openvino"),
        ("openvino/int8", "nncf"),
        ("executorch/openvino-fp32", "openvino"),
        ("onnxruntime/fp32", "onnxscript"),
        ("onnxruntime/int8", "onnxruntime"),
        ("executorch/xnnpack-int8", "torchao"),
    ],
)
def test_a_missing_package_is_named_with_the_way_to_get_it(monkeypatch, recipe, package):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == package else found(name)
    )
    missing = availability.describe()["missing"]
    assert f"lacks {package}: pip install --no-deps {package}" in missing[recipe]
    assert "executorch/portable" not in missing


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    missing = availability.describe()["missing"]
    assert "no-such-compiler" in missing["torch/aoti"]
    assert "torch/eager" not in missing


def test_what_is_available_is_told_without_torch():
    argv = [sys.executable, "-m", "assay.toolchain.recipes.availability"]
    done = subprocess.run(argv, capture_output=True, text=True)
    document = json.loads(done.stdout)
    assert (document["schema"], document) == ("assay/available/1", availability.describe())
    code = "import sys; from assay.toolchain.recipes import availability; availability.describe(); "
    code += "sys.exit(int('torch' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
