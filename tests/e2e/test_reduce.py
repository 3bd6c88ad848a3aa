"""assay reduce: over a network that fails on order, and on real failures of ExecuTorch."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from driver import BIN, Document, Finished, Workplace, wait_for_end, wait_until
from reduce_toolchain import CULPRITS

SCRIPT = Path(__file__).parent / "reduce_toolchain.py"
CASE = "models/wide"


@pytest.fixture
def scripted(place: Workplace) -> Workplace:
    """A workplace whose ExecuTorch is the fake engine, and whose Python is a script."""
    place.use_script_as_toolchain(SCRIPT)
    place.register_fake_as("executorch", "scripted", fmt="pte")
    return place


def arguments(*flags: str) -> list[str]:
    recipe = ("--recipe", "executorch/portable", "--engine", "executorch@scripted")
    return ["reduce", CASE, *recipe, "--quiet", "--format", "json", *flags]


def nodes_of(report: Document) -> list[str]:
    return report["model"]["args"]["nodes"]


def test_a_network_becomes_the_operators_that_are_to_blame(scripted: Workplace) -> None:
    finished = scripted.run(*arguments("--bundle", "bundle"))
    assert finished.code == 0, finished
    report = finished.json()
    assert nodes_of(report) == list(CULPRITS)
    assert report["verdict"] == "crashed"
    assert report["is_confirmed"]
    closest = report["reduction"]["closest"]
    assert closest["finding"]["verdict"] == "pass"
    assert len(closest["candidate"]["model"]["args"]["nodes"]) == 1
    bundle = scripted.folder / "bundle"
    assert json.loads((bundle / "reproduce.json").read_text())["model"] == report["model"]
    assert (bundle / "program.fake.json").exists()
    assert (bundle / "inputs.safetensors").exists()
    readme = (bundle / "README.md").read_text()
    assert "not available for this: nobody wrote one" in readme
    assert "| `repro.py` |" not in readme
    assert "op3, op12" in readme


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "repro.py shows the failure"),
        (1, "repro.py does not show the failure here (exit code 1)"),
        (2, "repro.py makes the program and cannot execute it here (exit code 2)"),
    ],
)
def test_a_bundle_says_what_its_script_showed(scripted: Workplace, code: int, text: str) -> None:
    scripted.env["REPRO_EXIT"] = str(code)
    finished = scripted.run(*arguments("--bundle", "bundle"))
    assert finished.code == 0, finished
    assert finished.json()["is_shown"] == (code == 0)
    readme = (scripted.folder / "bundle" / "README.md").read_text()
    assert text in readme
    assert "| `repro.py` |" in readme


def test_a_reducer_that_is_killed_goes_on_where_it_was(scripted: Workplace) -> None:
    undisturbed = scripted.run(*arguments()).json()["reduction"]
    replay = scripted.folder / "replay.jsonl"
    flags = arguments("--replay", str(replay))
    known = 0
    for _ in range(3):
        process = scripted.start(*flags)
        before = known
        wait_until(lambda: count_lines(replay) > before + 1 or process.poll() is not None)  # noqa: B023
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        known = count_lines(replay)
    assert known > 4
    finished = scripted.run(*flags)
    assert finished.code == 0, finished
    report = finished.json()
    assert nodes_of(report) == list(CULPRITS)
    # Every verdict that stood in the file was used, and none was found twice.
    assert report["reduction"]["judged"] == undisturbed["judged"] - (known - 1)
    again = scripted.run(*flags).json()
    assert again["reduction"]["judged"] == 0
    assert again["model"] == report["model"]


def count_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_the_replay_file_of_another_check_is_refused(scripted: Workplace) -> None:
    assert scripted.run(*arguments("--replay", "r")).code == 0
    refused = scripted.run(*arguments("--replay", "r", "--check", "crash"))
    assert refused.code == 2, refused
    assert "name another file" in refused.err


def test_an_interrupt_leaves_the_smallest_so_far(scripted: Workplace) -> None:
    replay = scripted.folder / "replay.jsonl"
    process = scripted.start(*arguments("--replay", str(replay)))
    wait_until(lambda: count_lines(replay) > 3)
    process.send_signal(signal.SIGINT)
    finished = wait_for_end(process)
    assert finished.code in (0, 130), finished
    report = finished.json()
    assert set(CULPRITS) <= set(nodes_of(report) if report["model"]["args"] else CULPRITS)


def test_each_failure_of_a_run_is_reduced(scripted: Workplace) -> None:
    setting = ("--recipe", "executorch/portable", "--engine", "executorch@scripted")
    ran = scripted.run("conform", "--suite", "models", *setting, "--quiet")
    assert ran.code == 1, ran
    # The second time everything is known, and the newest run is one of a reduction.
    for _ in range(2):
        finished = scripted.run("reduce", "--run", "latest", "--bundle", "failures", "--quiet")
        assert finished.code == 0, finished
        assert "1 failures in 1 results: 1 reduced, 1 confirmed" in finished.out
    index = json.loads((scripted.folder / "failures" / "failures.json").read_text())
    (failure,) = index["failures"]
    assert (failure["case"], failure["verdict"]) == (CASE, "crashed")
    folder = scripted.folder / "failures" / failure["folder"]
    assert nodes_of(json.loads((folder / "reproduce.json").read_text())) == list(CULPRITS)
    assert failure["folder"] in (scripted.folder / "failures" / "README.md").read_text()
    nothing = ("--run", "latest", "--bundle", "none", "--match", "aten.*")
    assert scripted.run("reduce", *nothing).code == 5


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["models/wild", "--recipe", "executorch/portable"], 2, "no case 'models/wild'"),
        ([CASE, "--recipe", "executorch/portable", "--check", "looks"], 2, "not-delegated"),
        ([CASE, "--recipe", "executorch/portable,executorch/xnnpack-fp32"], 2, "one --recipe"),
        (["net.pte", "--recipe", "executorch/portable"], 2, "finished program"),
        ([CASE, "--recipe", "executorch/portable", "--budget", "3"], 2, "unit"),
        ([CASE, "--run", "latest"], 2, "give the model or the case"),
    ],
)
def test_what_cannot_be_reduced_is_told(
    scripted: Workplace, arguments: list[str], code: int, text: str
) -> None:
    finished = scripted.run("reduce", *arguments, "--engine", "executorch@scripted")
    assert finished.code == code, finished
    assert text in finished.err


def need_executorch(place: Workplace) -> None:
    if not (BIN / "assay-runner-executorch").exists():
        pytest.skip("no ExecuTorch here")
    place.env["ASSAY_PYTHON"] = place.python


def reduce_really(place: Workplace, *flags: str) -> Finished:
    need_executorch(place)
    bundle = place.folder / "bundle"
    return place.run(
        *("reduce", *flags, "--quiet", "--format", "json", "--bundle", str(bundle)), timeout_s=900
    )


def exit_code_of_script(place: Workplace) -> int:
    script = place.folder / "bundle" / "repro.py"
    return subprocess.run([sys.executable, script], capture_output=True, check=False).returncode


@pytest.mark.slow
def test_a_convolution_used_twice_becomes_two_nodes(place: Workplace) -> None:
    finished = reduce_really(
        place, "models/conv_called_twice", "--recipe", "executorch/xnnpack-int8"
    )
    assert finished.code == 0, finished
    report = finished.json()
    assert nodes_of(report) == ["conv2d", "conv2d_1"]
    assert report["verdict"] == "load_error"
    assert exit_code_of_script(place) == 0


@pytest.mark.slow
def test_a_wrong_logarithm_becomes_one_number(place: Workplace) -> None:
    values = [2.0] * 7 + [1.069] + [3.0] * 4
    call = {"args": [{"shape": [3, 4], "dtype": "float32", "data": values}]}
    flags = ("--args", json.dumps(call), "--recipe", "executorch/xnnpack-fp32")
    finished = reduce_really(place, "aten:log.default", *flags)
    assert finished.code == 0, finished
    report = finished.json()
    assert report["verdict"] == "fail_numeric"
    assert len(report["model"]["args"]["args"][0]["data"]) == 1
    assert exit_code_of_script(place) == 0


CLAMPED = Path(__file__).with_name("clamped_net.py")
LARGE = 5.5
"""Beyond the limit of the wrong backend, and rare among what Assay draws."""


@pytest.mark.slow
def test_what_fails_on_a_file_of_inputs_is_reduced_on_it(place: Workplace) -> None:
    np = pytest.importorskip("numpy")
    need_executorch(place)
    recipe = place.folder / "clamped.json"
    lowering = {"partitioner": f"{CLAMPED}:clamping_partitioner"}
    recipe.write_text(json.dumps({"name": "clamped", "lowering": lowering}))
    samples = np.linspace(-1, 1, 48, dtype=np.float32).reshape(3, 2, 8)
    samples[1, 1, 3] = LARGE
    inputs = place.folder / "large.npz"
    np.savez(inputs, **{f"{index}.0": sample for index, sample in enumerate(samples)})
    model = (f"{CLAMPED}:net", "--recipe", recipe)

    failing = place.run("eval", *model, "--inputs", inputs, "--quiet", timeout_s=600)
    assert failing.code == 1, failing
    assert "fail numeric" in failing.out, failing
    finished = reduce_really(place, *map(str, model), "--inputs", str(inputs))
    assert finished.code == 0, finished
    report = finished.json()
    assert report["verdict"] == "fail_numeric"
    assert report["is_confirmed"]
    assert report["model"]["ref"] == "aten:hardtanh.default"
    (value,) = report["model"]["args"]["args"][0]["data"]
    assert abs(value) > 4, "the value of the file that is wrong, or a plainer one like it"
    bundle = place.folder / "bundle"
    assert (bundle / "inputs.safetensors").exists()
    assert (bundle / "program.pte").exists()
