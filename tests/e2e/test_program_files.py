"""Programs made elsewhere: inputs by their signature or from files, a reference from an engine."""

import sys
from pathlib import Path

import numpy as np
import pytest
from driver import BIN, Document, Finished, Workplace, case_of
from programs import FACTORY

sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "tests" / "toolchain"))

from stimulus_files import bundle, onnx_scale, onnx_test_data

OPENVINO, ONNXRUNTIME, EXECUTORCH = (
    BIN / f"assay-runner-{name}" for name in ("openvino", "onnxruntime", "executorch")
)
EVALUATE: Document = {"passes": ["evaluate"]}
PAIR = ["openvino", "onnxruntime"]

pytestmark = pytest.mark.engine


def needs(*runners: Path) -> pytest.MarkDecorator:
    missing = [runner.name for runner in runners if not runner.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"not built: {', '.join(missing)}")


def run(place: Workplace, *models: Path | Document, **fields: object) -> Finished:
    """Runs a spec, without a sandbox unless told otherwise: in one, the toolchain is imported anew.

    `sandbox=None`: as it is where nobody says anything, on for jobs that read files from elsewhere.
    """
    fields = {"engines": PAIR, "measure": EVALUATE, "sandbox": "off", **fields}
    fields = {name: value for name, value in fields.items() if value is not None}
    spec = place.spec(*models, **fields)
    return place.run("run", spec, "--format", "json", "--python", place.python, timeout_s=400)


def by_engine(finished: Finished) -> dict[str, Document]:
    return {row["engine"].partition("@")[0]: row for row in finished.json()["cases"]}


def table_of(row: Document, against: str) -> Document:
    (table,) = [table for table in row["accuracy_tables"] if table["against"] == against]
    return table


# ---- a reference from a chosen engine


@needs(OPENVINO, ONNXRUNTIME)
def test_an_engine_is_the_reference_for_another(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx")
    finished = run(
        place,
        {"ref": str(program), "dimensions": {"batch": 2}},
        evaluate={"against": ["engine:onnxruntime"]},
    )
    assert finished.code == 0, finished
    rows = by_engine(finished)
    table = table_of(rows["openvino"], "engine:onnxruntime")
    assert table["accuracy"] == "pass"
    assert any("all_zeros: rejected, as it must be" in line for line in table["controls"])
    giver = rows["onnxruntime"]
    assert giver["accuracy_tables"] == []
    assert any("provides the reference engine:onnxruntime" in note for note in giver["notes"])
    assert len(place.launch_ids()) == 2


@needs(OPENVINO, ONNXRUNTIME)
def test_the_reference_is_run_and_kept_where_the_matrix_lacks_it(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx", shape=[1, 3])
    finished = place.run(
        *("eval", program, "--engine", "openvino", "--against", "engine:onnxruntime"),
        *("--format", "json", "--python", place.python, "--sandbox=off"),
        timeout_s=400,
    )
    assert finished.code == 0, finished
    rows = by_engine(finished)
    assert table_of(rows["openvino"], "engine:onnxruntime")["accuracy"] == "pass"
    assert rows["onnxruntime"]["outcome"] == "completed"
    assert len(place.launch_ids()) == 2
    again = place.report()
    assert {row["engine"].partition("@")[0] for row in again["cases"]} == set(PAIR)


@needs(OPENVINO, ONNXRUNTIME)
def test_engines_are_references_for_each_other(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx", shape=[1, 3])
    kinds = [f"engine:{name}" for name in PAIR]
    finished = run(place, program, evaluate={"against": kinds})
    assert finished.code == 0, finished
    rows = by_engine(finished)
    assert table_of(rows["openvino"], "engine:onnxruntime")["accuracy"] == "pass"
    assert table_of(rows["onnxruntime"], "engine:openvino")["accuracy"] == "pass"
    assert len(place.launch_ids()) == 2


@needs(OPENVINO, ONNXRUNTIME)
def test_a_gate_holds_an_engine_against_another(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx", shape=[1, 3])
    finished = run(
        place,
        program,
        evaluate={"against": ["engine:onnxruntime"]},
        require={"engine:onnxruntime.max_abs_error": "<=0.000001"},
    )
    assert finished.code == 0, finished
    rows = by_engine(finished)
    (gate,) = rows["openvino"]["gates"]
    assert gate["is_met"]
    assert rows["onnxruntime"]["gates"] == []


@needs(OPENVINO)
@pytest.mark.parametrize(
    ("engine", "reason"),
    [("litert", "litert"), ("executorch", "executorch does not load onnx programs")],
)
def test_a_reference_that_cannot_run_is_a_row(place: Workplace, engine: str, reason: str) -> None:
    program = onnx_scale(place.folder / "net.onnx", shape=[1, 3])
    finished = run(place, program, engines=["openvino"], evaluate={"against": [f"engine:{engine}"]})
    assert finished.code == 6, finished
    rows = by_engine(finished)
    assert (rows[engine]["outcome"], rows[engine]["reason_code"]) == ("skipped", "unavailable")
    assert reason in rows[engine]["text"]
    table = table_of(rows["openvino"], f"engine:{engine}")
    assert table["accuracy"] == "not_checked"
    assert reason in table["reason"]
    assert rows["openvino"]["verdict"] == "inconclusive"


@needs(OPENVINO, ONNXRUNTIME)
def test_an_open_dimension_is_named(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx")
    finished = run(place, program, evaluate={"against": ["engine:onnxruntime"]})
    assert finished.code == 2, finished
    assert "dimension 'batch' of input 'x' float32 [batch, 3] is not bound" in finished.err
    assert '"dimensions": {"batch": 1}' in finished.err


# ---- inputs and expected outputs from files


@needs(OPENVINO, ONNXRUNTIME)
def test_onnx_test_data_is_what_engines_are_held_against(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx")
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    data = onnx_test_data(place.folder / "sets", [[x], [x + 1]], [[x * 2], [(x + 1) * 2]])
    model = {"ref": str(program), "inputs": str(data)}
    finished = run(place, model, evaluate={"against": ["file"]}, sandbox=None)
    assert finished.code == 0, finished
    for row in by_engine(finished).values():
        assert table_of(row, "file")["accuracy"] == "pass"
    onnx_test_data(data, [[x], [x + 1]], [[x * 2], [x * 2]])
    finished = run(place, model, evaluate={"against": ["file"]})
    assert finished.code == 1, finished
    for row in by_engine(finished).values():
        assert table_of(row, "file")["accuracy"] == "fail_numeric"


@needs(ONNXRUNTIME)
def test_named_arrays_serve_timing_too(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx")
    x = np.ones((4, 3), np.float32)
    np.savez(place.folder / "x.npz", **{"0.x": x, "1.x": x * 3})
    np.savez(place.folder / "y.npz", **{"0.y": x * 2, "1.y": x * 6})
    finished = run(
        place,
        {"ref": str(program), "inputs": "x.npz", "expected": "y.npz"},
        engines=["onnxruntime"],
        sandbox=None,
        evaluate={},
        measure={"launches": 1, "iterations": 4, "warmup": 1, "passes": ["timing", "evaluate"]},
    )
    row = by_engine(finished)["onnxruntime"]
    assert row["outcome"] == "completed", finished
    assert table_of(row, "file")["accuracy"] == "pass"
    assert row["effective_options"]["input_shapes"] == "x:4x3"


@needs(ONNXRUNTIME)
def test_inputs_without_outputs_are_run_and_not_checked(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx", shape=[1, 3])
    x = np.ones((1, 3), np.float32)
    data = onnx_test_data(place.folder / "sets", [[x]], [[x]])
    (data / "test_data_set_0" / "output_0.pb").unlink()
    finished = run(
        place, {"ref": str(program), "inputs": "sets/"}, engines=["onnxruntime"], evaluate={}
    )
    (row,) = finished.json()["cases"]
    assert row["outcome"] == "completed", row["text"]
    assert (row["accuracy"], row["verdict"]) == ("not_checked", "inconclusive")
    assert "holds no expected outputs" in table_of(row, "file")["reason"]


@needs(ONNXRUNTIME)
def test_a_damaged_set_is_told_in_the_row(place: Workplace) -> None:
    program = onnx_scale(place.folder / "net.onnx", shape=[1, 3])
    x = np.ones((1, 3), np.float32)
    data = onnx_test_data(place.folder / "sets", [[x]], [[x]])
    broken = data / "test_data_set_0" / "input_0.pb"
    broken.write_bytes(broken.read_bytes()[:-2])
    finished = run(
        place, {"ref": str(program), "inputs": "sets/"}, engines=["onnxruntime"], evaluate={}
    )
    (row,) = finished.json()["cases"]
    assert (row["outcome"], row["reason_code"]) == ("aot_error", "corrupt_inputs")
    assert "input_0.pb is corrupt" in row["text"]


@needs(EXECUTORCH)
@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_bundle_is_run_on_its_own_inputs(place: Workplace, is_wrong: bool) -> None:
    path = bundle(place.folder / "net.bpte", is_wrong=is_wrong)
    sandbox = ["--sandbox=off"] if is_wrong else []  # In one, the toolchain is imported anew.
    finished = place.run("eval", path, "--format", "json", "--python", place.python, *sandbox)
    assert finished.code == int(is_wrong), finished
    table = table_of(case_of(finished.json(), "net"), "file")
    assert table["accuracy"] == ("fail_numeric" if is_wrong else "pass")


# ---- programs of several files


def save_with_data(folder: Path, weight: float) -> Path:
    """y = x * weight, the weight in a file of its own."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    x, y = (
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 512]) for name in ("x", "y")
    )
    weights = onnx.numpy_helper.from_array(np.full((1, 512), weight, np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "w"], ["y"])], "g", [x], [y], [weights]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    folder.mkdir()
    path = folder / "net.onnx"
    onnx.save(model, path, save_as_external_data=True, location="net.data", size_threshold=0)
    return path


@needs(ONNXRUNTIME)
def test_external_data_is_part_of_the_program(place: Workplace) -> None:
    one, other = (save_with_data(place.folder / name, float(name[1:])) for name in ("w1", "w2"))
    quick = ["--engine", "onnxruntime", "--launches", "1", "--iterations", "2", "--format", "json"]
    rows = [place.run("bench", path, *quick).json()["cases"][0] for path in (one, other)]
    size = sum((one.parent / name).stat().st_size for name in ("net.onnx", "net.data"))
    assert one.read_bytes() == other.read_bytes()
    for row in rows:
        assert row["outcome"] == "completed"
        assert row["metrics"]["program_bytes"]["value"] == size
    assert rows[0]["case_key"] != rows[1]["case_key"]
    differ = place.run("compare", one, other, "--engine", "onnxruntime", "--dry-run")
    assert differ.out.split() == ["A", "w1/net", "B", "w2/net"], differ
    (other.parent / "net.data").write_bytes((one.parent / "net.data").read_bytes())
    same = place.run("compare", one, other, "--engine", "onnxruntime", "--format", "json")
    assert (same.code, same.json()["verdict"]) == (0, "identical"), same
    (one.parent / "net.data").unlink()
    gone = place.run("bench", one, *quick)
    assert gone.code == 2, gone
    assert "keeps data in 'net.data', which is not beside it" in gone.err


# ---- random inputs in addition to real ones


@needs(EXECUTORCH)
@pytest.mark.parametrize(("scale", "is_warned"), [(1.0, False), (40.0, True)])
def test_parity_warns_where_random_inputs_hide_an_error(
    place: Workplace, scale: float, is_warned: bool
) -> None:
    """Calibrated on random inputs, an int8 program clips inputs that are forty times as large."""
    factory = place.folder / "factory.py"
    factory.write_text(FACTORY, encoding="utf-8")
    samples = scale * np.random.default_rng(1).standard_normal((3, 1, 3, 12, 12))
    np.savez(place.folder / "x.npz", **{f"{n}.0": s.astype("f4") for n, s in enumerate(samples)})
    finished = run(
        place,
        {"ref": f"{factory}:net", "inputs": "x.npz"},
        engines=["executorch"],
        recipes=["executorch/xnnpack-int8"],
        evaluate={"against": ["float32"], "parity": True},
    )
    assert finished.code == int(is_warned), finished
    rows = {"random inputs" in row["label"]: row for row in finished.json()["cases"]}
    assert table_of(rows[True], "float32")["accuracy"] == "pass"
    assert rows[True]["warnings"] == rows[False]["warnings"]
    assert len(rows[False]["warnings"]) == int(is_warned)
    console = place.run("report", "latest").out
    page = place.folder / "page.html"
    place.run("report", "latest", "--format", "html", "--out", page)
    for text in (console, page.read_text(encoding="utf-8")):
        assert ("random inputs hide what real ones show" in text) == is_warned
