"""Times of emulators: marked in every format, and set against nothing."""

import importlib.util

import pytest
from driver import Workplace, case_of
from programs import FACTORY

EMULATOR = "an emulator of the NPU"


@pytest.mark.parametrize("format_name", ["console", "json", "jsonl", "csv", "md", "junit", "html"])
def test_every_format_marks_the_times(place: Workplace, format_name: str) -> None:
    spec = place.spec(place.program("net", emulator=EMULATOR))
    finished = place.run("run", spec, "--format", format_name)
    assert finished.code == 0, finished
    assert "emulated" in finished.out


@pytest.mark.parametrize(
    "format_name", ["pytorch-hud", "perfherder", "github-benchmark", "fai-pep"]
)
def test_formats_without_such_a_mark_have_no_times(place: Workplace, format_name: str) -> None:
    def has_times(name: str, **fields: str) -> bool:
        place.run("run", place.spec(place.program(name, **fields)))
        text = place.run("report", "--format", format_name).out
        return any(word in text for word in ("steady", "NET latency"))

    assert has_times("real")
    assert not has_times("simulated", emulator=EMULATOR)


def test_a_bound_on_such_a_time_is_undecided(place: Workplace) -> None:
    spec = place.spec(place.program("net", emulator=EMULATOR), require={"steady_ns": "<=10s"})
    finished = place.run("run", spec, "--format", "json")
    assert finished.code == 6, finished
    case = case_of(finished.json(), "net")
    assert case["timing"] == "emulated"
    assert case["gates"][0]["is_undecided"]


@pytest.mark.engine
@pytest.mark.skipif(importlib.util.find_spec("onnxruntime_qnn") is None, reason="needs make qnn")
def test_qnn_executes_a_program_on_its_emulator(place: Workplace) -> None:
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    finished = place.run(
        *("bench", f"{factory}:net", "--recipe", "executorch/qnn-8a8w,executorch/qnn-fp16"),
        *("--launches", "1", "--iterations", "3", "--warmup", "1", "--format", "json"),
        *("--python", place.python),
        timeout_s=400,
    )
    assert finished.code == 0, finished
    for case in finished.json()["cases"]:
        assert case["timing"] == "emulated"
        assert case["delegation"] == "full"
        assert any("QNN's emulator of HTP" in note for note in case["notes"])
