"""Every engine keeps the one contract, and all of them stand in one table."""

import json
import sys
import sysconfig
import venv
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from availability import (
    NEEDS_VNNI,
    find_engines,
    find_missing_recipes,
    is_installed,
    list_engines,
    need_engine,
    need_recipe,
)
from driver import BIN, ROOT, Document, Workplace
from programs import FACTORY, onnx_pair, onnx_relu, tflite_relu

EXAMPLES = ROOT / "examples" / "engines"
LOADS = 60
"""Enough to see a leak of a page a load; `assay engine check` takes 1,000 unless told otherwise."""

COMMAND = """#!/bin/sh
cp "$1" "$2"
i=0
while [ $i -lt "$3" ]; do i=$((i + 1)); echo "took 12.5 us"; done
"""

OWN_RECIPES = {
    "executorch": ["executorch/portable", "executorch/xnnpack-fp32"],
    "litert": ["litert/fp32", "litert/int8", "litert/int8-dynamic"],
    "onnxruntime": ["onnxruntime/fp32", "onnxruntime/int8"],
    "openvino": ["openvino/fp32"],
    "torch": ["torch/eager", "torch/aoti"],
    "tosa": ["tosa/fp32", "tosa/int8", "tosa/int16"],
}


KNOWN = {
    "torch/aoti": {
        "survives_loading_again": "torch 2.13.0 never closes a package's library: 3 kB a load"
    }
}
"""Findings that are the engine's own fault, by recipe: each must still be found."""

TOO_SMALL_TO_ALWAYS_SEE = {
    # onnxruntime 1.31.1 alone, in a loop of Python: 40 to 100 bytes of malloc a load, in whatever
    # environment it is.
    "onnxruntime": {"survives_loading_again"},
}
"""Findings that are the engine's own fault and that `LOADS` loads show only at times, by engine."""


def check(
    place: Workplace, engine: str, program: Path, known: Mapping[str, str] = MappingProxyType({})
) -> dict[str, Document]:
    finished = place.run(
        *("engine", "check", engine, "--program", program, "--loads", str(LOADS)),
        *("--format", "json"),
        timeout_s=400,
    )
    findings = {one["check"]: one for one in finished.json()["findings"]}
    failed = {name: one for name, one in findings.items() if one["verdict"] == "fail"}
    too_small = TOO_SMALL_TO_ALWAYS_SEE.get(engine.partition("@")[0], set())
    assert set(failed) - too_small == set(known), failed
    assert finished.code == (1 if failed else 0), finished
    assert findings["loads_the_program"]["verdict"] == "pass"
    assert findings["refuses_damaged_files"]["verdict"] == "pass"
    return findings


def lower(place: Workplace, recipe: str) -> Path:
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    out = place.folder / "made"
    made = place.run(
        *("aot", f"{factory}:net", "--recipe", recipe, "--out", out, "--python", place.python),
        timeout_s=400,
    )
    assert made.code == 0, made
    manifest = json.loads(next(out.rglob("manifest.json")).read_text())
    return next(out.rglob(manifest["entry"]))


@pytest.mark.engine
@pytest.mark.parametrize(
    ("engine", "recipe"),
    [
        pytest.param(engine, recipe, marks=[pytest.mark.long] if index else [])
        for engine, recipes in OWN_RECIPES.items()
        for index, recipe in enumerate(recipes)
    ],
)
def test_an_engine_keeps_the_contract(place: Workplace, engine: str, recipe: str) -> None:
    need_engine(place, engine)
    need_recipe(place, recipe)
    findings = check(place, engine, lower(place, recipe), KNOWN.get(recipe, {}))
    assert findings["computes_the_same_again"]["verdict"] == "pass"
    assert findings["honours_threads"]["verdict"] == "pass"


def write_command(place: Workplace) -> Path:
    script = place.folder / "bench.sh"
    script.write_text(COMMAND)
    script.chmod(0o755)
    tensor = {"name": "x", "dtype": "float32", "shape": [1, 4]}
    program = {
        "argv": ["./bench.sh", "{input:0}", "{output:0}", "{iterations}"],
        "inputs": [tensor],
        "outputs": [tensor],
        "time_pattern": "took ([0-9.]+) us",
        "time_unit": "us",
    }
    path = place.folder / "copy.command.json"
    path.write_text(json.dumps(program))
    return path


def write_tflite(place: Workplace) -> Path:
    path = place.folder / "relu.tflite"
    path.write_bytes(tflite_relu())
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "write"),
    [
        ("fake", lambda place: place.program("plain")),
        ("command", write_command),
        ("litert", write_tflite),
        ("openvino", write_tflite),
    ],
)
def test_an_engine_keeps_the_contract_with_a_file(
    place: Workplace, engine: str, write: Callable[[Workplace], Path]
) -> None:
    need_engine(place, engine)
    check(place, engine, write(place))


@pytest.mark.slow
def test_a_toy_engine_in_python_joins_and_keeps_the_contract(place: Workplace) -> None:
    if not (BIN / "assay-runner-onnxruntime").exists():
        pytest.skip("engines in Python are not built")
    engine = EXAMPLES / "toy_engine.py"
    added = place.run("engine", "add", "toy@1", "--file", f"{engine}:ToyEngine")
    assert added.code == 0, added
    program = EXAMPLES / "net.toy.json"
    check(place, "toy@1", program)
    measured = place.run("bench", program, "--engine", "toy@1", "--launches", "1", "--quiet")
    assert measured.code == 0, measured
    assert "toy@1" in measured.out


def make_environment(folder: Path) -> Path:
    """A second environment, which sees the packages of this one; its interpreter."""
    venv.create(folder, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shared = folder / "lib" / version / "site-packages" / "shared.pth"
    shared.write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python"


@pytest.mark.slow
def test_an_engine_in_python_joins_from_another_environment(place: Workplace) -> None:
    need_engine(place, "onnxruntime")
    program = place.folder / "relu.onnx"
    program.write_bytes(onnx_relu())
    python = make_environment(place.folder / "second")
    added = place.run("engine", "add", "onnxruntime@second", "--python", python)
    assert added.code == 0, added
    check(place, "onnxruntime@second", program)
    first = next(name for name in list_engines(place) if name.startswith("onnxruntime@"))
    measured = place.run(
        *("bench", program, "--engine", f"{first},onnxruntime@second", "--launches", "1"),
        *("--format", "json", "--quiet"),
    )
    assert measured.code == 0, measured
    assert {row["outcome"] for row in measured.json()["cases"]} == {"completed"}
    assert len(measured.json()["cases"]) == 2
    # Changes of the second environment concern the second build alone, and are noticed at once.
    next((place.folder / "second").rglob("shared.pth")).unlink()
    listed = list_engines(place)
    assert "not available" not in listed[first]
    assert "No module named 'numpy'" in listed["onnxruntime@second"]


@pytest.mark.parametrize(
    "dtype",
    [
        pytest.param("uint16", marks=pytest.mark.long),
        pytest.param("uint32", marks=pytest.mark.long),
        "uint64",
    ],
)
def test_wide_unsigned_integers_are_timed_and_evaluated(place: Workplace, dtype: str) -> None:
    need_engine(place, "onnxruntime")
    program = place.folder / "pair.onnx"
    program.write_bytes(onnx_pair(dtype))
    # Elements whose first bit is set: a signed reading of them would differ.
    x = np.arange(1, 9, dtype=dtype).reshape(1, 8) + np.asarray(np.iinfo(dtype).max // 2, dtype)
    np.savez(place.folder / "x.npz", x=x)
    np.savez(place.folder / "y.npz", y=np.concatenate([x, x], axis=1))
    spec = place.spec(
        {"ref": str(program), "inputs": "x.npz", "expected": "y.npz"},
        engines=["onnxruntime"],
        evaluate={},
        measure={"launches": 1, "iterations": 4, "passes": ["timing", "evaluate"]},
    )
    (row,) = place.ok("run", spec, "--format", "json").json()["cases"]
    assert row["outcome"] == "completed", row
    assert row["accuracy"] == "pass", row


def test_a_runner_of_any_kind_can_be_added(place: Workplace) -> None:
    runner = BIN / "assay-runner-fake"
    added = place.run("engine", "add", "fake@again", "--runner", runner)
    assert added.code == 0, added
    check(place, "fake@again", place.program("plain"))
    wrong = place.run("engine", "add", "other@again", "--runner", runner)
    assert wrong.code == 2
    assert "write fake@again" in wrong.err


def test_a_command_is_a_row_with_its_own_times(place: Workplace) -> None:
    program = write_command(place)
    finished = place.run(
        *("bench", program, "--launches", "2", "--iterations", "5", "--warmup", "2"),
        *("--format", "json", "--quiet"),
    )
    assert finished.code == 0, finished
    (row,) = finished.json()["cases"]
    assert row["outcome"] == "completed"
    assert row["metrics"]["steady_ns"]["value"] == 12500


@pytest.mark.engine
@pytest.mark.parametrize("recipes_an_engine", [1, pytest.param(3, marks=pytest.mark.long)])
def test_all_engines_stand_in_one_table(place: Workplace, recipes_an_engine: int) -> None:
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    recipes = [recipe for own in OWN_RECIPES.values() for recipe in own[:recipes_an_engine]]
    spec = place.spec(
        {"ref": f"{factory}:net"},
        engines=[],
        recipes=recipes,
        options={"threads": 1},
        evaluate={"against": ["float32"]},
        measure={
            **{"launches": 1, "warmup": 1, "iterations": 5, "time_budget": "2s"},
            "passes": ["timing", "evaluate", "memory"],
        },
    )
    document = json.loads(spec.read_text())
    del document["engines"]
    spec.write_text(json.dumps(document))
    finished = place.run("run", spec, "--format", "json", "--python", place.python, timeout_s=600)
    rows = {row["recipe"]: row for row in finished.json()["cases"]}
    engines = find_engines(place)
    made = [name for name in recipes if is_installed(engines, name.split("/")[0])]
    assert set(rows) == set(made)
    outcomes = {recipe: (row["outcome"], row.get("text")) for recipe, row in rows.items()}
    completed = [recipe for recipe, (outcome, _) in outcomes.items() if outcome == "completed"]
    missing = find_missing_recipes(place)
    assert set(completed) == {recipe for recipe in made if recipe not in missing}, outcomes
    # A recipe without its toolchain is a row that says how to get it.
    for recipe in missing.keys() & rows.keys():
        assert "make " in rows[recipe]["text"], outcomes


@pytest.mark.engine
def test_toolchains_work_side_by_side(place: Workplace) -> None:
    """Programs and references of one run by two toolchains, from one model."""
    need_recipe(place, "litert/int8")
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    spec = place.spec(
        {"ref": f"{factory}:net"},
        engines=["executorch", "litert"],
        recipes=[
            "executorch/xnnpack-fp32",
            "executorch/xnnpack-int8",
            "litert/fp32",
            "litert/int8",
        ],
        evaluate={"against": ["float32", "qdq"]},
        measure={
            **{"launches": 1, "warmup": 1, "iterations": 5, "time_budget": "2s"},
            "passes": ["evaluate"],
        },
    )
    finished = place.run("run", spec, "--format", "json", "--python", place.python, timeout_s=600)
    rows = {row["recipe"]: row for row in finished.json()["cases"]}
    assert {row["outcome"] for row in rows.values()} == {"completed"}, rows
    assert {row["accuracy"] for row in rows.values()} == {"pass"}, rows
    documents = [json.loads(text) for (text,) in place.query("select document from reference")]
    by_toolchain = {document["producer"]["id"] for document in documents}
    assert len(by_toolchain) == 2
    assert len({document["model"]["weights_sha256"] for document in documents}) == 1


@NEEDS_VNNI
@pytest.mark.engine
def test_the_error_of_a_quantized_network_is_followed_through_its_layers(place: Workplace) -> None:
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    finished = place.run(
        *("attribute", f"{factory}:net", "--recipe", "executorch/xnnpack-int8,onnxruntime/int8"),
        *("--format", "json", "--python", place.python, "--quiet"),
        timeout_s=600,
    )
    rows = finished.json()["cases"]
    for row in rows:
        assert row["outcome"] == "completed", row["text"]
        found = row["attribution"]
        assert len(found["layers"]) >= 2
        assert 0 < found["whole"]["quantization"] < 0.1
        assert found["whole"]["backend"] < found["whole"]["quantization"]
        assert all(layer["noise"]["total"] is not None for layer in found["layers"])
        assert row["accuracy"] == "pass", row["accuracy_tables"]
