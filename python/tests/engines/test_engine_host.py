"""Engines in Python behind the runner's loop, as processes."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from assay import AssayError
from assay._runner import Runner

ENGINE = """
import sys
import numpy as np
from assay.engines import (
    THREADS, AssayError, Description, Engine, LoadReport, Session, TensorSpec
)

class Node:
    # Garbage that only a collector finds.
    alive = 0

    def __init__(self):
        self.itself = self
        Node.alive += 1

    def __del__(self):
        Node.alive -= 1

class MySession(Session):
    def __init__(self, dtype):
        spec = [TensorSpec("x", dtype, [2, -1])]
        self.report = LoadReport(spec, spec, {"read": 7}, {"threads": 3}, notes=["slow"])
        self.dtype = dtype

    def bind(self, inputs):
        if self.dtype == "int64" and inputs[0].dtype.num != np.dtype(np.int64).num:
            raise TypeError("long long is not numpy.int64")
        sizes = getattr(self, "x", inputs[0]).shape
        if sizes != inputs[0].shape and sys.getrefcount(self.y) > 2:
            raise RuntimeError("somebody looks at the outputs")
        (self.x,) = inputs

    def execute(self):
        Node()
        if Node.alive > 500:
            raise RuntimeError(f"{Node.alive} nodes wait for a collector")
        self.y = self.x.copy()
        if self.y.size == 14:
            raise MemoryError
        if self.y.size == 18:
            raise ValueError("nine columns")

    def fetch(self):
        return ["text" if self.y.shape[1] == 5 else self.y[:, ::-1]]

class MyEngine(Engine):
    def describe(self):
        return Description("mine", "1.2", "b", ("my",), (THREADS,), tags=("nothing",))

    def load(self, request):
        if request.entry.suffix == ".none":
            raise AssayError("gone", code="not_found")
        print("engines print")
        return MySession({8: "int64", 9: "bfloat16"}.get(request.options.get("threads"), "float32"))
"""


@pytest.fixture
def command(tmp_path):
    """A program that runs the engine."""
    pytest.importorskip("assay._host", reason="build it: ninja -C build/release assay_host")
    (tmp_path / "mine.py").write_text(ENGINE)
    script = tmp_path / "runner"
    package = Path(__file__).parents[2]
    script.write_text(
        f'#!/bin/sh\nexport PYTHONSAFEPATH=1 PYTHONPATH="{package}"\n'
        f'exec "{sys.executable}" -m assay.engines "{tmp_path}/mine.py:MyEngine" "$@"\n'
    )
    script.chmod(0o755)
    return script


@pytest.fixture
def runner(command):
    made = Runner([str(command)])
    made.request("hello", {})
    yield made
    made.close()


def infer(runner, array):
    from safetensors.numpy import load, save

    blob = np.frombuffer(save({"0.0": array}), np.uint8)
    _, answer = runner.request("infer", {"inputs": {"in_blob": True}}, blob)
    return load(answer.tobytes())["0.0"]


def test_an_engine_describes_itself(runner):
    body, _ = runner.request("describe", {})
    assert (body["name"], body["version"], body["formats"]) == ("mine", "1.2", ["my"])
    assert body["options"][0]["maximum"] == 1024


def test_a_description_says_what_it_depends_on(command, runner):
    asked = subprocess.run([command, "--describe"], capture_output=True, text=True, check=True)
    told = json.loads(asked.stdout)["depends_on"]
    assert {str(command.parent / "mine.py"), sys.executable, sysconfig.get_path("purelib")} <= {
        *told
    }
    assert not [path for path in told if path.startswith(sysconfig.get_path("stdlib") + "/json")]
    assert str(Path.cwd()) not in told
    served, _ = runner.request("describe", {})
    assert served["depends_on"] == []


def test_arrays_go_in_and_come_out(runner):
    report, _ = runner.request("load", {"entry": "x.my"})
    assert report["stages"] == [{"name": "read", "ns": 7}]
    assert report["notes"] == ["slow"]
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(infer(runner, array), array[:, ::-1])
    np.testing.assert_array_equal(infer(runner, 2 * array[:, :1].copy()), 2 * array[:, :1])


def test_integers_have_the_type_that_numpy_calls_int64(runner):
    runner.request("load", {"entry": "x.my", "options": {"threads": 8}})
    array = np.arange(-3, 3, dtype=np.int64).reshape(2, 3)
    np.testing.assert_array_equal(infer(runner, array), array[:, ::-1])


def test_errors_keep_their_code_and_the_runner_lives(runner):
    for body, code in (
        ({"entry": "x.none"}, "not_found"),
        ({"entry": "x.my", "options": {"threads": 0}}, "invalid_argument"),
    ):
        with pytest.raises(AssayError) as caught:
            runner.request("load", body)
        assert caught.value.code == code
    runner.request("load", {"entry": "x.my"})
    columns = {7: ("exhausted", "out of memory"), 9: ("engine", "ValueError: nine columns")}
    columns |= {5: ("engine", "output 0 is no array")}
    for count, (code, text) in columns.items():
        with pytest.raises(AssayError) as caught:
            infer(runner, np.zeros((2, count), np.float32))
        assert caught.value.code == code
        assert text in caught.value.message
    with pytest.raises(AssayError, match="takes float32"):
        infer(runner, np.zeros((2, 3), np.int64))
    assert infer(runner, np.ones((2, 1), np.float32)).sum() == 2


def test_the_loop_times_a_python_engine(runner):
    runner.request("load", {"entry": "x.my"})
    from safetensors.numpy import save

    blob = np.frombuffer(save({"0.0": np.ones((2, 2), np.float32)}), np.uint8)
    plan = {"warmup_iterations": 1, "iterations": 5, "streams": 2}
    body, samples = runner.request("measure", {"inputs": {"in_blob": True}, "plan": plan}, blob)
    assert body["iterations"] == 5
    assert len(samples) == 3 * 6 * 8


def test_garbage_is_collected_between_inferences(runner):
    from safetensors.numpy import save

    runner.request("load", {"entry": "x.my"})
    blob = np.frombuffer(save({"0.0": np.ones((2, 2), np.float32)}), np.uint8)
    body, _ = runner.request(
        "measure", {"inputs": {"in_blob": True}, "plan": {"iterations": 2000}}, blob
    )
    assert body["iterations"] == 2000


def test_nobody_looks_at_outputs_when_inputs_of_another_size_are_bound(runner):
    from safetensors.numpy import load, save

    runner.request("load", {"entry": "x.my"})
    arrays = {f"{i}.0": np.full((2, i + 1), i, np.float32) for i in range(3)}
    blob = np.frombuffer(save(arrays), np.uint8)
    _, answer = runner.request("infer", {"inputs": {"in_blob": True, "samples": 3}}, blob)
    outputs = load(answer.tobytes())
    assert [outputs[f"{i}.0"].shape for i in range(3)] == [(2, 1), (2, 2), (2, 3)]


def test_an_engine_that_is_not_there_says_how_to_get_it(command):
    asked = subprocess.run(
        [sys.executable, "-m", "assay.engines", "nothing", "--describe"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert asked.returncode == 3
    assert "onnxruntime" in asked.stderr
