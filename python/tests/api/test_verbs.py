import json
import math
from pathlib import Path

import pytest

import assay
from assay import _calls, _stored
from assay._execute import result_from_text
from assay._fields import number_from_json, read_fields
from assay._flags import flags_from_options
from assay._report import Attribution

GOLDEN = Path(__file__).parents[3] / "tests" / "golden" / "report"
FP32 = "executorch/xnnpack-fp32"
TINY = f"{Path(__file__).parent / 'models' / 'tiny.py'}:make"
QUICK = {"launches": 2, "warmup": 1, "iterations": 5, "time_budget": "5s", "threads": 1}


def test_flags_are_those_of_the_command_line():
    flags = flags_from_options(
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
            "for_": "2s",
            "args": {"width": 2},
            "scenario": {"gap": ["0ms", "5ms"]},
        }
    )
    assert " ".join(flags) == (
        "--recipe=a --recipe=b --threads=2 --profile --time-budget=5s --option=load_mode=mmap "
        "--option=workspace=true,2 --input-shape=1,3 --input-shape=4 --dimension=batch=2 "
        "--inputs=x.npz --parity --label=branch=main --for=2s "
        '--args={"width": 2} --scenario=gap=0ms,5ms'
    )


def test_a_typo_in_an_option_gets_the_nearest_name():
    with pytest.raises(assay.AssayError, match="did you mean iterations"):
        assay.bench("x.pte", iteration=3)


@pytest.mark.parametrize("value", [0, None])
def test_a_mark_of_a_number_stands_for_its_value(value):
    assert number_from_json({"value": value, "special": "-inf"}) == float("-inf")
    assert number_from_json({"value": 2, "special": ""}) == 2.0


def test_special_values_of_metrics_are_floats(fake_program):
    report = assay.bench(fake_program(), **QUICK)
    document = json.loads(json.dumps(dict(report.document)))
    document["cases"][0]["metrics"]["steady_ns"]["special"] = "nan"
    read = result_from_text(json.dumps(document))
    assert isinstance(read, assay.Report)
    assert math.isnan(read.case.metrics["steady_ns"].value)


def test_a_report_of_another_version_is_refused():
    with pytest.raises(assay.AssayError, match="assay/report/9") as caught:
        result_from_text('{"schema": "assay/report/9"}')
    assert caught.value.code == "unsupported"


def test_a_report_that_lacks_a_field_names_it():
    with pytest.raises(assay.UnavailableError, match="lacks 'run'") as caught:
        result_from_text('{"schema": "assay/report/1", "cases": [], "baseline": ""}')
    assert caught.value.code == "unsupported"


def test_attribution_is_read_down_to_the_layers():
    noise = {"quantization": 0.01, "backend": None, "total": 0.02}
    origin = {"name": "conv", "module": "features.0", "operator": "aten.conv2d", "inputs": []}
    layer = {"origin": origin, "noise": noise, "added": noise, "alone": noise}
    found = read_fields(Attribution, {"whole": noise, "layers": [layer], "notes": ["a"]})
    assert found.layers[0].origin.operator == "aten.conv2d"
    assert (found.whole.total, found.whole.backend) == (0.02, None)


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


def test_a_crash_is_a_finding_not_an_exception(fake_program, tmp_path):
    report = assay.bench(fake_program(misbehave={"at": "first", "do": "segfault"}), **QUICK)
    assert report.exit_code == 1
    assert (report.case.outcome, report.case.verdict) == ("crashed", "fail")
    assert "crashed" in report.save_html(tmp_path / "page.html").read_text()
    assert "SIGSEGV" in report.case.text


def test_a_report_becomes_a_data_frame_and_a_page(fake_program, tmp_path):
    pytest.importorskip("pandas")
    report = assay.bench(fake_program(), store=tmp_path / "own.db", **QUICK)
    frame = report.to_pandas()
    assert frame.loc[0, "verdict"] == report.case.verdict
    assert frame.loc[0, "steady_ns"] == report.case.metrics["steady_ns"].value
    page = report.save_html(tmp_path / "page.html").read_text()
    assert "<html" in page.lower()
    assert report.case.label in page
    assert result_from_text(report.save_json(tmp_path / "r.json").read_text()) == report


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


@pytest.mark.slow
def test_each_verb_prints_what_the_command_line_shows(fake_program, tmp_path):
    program = fake_program(execute_ns=200_000)
    store = tmp_path / "own.db"
    once = {"iterations": 3, "warmup": 1, "store": store}
    measured = assay.bench(program, launches=1, **once)
    profiled = assay.profile(program, launches=1, **once)
    results = {
        "bench": (measured, assay.Report, "1 case"),
        "report": (assay.report(measured, store=store), assay.Report, "1 case"),
        "profile": (profiled, assay.Profile, "program"),
        "stored profile": (assay.profile(profiled), assay.Profile, "program"),
        "stored": (assay.compare_runs(measured, measured), assay.StoredComparison, "Weak evidence"),
        "calibrate": (assay.calibrate(for_="1s", store=store), assay.Calibration, "difference"),
        "runs": (assay.runs(limit=2, store=store), assay.Runs, measured.run_id[:4]),
    }
    for verb, (result, kind, words) in results.items():
        assert isinstance(result, kind), verb
        assert words in str(result), verb
        assert "\x1b" not in str(result), verb
        assert len(repr(result)) < 120, verb
        assert words in result._repr_markdown_().replace("\\", ""), verb
        assert "<table" in result._repr_html_() or "<pre" in result._repr_html_(), verb
        assert len(result.rows) == len(result.to_pandas()) > 0, verb
    assert len(results["runs"][0].rows) == 2


def test_a_comparison_has_typed_estimates_and_its_exit_code(fake_program, tmp_path):
    fast = fake_program(execute_ns=100_000)
    slow = tmp_path / "slow.fake.json"
    slow.write_text(fast.read_text().replace("100000", "300000"))
    quick = {"iterations": 3, "warmup": 0, "most_pairs": 10, "no_canary": True}
    found = assay.compare(fast, slow, **quick)
    assert (found.verdict, found.exit_code) == ("slower", 1)
    assert found.rows[0].metric == "steady_floor_ns"
    assert found.rows[0].ratio > 1
    assert found.rows[0].b_median > found.rows[0].a_median
    assert found.text in str(found).replace("\n", " ")


def test_a_profile_adds_up_to_its_method(fake_program):
    found = assay.profile(fake_program(execute_ns=200_000), launches=1, iterations=3, warmup=1)
    (case,) = found.cases
    assert sum(part.time_ns for part in case.parts) == pytest.approx(case.method_ns, rel=0.01)


def test_a_profile_of_nothing_is_an_error_with_the_reason(fake_program):
    program = fake_program(misbehave={"at": "load", "do": "segfault"})
    with pytest.raises(assay.UnavailableError, match=r"no profile of .* crashed") as caught:
        assay.profile(program, launches=1)
    assert caught.value.exit_code == 3


def test_a_model_of_no_kind_is_refused_by_each_verb(programs):
    for verb in (assay.bench, assay.evaluate, assay.attribute, assay.profile, assay.reduce):
        with pytest.raises(assay.UsageError, match="a dict is no model"):
            verb({"not": "a model"}, recipe=FP32)
    with pytest.raises(assay.UsageError, match="a list is no model"):
        assay.compare([1], [2])


def test_a_run_that_does_not_fit_the_function_is_an_error_of_usage(fake_program, tmp_path):
    measured = assay.bench(fake_program(), store=tmp_path / "own.db", **QUICK)
    with pytest.raises(assay.UsageError, match="feed"):
        assay.report("feed", store=tmp_path / "own.db")
    with pytest.raises(assay.UsageError, match=r"is a Report, .* call assay\.report instead"):
        assay.conformance_report(measured)
    with pytest.raises(assay.UsageError, match=r"call assay\.compare_runs instead"):
        assay.compare(measured, measured)


def test_a_stored_conformance_run_has_a_report_of_its_own(monkeypatch):
    text = (GOLDEN / "conformance.json").read_text()
    monkeypatch.setattr(_stored, "execute", lambda arguments, options: result_from_text(text))
    found = assay.conformance_report("run-2")
    assert [result.verdict for result in found.results][:2] == ["pass", "fail_numeric"]
    with pytest.raises(assay.UsageError, match=r"call assay\.conformance_report instead"):
        assay.report("run-2")


def test_a_result_brings_its_store(monkeypatch):
    """A run is looked up where it was stored, unless another store is named."""
    calls = []

    def execute(arguments, options):
        calls.append((arguments, options))
        return assay.Reductions(run="run-2")

    monkeypatch.setattr(_calls, "execute", execute)
    found = assay.Conformance(run_id="run-2", suite="operators", tier="quick", store="own.db")
    assay.reduce_run(found, bundle="failures")
    assay.reduce_run(found, bundle="failures", store="other.db", match="aten.add")
    options = {"run": "run-2", "bundle": "failures"}
    assert calls == [
        (["reduce", "--quiet"], {"store": "own.db", **options}),
        (["reduce", "--quiet"], {"store": "other.db", "match": "aten.add", **options}),
    ]


def test_two_runs_are_compared_as_stored(monkeypatch):
    calls = []

    def execute(arguments, options):
        calls.append((arguments, options))
        return assay.StoredComparison(a_run="1", b_run="2", metric="steady_ns")

    monkeypatch.setattr(_stored, "execute", execute)
    report = assay.Report(run_id="abc", cases=(), baseline="", store="own.db")
    assay.compare_runs(report, "latest", metric="first_ns")
    words = ["compare", "run:abc", "run:latest", "--quiet"]
    assert calls == [(words, {"store": "own.db", "metric": "first_ns"})]


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


@pytest.mark.engine
def test_attribute_has_the_noise_of_each_layer(programs):
    found = assay.attribute(TINY, recipe="executorch/xnnpack-int8", samples=2, threads=1)
    attribution = found.case.attribution
    assert len(attribution.layers) > 0
    assert attribution.whole.total >= 0
    assert attribution.layers[0].origin.operator


@pytest.mark.engine
def test_a_case_that_passes_is_not_reduced(programs):
    found = assay.conform(match="aten.add.Tensor", dtype="float32", batch=4)
    assert {one.operator_name for one in found.rows} == {"aten.add.Tensor"}
    with pytest.raises(assay.AssayError) as caught:
        assay.reduce(found.rows[0].name, recipe=found.rows[0].recipe, budget="20s")
    assert "the case is pass" in caught.value.message
    with pytest.raises(assay.UsageError, match="did you mean tier"):
        assay.conform(tiers="quick")
