"""Recipes for QNN: what they refuse without its libraries, and what they make with them."""

import json
import subprocess
import sys

import pytest
from toolchain_requests import build, completed_results

from assay.toolchain import qnn_sdk
from assay.toolchain.errors import RequestError
from assay.toolchain.flows.executorch.qnn import describe_refusal, make_partitioner
from assay.toolchain.quantize.qnn import make_quantizer

NEEDS_QNN = pytest.mark.skipif(qnn_sdk.find_libraries() is None, reason=qnn_sdk.why_missing() or "")
MODEL = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.first, self.last = torch.nn.Conv2d(3, 8, 3), torch.nn.Linear(8, 5)

    def forward(self, x):
        x = torch.nn.functional.hardswish(self.first(x)).mean((2, 3))
        return torch.erf(self.last(x))


def net():
    return Net().eval(), (torch.zeros(1, 3, 12, 12),)
"""


def test_an_sdk_of_the_users_comes_first(monkeypatch, tmp_path):
    libraries = tmp_path / "lib/x86_64-linux-clang"
    libraries.mkdir(parents=True)
    monkeypatch.setenv("QNN_SDK_ROOT", str(tmp_path))
    assert qnn_sdk.find_libraries() is None
    assert str(tmp_path) in str(qnn_sdk.why_missing())
    (libraries / "libQnnHtp.so").touch()
    assert qnn_sdk.find_libraries() == libraries
    assert qnn_sdk.why_missing() is None


def test_without_libraries_the_recipes_say_how_to_get_them(tmp_path):
    script = (
        "import importlib.util, json, sys\n"
        "real = importlib.util.find_spec\n"
        "hidden = lambda name, *more: None if name == 'onnxruntime_qnn' else real(name, *more)\n"
        "importlib.util.find_spec = hidden\n"
        "from assay.toolchain.recipes.availability import describe\n"
        "print(json.dumps(describe()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    missing = json.loads(done.stdout)["missing"]
    assert "make qnn" in missing["executorch/qnn-8a8w"]
    assert "make qnn" in missing["executorch/qnn-fp16"]


def test_unknown_options_are_refused_before_anything_is_loaded():
    with pytest.raises(RequestError, match="8a8w"):
        make_quantizer({"dtype": "8a9w"})
    with pytest.raises(RequestError, match="dtypes"):
        make_quantizer({"dtypes": "8a8w"})
    with pytest.raises(RequestError, match="fp16"):
        make_partitioner({"precision": "fp17"})
    with pytest.raises(RequestError, match="SM8650"):
        qnn_sdk.find_soc("SM8651")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("[QnnPartitioner] aten.erf.default | No node visitor, unsupported", "has no form"),
        ("[QnnPartitioner] aten.erf.default | False", "compiler refuses"),
        ("[QnnPartitioner] aten.erf.default | True", None),
        ("[LpaiFallback] aten.erf.default | False", None),
        ("aten.erf.default | False", None),
    ],
)
def test_a_logged_refusal_has_its_reason(message, reason):
    refusal = describe_refusal(message)
    if reason is None:
        assert refusal is None
    else:
        assert refusal is not None
        assert refusal[0] == "aten.erf.default"
        assert reason in refusal[1]


@NEEDS_QNN
@pytest.mark.engine
def test_programs_are_delegated_and_what_is_left_has_a_reason(server, tmp_path):
    model = tmp_path / "net.py"
    model.write_text(MODEL)
    done = {
        name: build(server, f"{model}:net", f"executorch/qnn-{name}", tmp_path / name)
        for name in ("8a8w", "fp16")
    }
    for result in completed_results(done).values():
        program = json.loads((tmp_path / "8a8w" / "manifest.json").read_text())["program"]
        assert result["files"]
        assert {entry["backend"] for entry in program["delegates"]} == {"QnnBackend"}
        (left,) = program["operators_left"]
        assert left["name"].endswith("aten.erf.default")
        assert "QNN" in left["reason"]
