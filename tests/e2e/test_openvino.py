"""OpenVINO from a model to a table, and finished files of its formats."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from driver import BIN, Document, Workplace, case_of

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(
        not (BIN / "assay-runner-openvino").exists(), reason="OpenVINO's runner is not built"
    ),
]

FACTORY = """
import torch


def net():
    torch.manual_seed(1)
    layers = torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 3)
    return torch.nn.Sequential(*layers).eval(), (torch.zeros(1, 3, 12, 12),)
"""

RECIPES = "openvino/fp32", "openvino/int8"
RELU = 19


def tflite_relu() -> bytes:
    """y = relu(x) of eight float32, as a TensorFlow Lite file."""
    flatbuffers = pytest.importorskip("flatbuffers")
    builder = flatbuffers.Builder(512)

    def vector(values: Sequence[int], is_offsets: bool = False) -> int:
        builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            (builder.PrependUOffsetTRelative if is_offsets else builder.PrependInt32)(value)
        return int(builder.EndVector())

    def table(*fields: tuple[int, int]) -> int:
        """Fields that refer to something: (slot, offset)."""
        builder.StartObject(max(slot for slot, _ in fields) + 1)
        for slot, offset in fields:
            builder.PrependUOffsetTRelativeSlot(slot, offset, 0)
        return int(builder.EndObject())

    def tensor(name: str) -> int:
        text, shape = builder.CreateString(name), vector([1, 8])
        return table((0, shape), (3, text))

    tensors = vector([tensor("x"), tensor("y")], is_offsets=True)
    inputs, outputs = vector([0]), vector([1])
    operators = vector([table((1, inputs), (2, outputs))], is_offsets=True)
    ends = vector([0]), vector([1])
    graphs = vector([table((0, tensors), (1, ends[0]), (2, ends[1]), (3, operators))], True)
    builder.StartObject(4)
    builder.PrependInt8Slot(0, RELU, 0)
    builder.PrependInt32Slot(2, 1, 0)
    builder.PrependInt32Slot(3, RELU, 0)
    codes = vector([int(builder.EndObject())], is_offsets=True)
    builder.StartObject(1)
    buffers = vector([int(builder.EndObject())], is_offsets=True)
    builder.StartObject(5)
    builder.PrependUint32Slot(0, 3, 0)
    for slot, end in ((1, codes), (2, graphs), (4, buffers)):
        builder.PrependUOffsetTRelativeSlot(slot, end, 0)
    builder.Finish(builder.EndObject(), file_identifier=b"TFL3")
    return bytes(builder.Output())


def measure(place: Workplace, *models: Path | Document, **fields: object) -> Document:
    spec = place.spec(*models, engines=["openvino"], options={"threads": 1}, **fields)
    finished = place.run("run", spec, "--format", "json", "--python", sys.executable, timeout_s=400)
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
        *("--python", sys.executable),
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
