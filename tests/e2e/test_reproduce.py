"""The command that a report prints for a case makes the very case again: the same key."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from driver import BIN, FAST_MEASURE, Document, Workplace
from programs import FACTORY

QUICK = ["--launches", "1", "--iterations", "2", "--warmup", "1", "--time-budget", "2s"]
EXECUTORCH = BIN / "assay-runner-executorch"

needs_executorch = pytest.mark.skipif(not EXECUTORCH.exists(), reason=f"no {EXECUTORCH}")


def run_in_shell(place: Workplace, command: str) -> set[str]:
    """Runs a printed command as it stands, from another folder; keys of the cases it made."""
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    env = {**place.env, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    env.setdefault("ASSAY_PYTHON", place.python)
    done = subprocess.run(
        ["sh", "-c", f"{command} --format json --quiet"],
        cwd=elsewhere,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout, f"{command}\n{done.stderr}"
    return {case["case_key"] for case in json.loads(done.stdout)["cases"]}


def check_reproduced(place: Workplace, report: Document) -> None:
    assert report["cases"]
    for case in report["cases"]:
        assert case["reproduce"].startswith("assay "), case["reproduce"]
        assert case["case_key"] in run_in_shell(place, case["reproduce"]), case["reproduce"]


def test_bench_with_a_matrix_of_options_and_scenarios(place: Workplace) -> None:
    folder = place.folder / "it's here"
    folder.mkdir()
    net = place.program("it's here/net")
    finished = place.run(
        *("bench", net, "--engine", "fake", *QUICK, "--format", "json"),
        *("--threads", "1,2", "--scenario", "gap=0ms,1ms", "--require", "program_bytes<1MB"),
    )
    assert finished.code == 0, finished
    report = finished.json()
    assert len(report["cases"]) == 4
    check_reproduced(place, report)


def test_a_spec_that_flags_cannot_say(place: Workplace) -> None:
    spec = place.spec(
        place.program("net"),
        scenario={"streams": [1, 2], "gap": ["2ms"]},
        evaluate={"samples": 7, "seed": 5},
        measure={**FAST_MEASURE, "passes": ["timing", "evaluate"]},
    )
    report = place.run("run", spec, "--format", "json").json()
    assert all(case["reproduce"].startswith("assay run '{") for case in report["cases"])
    check_reproduced(place, report)


def test_a_relative_path_holds_from_any_folder(place: Workplace) -> None:
    net = place.program("net")
    report = place.run("bench", net.name, "--engine", "fake", *QUICK, "--format", "json").json()
    check_reproduced(place, report)


def test_both_sides_of_a_comparison(place: Workplace) -> None:
    a = place.program("old", execute_ns=1_000_000)
    b = place.program("new", execute_ns=3_000_000)
    flags = ["--most-pairs", "10", "--iterations", "3", "--warmup", "1", "--quiet", "--no-canary"]
    assert place.run("compare", a, b, *flags, "--threads", "2").code == 1
    check_reproduced(place, place.report())


@pytest.mark.engine
@needs_executorch
def test_a_model_with_shapes_and_recipes(place: Workplace) -> None:
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    common = ["--python", place.python, "--format", "json", "--input-shape", "1,3,16,16"]
    recipes = ["--recipe", "executorch/portable,executorch/xnnpack-int8", "--seed", "3"]
    for verb in (["bench", *QUICK], ["eval", "--samples", "2"]):
        name, *flags = verb
        finished = place.run(*(name, f"{factory}:net", *flags, *recipes, *common), timeout_s=400)
        report = finished.json()
        assert {case["reproduce"].split()[1] for case in report["cases"]} == {name}
        check_reproduced(place, report)


@pytest.mark.engine
@needs_executorch
def test_conformance_cases(place: Workplace) -> None:
    finished = place.run(
        *("conform", "--recipe", "executorch/portable", "--match", "aten.add.Tensor*"),
        *("--tier", "quick", "--python", place.python, "--format", "json", "--quiet"),
        timeout_s=400,
    )
    results = json.loads(finished.out)["results"]
    assert results, finished
    for result in results[:3]:
        assert result["case_key"] in run_in_shell(place, result["command"]), result["command"]


@pytest.mark.engine
@needs_executorch
def test_a_module_given_from_python(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    assay = pytest.importorskip("assay")
    for name, value in place.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ASSAY_BIN_DIR", str(BIN))
    monkeypatch.setenv("ASSAY_PYTHON", place.python)
    report = assay.evaluate(
        torch.nn.ReLU(), recipe="executorch/portable", example_inputs=(torch.zeros(1, 4),)
    )
    case = report.case
    assert Path(case.reproduce.split()[2]).is_relative_to(place.home)
    assert case.case_key in run_in_shell(place, case.reproduce), case.reproduce
