import subprocess
import sys

import pytest

from assay.toolchain.errors import RequestError
from assay.toolchain.recipes import recipes

PRESETS = [entry["name"] for entry in recipes.preset_document()["recipes"]]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_reads(name):
    recipe = recipes.recipe_from_json(name)
    assert recipe.name == name
    assert recipe.document["description"]


def test_a_named_quantization_resolves_like_an_inline_one():
    inline = recipes.preset_document()["quantizations"]["xnnpack-int8"]
    assert recipes.quantization_from_json("xnnpack-int8") == inline
    assert recipes.quantization_from_json(inline) == inline


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("executorch/xnnpack-int9", "did you mean executorch/xnnpack-int8"),
        ({"lowring": {}}, "did you mean lowering"),
        ({"quantization": "xnnpack-int7"}, "did you mean xnnpack-int8"),
        ({"engine": "onnxruntime"}, "not onnxruntime's"),
        ({"produces": "onnx"}, "not executorch's onnx"),
        ({"lowering": {"flow": "to_edge"}}, "to_edge_transform_and_lower"),
        ({"lowering": {"partition": "xnnpack"}}, "did you mean partitioner"),
        ({"lowering": {"flow": "executorch_recipe"}}, 'needs a "recipe"'),
        ({"lowering": 3}, "cannot be read"),
        ({"lowering": {"flow": "openvino"}}, "makes nothing for executorch"),
        ({"engine": "openvino", "produces": "openvino_ir"}, "makes nothing for openvino"),
        ({"lowering": {"flow": "openvino", "partitioner": "xnnpack"}}, "takes no partitioner"),
        ({"stop_after": "export"}, "stops after 'lower'"),
    ],
)
def test_refuses_and_says_why(document, words):
    with pytest.raises(RequestError, match=words):
        recipes.recipe_from_json(document)


def test_reads_without_torch():
    code = "import sys; from assay.toolchain.recipes.recipes import recipe_from_json as read; "
    code += "read('executorch/portable')"
    code += "; sys.exit(int('torch' in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
