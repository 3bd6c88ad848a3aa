"""OpenVINO from a model to a table, and finished files of its formats."""

import json
from pathlib import Path

import pytest
from driver import BIN, Document, Workplace, case_of
from programs import FACTORY, tflite_relu

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not (BIN / "assay-runner-openvino").exists(), reason="OpenVINO's runner is not built"
    ),
]

RECIPES = "openvino/fp32", "openvino/int8"


def measure(place: Workplace, *models: Path | Document, **fields: object) -> Document:
    spec = place.spec(*models, engines=["openvino"], options={"threads": 1}, **fields)
    finished = place.run("run", spec, "--format", "json", "--python", place.python, timeout_s=400)
    assert finished.code == 0, finished
    return finished.json()


def test_a_model_becomes_two_rows_with_accuracy(place: Workplace) -> None:
    pytest.importorskip("nncf")
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    report = measure(
        place,
        {"ref": f"{factory}:net"},
        recipes=list(RECIPES),
        evaluate={"against": ["float32", "qdq"]},
        measure={
            **{"launches": 1, "warmup": 1, "iterations": 5, "time_budget": "2s"},
            "passes": ["timing", "evaluate", "memory", "profile"],
        },
    )
    rows = report["cases"]
    assert [row["outcome"] for row in rows] == ["completed"] * 2, json.dumps(rows)[:2000]
    text = json.dumps(rows)
    assert "sqnr_db" in text
    assert "steady_ns" in text


def test_a_finished_ir_needs_no_toolchain(place: Workplace) -> None:
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    out = place.folder / "made"
    made = place.run(
        *("aot", f"{factory}:net", "--recipe", RECIPES[0], "--out", out),
        *("--python", place.python),
        timeout_s=400,
    )
    assert made.code == 0, made
    (program,) = out.rglob("*.xml")
    report = measure(place, program)
    assert case_of(report, "program")["outcome"] == "completed"
    weights = program.with_suffix(".bin")
    weights.write_bytes(weights.read_bytes()[:-1])
    spec = place.spec(program, engines=["openvino"], name="damaged")
    finished = place.run("run", spec, "--format", "json")
    row = case_of(finished.json(), "program")
    assert (row["outcome"], row["stage"]) == ("load_error", "load")
    assert "truncated" in row["text"]


def test_a_tflite_file_is_a_model(place: Workplace) -> None:
    program = place.folder / "relu.tflite"
    program.write_bytes(tflite_relu())
    assert case_of(measure(place, program), "relu")["outcome"] == "completed"
