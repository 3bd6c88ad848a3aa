"""Scripts that show a failure without Assay: they run, and do not show what is not there."""

import ast
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from warm_scripts import run_script

from assay.reduction.script import Finding, find_mark, write_script
from assay.reduction.source import argument_text, number_text
from assay.toolchain import qnn_sdk
from assay.toolchain.server.model_families import FAMILIES

pytestmark = pytest.mark.slow

RELU: dict[str, Any] = {
    "ref": "aten:relu.default",
    "args": {"args": [{"shape": [2], "dtype": "float32", "data": [-1, 0.1]}]},
}


def write(folder: Path, model: dict[str, Any], finding: Finding, **fields: Any) -> dict[str, Any]:
    given = {"recipe": "executorch/portable", "reference": None, "name": "case", **fields}
    given["families"] = FAMILIES
    return write_script(model=model, finding=finding, folder=folder, **given)


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the script; tests/e2e/test_reduce.py does it in an interpreter that is new."""
    return run_script(folder / "repro.py")


def reference(folder: Path, expected: list[float]) -> str:
    save_file({"0.0": torch.tensor([-1, 0.1])}, str(folder / "inputs.safetensors"))
    save_file({"0.0": torch.tensor(expected)}, str(folder / "outputs.safetensors"))
    save_file({"0.0": torch.zeros(2)}, str(folder / "bounds.safetensors"))
    return str(folder)


@pytest.mark.parametrize(("expected", "code"), [([0.0, 0.1], 1), ([0.0, 0.2], 0)])
def test_a_wrong_number_is_shown_only_if_it_is_wrong(
    tmp_path: Path, expected: list[float], code: int
) -> None:
    finding = Finding("fail_numeric", "done", "output output0, sample 0", "same")
    write(tmp_path, RELU, finding, reference=reference(tmp_path, expected))
    ran = run(tmp_path)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


OPEN: dict[str, Any] = {
    "ref": "aten:relu.default",
    "args": {
        "args": [{"shape": [1], "dtype": "float32", "open": ["n"]}],
        "dimensions": {"n": [2, 9]},
    },
}


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ([0.0, 0.1, 1.0], 1),
        ([0.0, 0.1, 2.0], 0),
        pytest.param([0.0, 0.1], 0, marks=pytest.mark.long),
    ],
)
def test_an_open_size_is_exported_open_and_executed_with_the_one_that_failed(
    tmp_path: Path, expected: list[float], code: int
) -> None:
    save_file({"1.0": torch.tensor([-1, 0.1, 1])}, str(tmp_path / "inputs.safetensors"))
    save_file({"1.0": torch.tensor(expected)}, str(tmp_path / "outputs.safetensors"))
    finding = Finding("fail_numeric", "done", "output output0, sample 1", "same")
    write(tmp_path, OPEN, finding, reference=str(tmp_path))
    assert 'n = torch.export.Dim("n", min=2, max=9)' in (tmp_path / "repro.py").read_text()
    ran = run(tmp_path)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(("recipe", "code"), [("executorch/portable", 1), ("onnxruntime/fp32", 0)])
def test_an_answer_to_what_eager_refuses_is_shown(tmp_path: Path, recipe: str, code: int) -> None:
    call = [
        {"shape": [2], "dtype": "float32"},
        0,
        {"shape": [1], "dtype": "int64", "low": 0, "high": 1},
    ]
    model = {"ref": "aten:index_select.default", "args": {"args": call}}
    values = torch.tensor([1.0, 2.0])
    inputs = {"0.0": values, "0.1": torch.tensor([0])}
    inputs |= {"1.0": values.clone(), "1.1": torch.tensor([-1])}
    save_file(inputs, str(tmp_path / "inputs.safetensors"))
    save_file({"0.0": torch.tensor([1.0])}, str(tmp_path / "outputs.safetensors"))
    finding = Finding("fail_numeric", "done", "it refused nothing: sample 1", "same")
    write(tmp_path, model, finding, reference=str(tmp_path), recipe=recipe)
    ran = run(tmp_path)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert "eager:" in ran.stdout


@pytest.mark.parametrize(
    ("found", "code"), [("net(*inputs)", 1), ("[net(*inputs)[0] + 3 * limits[0]]", 0)]
)
def test_a_quantized_network_is_compared_with_its_own_graph(
    tmp_path: Path, found: str, code: int
) -> None:
    """The reference was calibrated on other samples, so its numbers are whole steps away."""
    nodes = ["linear", "tanh", "linear_1"]
    model = {
        "ref": "piece:nodes",
        "args": {"model": {"ref": "conform:linear_called_twice"}, "nodes": nodes},
    }
    save_file({"0.0": torch.linspace(-1, 1, 48).view(3, 16)}, str(tmp_path / "inputs.safetensors"))
    save_file({"0.0": torch.ones(3, 16)}, str(tmp_path / "outputs.safetensors"))
    finding = Finding("fail_numeric", "done", "output output0, sample 0", "same")
    recipe = "executorch/xnnpack-int8"
    made = write(tmp_path, model, finding, recipe=recipe, reference=str(tmp_path))
    assert made == {"file": "repro.py"}
    script = tmp_path / "repro.py"
    lines = script.read_text().splitlines()
    begin = lines.index("exported = torch.export.export(net, inputs)")
    end = next(n for n, line in enumerate(lines) if line.startswith("found = "))
    # An engine that computes as the graph does, and one that is three steps off.
    lines[begin : end + 1] = [f"found = {found}"]
    script.write_text("\n".join(lines))
    ran = run(tmp_path)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_error_that_does_not_come_is_not_shown(tmp_path: Path) -> None:
    write(tmp_path, RELU, Finding("load_error", "load", "OperatorMissing (0x14)", "same"))
    ran = run(tmp_path)
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr


def test_an_error_that_comes_is_shown(tmp_path: Path) -> None:
    missing = {"ref": "aten:erfc.default", "args": RELU["args"]}
    write(tmp_path, missing, Finding("load_error", "load", "OperatorMissing (0x14)", "same"))
    assert run(tmp_path).returncode == 0
    write(tmp_path, missing, Finding("load_error", "load", "InvalidProgram (0x23)", "same"))
    assert run(tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("recipe", "verdict"),
    [
        ("executorch/xnnpack-fp32", "crashed"),
        ("executorch/xnnpack-int8", "timed_out"),
        ("executorch/xnnpack-fp16", "run_error"),
        ("executorch/openvino-fp32", "run_error"),
        ("executorch/vulkan-fp32", "timed_out"),
        ("executorch/vulkan-fp16", "run_error"),
        ("executorch/qnn-fp16", "crashed"),
        ("executorch/qnn-16a4w", "aot_error"),
        ("onnxruntime/fp32", "aot_error"),
        ("openvino/fp32", "run_error"),
        ("litert/fp32", "load_error"),
    ],
)
def test_every_verdict_and_engine_gives_a_script_that_is_python_and_lacks_assay(
    tmp_path: Path, verdict: str, recipe: str
) -> None:
    model = {
        "ref": "piece:nodes",
        "args": {"model": {"ref": "conform:diamond"}, "nodes": ["conv2d", "cumsum"]},
    }
    made = write(tmp_path, model, Finding(verdict, "", 'a \\ "text"', "same"), recipe=recipe)
    assert made == {"file": "repro.py"}
    text = (tmp_path / "repro.py").read_text()
    ast.parse(text)
    assert "assay" not in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    "verdict", ["fail_numeric", pytest.param("crashed", marks=pytest.mark.long)]
)
def test_a_runtime_without_the_backend_gets_the_command_of_one_that_has_it(
    tmp_path: Path, verdict: str
) -> None:
    finding = Finding(verdict, "done", "output output0, sample 0", "same")
    made = write(
        tmp_path,
        RELU,
        finding,
        recipe="executorch/vulkan-fp32",
        reference=reference(tmp_path, [0.0, 0.2]),
    )
    assert made == {"file": "repro.py"}
    ran = run(tmp_path)
    assert ran.returncode == 2, ran.stdout + ran.stderr
    program, inputs = tmp_path / "repro.pte", tmp_path / "repro-input0.bin"
    assert ran.stderr.endswith(f"executor_runner --model_path={program} --inputs={inputs}\n")
    assert b"VulkanBackend" in program.read_bytes()
    if verdict == "fail_numeric":
        assert torch.frombuffer(bytearray(inputs.read_bytes()), dtype=torch.float32).tolist() == [
            -1.0,
            pytest.approx(0.1),
        ]


@pytest.mark.skipif(qnn_sdk.why_missing() is not None, reason="no QNN libraries (make qnn)")
@pytest.mark.parametrize(("recipe", "code"), [("qnn-fp16", 0), ("qnn-8a8w", 1)])
def test_a_wrong_number_of_qnn_is_shown_only_if_it_is_wrong(
    tmp_path: Path, recipe: str, code: int
) -> None:
    wanted = [0.0, 0.1 if code else 0.2]
    source = reference(tmp_path, wanted)
    save_file({"0.0": torch.full((2,), 2e-3)}, str(tmp_path / "bounds.safetensors"))
    finding = Finding("fail_numeric", "done", "output output0, sample 0", "same")
    write(tmp_path, RELU, finding, recipe=f"executorch/{recipe}", reference=source)
    ran = run(tmp_path)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(
    ("recipe", "check", "why"),
    [
        ("onnxruntime/int8", "same", "onnxruntime"),
        ("torch/eager", "same", "torch_export"),
        ("executorch/portable", "slower-than=x:2", "time"),
        ("openvino/fp32", "not-delegated", "delegates"),
    ],
)
def test_what_cannot_be_written_is_told(tmp_path: Path, recipe: str, check: str, why: str) -> None:
    made = write(tmp_path, RELU, Finding("crashed", "", "", check), recipe=recipe)
    assert why in made["unavailable"]
    assert not (tmp_path / "repro.py").exists()


@pytest.mark.parametrize("text", ['"', '"); import os  # "', "\\", "a\nb", "\x00", "é😀\u2028"])
def test_a_text_is_one_literal_whatever_is_in_it(text: str) -> None:
    assert ast.literal_eval(argument_text(text, {})) == text


def test_the_mark_of_an_error_is_what_does_not_change() -> None:
    assert find_mark("method 'x' does not load: OperatorMissing (0x14): no kernel") == "0x14"
    text = "serialize failed: RuntimeError: 0 in strides is not supported for ExecuTorch."
    assert find_mark(text) == "in strides is not supported for ExecuTorch."
    text = "lower failed: Exception: a pass failed (from IndexError: no index of a 0-dim tensor)"
    assert find_mark(text) == "a pass failed"
    text = "sample 2: the sizes are out of range. Resize it"
    assert find_mark(text) == "the sizes are out of range"
    text = (
        "torch's exporter to ONNX failed at prims.var: a parameter 'x'. It takes INT or FLOAT here"
    )
    assert find_mark(text) == "a parameter"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
def test_numbers_are_short_and_exact(dtype: torch.dtype) -> None:
    for value in (0.1, 1 / 3, 3e38, 1e-40, -0.0, float("inf")):
        tensor = torch.tensor(value, dtype=dtype)
        again = torch.tensor(eval(number_text(tensor)), dtype=torch.float64).to(dtype)
        assert torch.equal(again, tensor)
    assert number_text(torch.tensor(0.1)) == "0.1"


def test_a_call_that_cannot_be_exported_is_written_as_it_was_called(tmp_path: Path) -> None:
    call = {
        "ref": "aten:narrow.default",
        "args": {
            "args": [
                {"shape": [4], "dtype": "float32", "data": [1, 2, 3, 4]},
                0,
                {"shape": [], "dtype": "int64", "data": [1]},
                2,
            ]
        },
    }
    text = "export failed: RuntimeError: aten::narrow() Expected a value of type 'int'"
    finding = Finding("aot_error", "export", text, "same")
    assert write(tmp_path, call, finding) == {"file": "repro.py"}
    ran = run(tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "torch.ops.aten.narrow.default(x, 0, y, 2)" in (tmp_path / "repro.py").read_text()


def test_a_shape_that_values_decide_is_written_without_what_export_asserts_of_it(
    tmp_path: Path,
) -> None:
    call = {
        "ref": "aten:nonzero.default",
        "args": {"args": [{"shape": [1], "dtype": "float32", "data": [1]}]},
    }
    finding = Finding("load_error", "load", "no such kernel", "same")
    assert write(tmp_path, call, finding) == {"file": "repro.py"}
    text = (tmp_path / "repro.py").read_text()
    assert "torch.ops.aten.nonzero.default(x)" in text
    assert "sym_size" not in text
    assert "_assert_scalar" not in text
