import json
import math
from pathlib import Path

import pytest

import assay
from assay._measure import _flags_from
from assay._report import read_report

FP32 = "executorch/xnnpack-fp32"
TINY = f"{Path(__file__).parent / 'models' / 'tiny.py'}:make"
QUICK = {"launches": 2, "warmup": 1, "iterations": 5, "time_budget": "5s", "threads": 1}


def test_flags_are_those_of_the_command_line():
    flags = _flags_from(
        {
            "recipe": ["a", "b"],
            "threads": 2,
            "profile": True,
            "rebuild": False,
            "seed": None,
            "time_budget": "5s",
            "options": {"load_mode": "mmap", "workspace": [True, 2]},
            "input_shapes": [(1, 3), (4,)],
            "dimensions": {"batch": 2},
            "inputs": Path("x.npz"),
            "parity": True,
            "label": {"branch": "main"},
        }
    )
    assert " ".join(flags) == (
        "--recipe a --recipe b --threads 2 --profile --time-budget 5s --option load_mode=mmap "
        "--option workspace=true,2 --input-shape 1,3 --input-shape 4 --dimension batch=2 "
        "--inputs x.npz --parity --label branch=main"
    )


def test_a_typo_in_an_option_gets_the_nearest_name():
    with pytest.raises(assay.AssayError, match="did you mean iterations"):
        assay.bench("x.pte", iteration=3)


def test_special_values_of_metrics_are_floats(tmp_path, fake_program):
    report = assay.bench(fake_program(), **QUICK)
    document = json.loads(json.dumps(dict(report.document)))
    document["cases"][0]["metrics"]["steady_ns"]["special"] = "nan"
    path = tmp_path / "r.json"
    path.write_text(json.dumps(document))
    assert math.isnan(read_report(path).case.metrics["steady_ns"].value)


def test_a_report_of_another_version_is_refused(tmp_path):
    path = tmp_path / "r.json"
    path.write_text('{"schema": "assay/report/9"}')
    with pytest.raises(assay.AssayError, match="assay/report/9") as caught:
        read_report(path)
    assert caught.value.code == "unsupported"


def test_bench_gives_times_with_intervals_and_counts(fake_program):
    report = assay.bench(fake_program(execute_ns=1_000_000), **QUICK)
    case = report.case
    assert (case.engine, case.outcome, report.exit_code) == ("fake@1", "completed", 0)
    steady = case.metrics["steady_ns"]
    assert steady.count == 2
    assert steady.value >= 1_000_000
    assert steady.low is None or steady.low <= steady.value


def test_a_list_of_threads_makes_cases(fake_program):
    report = assay.bench(fake_program(), **{**QUICK, "threads": [1, 2]})
    assert [case.options for case in report.cases] == ["threads=1", "threads=2"]
    with pytest.raises(assay.AssayError, match="2 cases, not one"):
        _ = report.case


def test_a_crash_is_a_finding_not_an_exception(fake_program):
    report = assay.bench(fake_program(misbehave={"at": "first", "do": "segfault"}), **QUICK)
    assert report.exit_code == 1
    assert (report.case.outcome, report.case.verdict) == ("crashed", "fail")
    assert "SIGSEGV" in report.case.text


def test_a_report_becomes_a_data_frame_and_a_page(fake_program, tmp_path):
    pytest.importorskip("pandas")
    report = assay.bench(fake_program(), store=tmp_path / "own.db", **QUICK)
    frame = report.to_dataframe()
    assert frame.loc[0, "verdict"] == report.case.verdict
    assert frame.loc[0, "steady_ns"] == report.case.metrics["steady_ns"].value
    page = report.save_html(tmp_path / "page.html").read_text()
    assert "<html" in page.lower()
    assert report.case.label in page
    assert read_report(report.save_json(tmp_path / "r.json")) == report


def test_wrong_usage_is_an_error_with_the_tools_message(programs):
    with pytest.raises(assay.AssayError, match=r"absent\.pte") as caught:
        assay.bench("absent.pte")
    assert caught.value.code == "invalid_argument"


def test_run_takes_a_path_or_a_document(fake_program, tmp_path, monkeypatch):
    program = fake_program()
    monkeypatch.chdir(program.parent)
    spec = {
        "name": "quick",
        "models": [program.name],
        "measure": {"launches": 1, "warmup": 1, "iterations": 3, "time_budget": "5s"},
    }
    of_document = assay.run(spec)
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({"schema": "assay/spec/1", **spec}))
    of_path = assay.run(path)
    assert of_document.case.case_key == of_path.case.case_key
    assert of_document.run_id != of_path.run_id


def test_a_fault_in_a_spec_is_an_error_that_names_its_place(programs):
    with pytest.raises(assay.AssayError, match="model") as caught:
        assay.run({"name": "empty", "models": 3})
    assert caught.value.code == "invalid_argument"


@pytest.mark.engine
def test_evaluate_compares_with_the_reference(programs):
    pytest.importorskip("torch")
    report = assay.evaluate(TINY, recipe=FP32, against="float32", samples=2, threads=1)
    (table,) = report.case.accuracy_tables
    assert (table.against, table.accuracy) == ("float32", "pass")
    (errors,) = table.outputs.values()
    assert errors["max_abs_error"] < 1e-4


@pytest.mark.engine
def test_a_broken_gate_is_exit_code_one(programs):
    report = assay.evaluate(TINY, recipe=FP32, samples=2, require="sqnr_db>=1000")
    assert report.exit_code == 1
    assert not report.case.gates[0].is_met


@pytest.mark.engine
def test_bench_takes_a_live_module(programs):
    torch = pytest.importorskip("torch")
    module = torch.nn.Linear(8, 4)
    report = assay.bench(module, recipe=FP32, example_inputs=(torch.zeros(2, 8),), **QUICK)
    assert report.case.outcome == "completed"
