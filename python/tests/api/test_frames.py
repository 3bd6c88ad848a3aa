"""Data frames of cases, runs and series, Parquet files of them, and their charts."""

import copy
import datetime
import importlib.util
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import assay
from assay import UnavailableError, UsageError, _frames, _plot_series
from assay._execute import result_from_text

GOLDEN = Path(__file__).parents[3] / "tests" / "golden" / "report"
CSV = (GOLDEN / "sample.csv").read_text(encoding="utf-8")
QUICK = {"launches": 2, "iterations": 4, "warmup": 1}
VALUES = [2000 + 300 * (i >= 20) + i % 3 for i in range(40)]
TIMES = "commit,time,value,series,metric,unit\n" + "".join(
    f"{4096 + i:012x},{1767600000 + i * 3600},{value},net,steady_ns,ns\n"
    for i, value in enumerate(VALUES)
)


@pytest.fixture(scope="session")
def history():
    """The history of the samples of the reports, as the command line writes it."""
    return result_from_text(
        (GOLDEN.parent / "history" / "history.json").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_report_comes_back_from_another_process(again):
    report = result_from_text((GOLDEN / "sample.json").read_text(encoding="utf-8"))
    came = again(report)
    assert repr(came) == repr(report)
    with pytest.raises(TypeError):
        came.cases[0].metrics["steady_ns"] = None


def test_every_column_is_a_text_or_a_number():
    pd = pytest.importorskip("pandas")
    frame = _frames.frame_from_csv(CSV)
    numbers = frame.select_dtypes("number").columns
    assert set(frame.columns) == {*numbers, *_frames.TEXT_COLUMNS}
    assert frame["steady_ns"].tolist()[:2] == [3187000000.0, 11620000.0]
    assert frame["steady_launches"].dtype == pd.Int64Dtype()
    assert frame["delegated_ratio"].dtype == "float64"


def test_what_was_not_measured_is_nan_and_no_text():
    pytest.importorskip("pandas")
    frame = _frames.frame_from_csv(CSV)
    crashed = frame[frame["outcome"] == "crashed"].iloc[0]
    assert crashed["steady_ns"] != crashed["steady_ns"]
    assert frame["reason_code"].tolist()[0] == ""
    exact = frame[frame["model"] == "constant_net"].iloc[0]
    assert exact["float32_sqnr_db"] == float("inf")


def test_a_guard_against_formulas_is_undone():
    pytest.importorskip("pandas")
    text = "model,text,steady_ns\n'=x,'plain,1\n"
    frame = _frames.frame_from_csv(text)
    assert frame.iloc[0].tolist() == ["=x", "'plain", 1.0]


def test_cases_of_several_runs_are_one_frame(fake_program, tmp_path):
    pd = pytest.importorskip("pandas")
    store = tmp_path / "own.db"
    first = assay.bench(fake_program(), store=store, label={"commit": "abc"}, **QUICK)
    assay.bench(fake_program(), store=store, **{**QUICK, "threads": [1, 2]})
    runs = assay.runs(store=store)
    assert [run.verb for run in runs.rows] == ["bench", "bench"]
    assert runs.rows[1].labels["commit"] == "abc"
    frame = runs.cases_to_pandas()
    assert len(frame) == 3
    assert frame["options"].tolist()[:2] == ["threads=1", "threads=2"]
    assert isinstance(frame["started"].dtype, pd.DatetimeTZDtype)
    assert frame["label_commit"].tolist()[2] == "abc"
    last = frame.iloc[2]
    assert last["run"] == first.run_id
    assert last["steady_ns"] == first.case.metrics["steady_ns"].value
    assert first.to_pandas().iloc[0]["steady_ns"] == last["steady_ns"]
    overview = runs.to_pandas()
    assert overview["cases"].tolist() == [2, 1]
    assert isinstance(overview["started"].dtype, pd.DatetimeTZDtype)


def test_runs_are_selected_by_words_and_labels(fake_program, tmp_path):
    store = tmp_path / "own.db"
    first = assay.bench(fake_program(), store=store, label={"commit": "abc"}, **QUICK)
    assay.bench(fake_program(), store=store, label={"branch": "x"}, **QUICK)
    for found in (
        assay.runs("commit=abc", store=store),
        assay.runs(label={"commit": "abc"}, store=store),
        assay.runs(label="commit", store=store),
    ):
        assert [run.run_id for run in found.rows] == [first.run_id]
    assert len(assay.runs(store=store, limit=1).rows) == 1
    assert assay.runs("absent", store=store).rows == ()


def test_no_runs_are_a_frame_without_rows(fake_program, tmp_path):
    pytest.importorskip("pandas")
    store = tmp_path / "own.db"
    assay.bench(fake_program(), store=store, **QUICK)
    frame = assay.runs("absent", store=store).cases_to_pandas()
    assert len(frame) == 0
    assert "started" in frame.columns


def test_a_unit_stands_at_the_end_of_a_name():
    units = [
        _frames._unit_metadata(name).get("unit")
        for name in ("steady_ns", "program:size [bytes]", "program:x [1/s]", "nan_count")
    ]
    assert units == ["ns", "bytes", "1/s", None]


def test_parquet_keeps_types_and_units(tmp_path):
    pytest.importorskip("pandas")
    pq = pytest.importorskip("pyarrow.parquet")
    frame = _frames.frame_from_csv(CSV)
    path = _frames.write_parquet(frame, tmp_path / "cases.parquet", {"run": "0198f1c2"})
    table = pq.read_table(path)
    assert table.num_rows == len(frame)
    assert table.schema.field("steady_ns").metadata[b"unit"] == b"ns"
    assert table.schema.field("float32_sqnr_db").metadata[b"unit"] == b"dB"
    assert not table.schema.field("model").metadata
    assert json.loads(table.schema.metadata[b"assay"]) == {"run": "0198f1c2"}
    back = table.to_pandas()
    assert back["steady_ns"].equals(frame["steady_ns"])
    assert back["steady_launches"].tolist()[0] == 3


def test_a_report_becomes_a_parquet_file(fake_program, tmp_path):
    pytest.importorskip("pandas")
    pq = pytest.importorskip("pyarrow.parquet")
    report = assay.bench(fake_program(), store=tmp_path / "own.db", **QUICK)
    table = pq.read_table(report.to_parquet(tmp_path / "report.parquet"))
    assert json.loads(table.schema.metadata[b"assay"])["run"] == report.run_id
    assert table.column("steady_ns")[0].as_py() == report.case.metrics["steady_ns"].value


def test_without_pyarrow_the_error_says_what_to_install(monkeypatch, tmp_path):
    pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UnavailableError, match="pip install pyarrow"):
        _frames.write_parquet(_frames.frame_from_csv(CSV), tmp_path / "x.parquet", {})


def test_without_pandas_the_error_says_what_to_install(monkeypatch, history):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UnavailableError, match="pip install pandas"):
        _frames.frame_from_csv(CSV)
    with pytest.raises(UnavailableError, match="pip install pandas"):
        history.to_pandas()


def test_history_gives_points_with_levels_and_steps(history):
    pytest.importorskip("pandas")
    frame = history.to_pandas()
    assert len(frame) == len(history.rows) == sum(len(s.points["commit"]) for s in history.series)
    for one in history.series:
        own = frame[frame["series"] + frame["metric"] == one.name + one.metric]
        assert set(own[own["is_step"]]["commit"]) == {step.commit for step in one.steps}
        for segment in one.segments:
            inside = own[own["position"].between(segment.first_position, segment.last_position)]
            assert set(inside["level"].dropna()) <= {part.value for part in one.segments}
    stepped = next(one for one in history.series if one.steps)
    assert stepped.steps[0].change is not None


def test_history_reads_a_csv_file(programs, tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "times.csv"
    path.write_text(TIMES)
    found = assay.history(from_=path, metric="steady_ns")
    (series,) = found.series
    (step,) = series.steps
    assert step.position == 20
    assert step.change == pytest.approx(0.15, abs=0.01)
    frame = found.to_pandas()
    assert frame["value"].tolist()[:3] == [2000.0, 2001.0, 2002.0]
    assert frame["time"].iloc[0].isoformat() == "2026-01-05T08:00:00+00:00"
    assert "net" in str(found)


def test_history_of_nothing_is_an_error_of_usage(programs):
    with pytest.raises(UsageError, match="repository file"):
        assay.history()


@pytest.mark.parametrize("kind", ["runs", "history"])
def test_charts_over_time_are_valid_vega_lite(kind, history):
    pytest.importorskip("pandas")
    vl_convert = pytest.importorskip("vl_convert")
    rows, x, title = drawn_rows(kind, history)
    drawn = vl_convert.vegalite_to_svg(_plot_series.series_spec(rows, x, title))
    assert title in drawn
    assert drawn.count('aria-roledescription="point"') == len(rows)


@pytest.mark.parametrize("kind", ["runs", "history"])
def test_matplotlib_draws_each_series(kind, history):
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    rows, x, title = drawn_rows(kind, history)
    (axes,) = _plot_series.draw_series(rows, x, title).axes
    assert axes.get_ylabel() == title
    assert len(axes.get_legend().get_texts()) == len({row["name"] for row in rows})


def drawn_rows(kind, history):
    """The rows of a chart, its axis and its title, as the functions make them."""
    if kind == "history":
        frame = history.to_pandas()
        rows = _plot_series.rows_of_history(frame.to_dict("records"), "", None)
        return rows, ("position", "quantitative", "commit"), "a title"
    cases = _frames.frame_from_csv(CSV)
    run = {"started": "2026-01-05T08:00:00Z", "purpose": "measure", "run_name": ""}
    frame = _frames.frame_with_runs([cases], [run])
    rows = _plot_series.rows_of_runs(frame.to_dict("records"), "steady_ns")
    return rows, ("time", "temporal", "run"), "a title"


def test_times_of_runs_are_drawn_with_intervals_in_one_unit():
    pytest.importorskip("pandas")
    rows, _, _ = drawn_rows("runs", None)
    assert {row["unit"] for row in rows} == {"s"}
    assert rows[1]["value"] == pytest.approx(0.01162)
    assert rows[1]["low"] < rows[1]["value"] < rows[1]["high"]


def test_builds_of_one_run_are_series_of_their_own():
    pd = pytest.importorskip("pandas")
    frame = _frames.frame_from_csv(CSV)
    frame["started"] = pd.Timestamp("2026-01-01", tz="UTC")
    later = frame.assign(run="later", engine="executorch@1.6")
    records = pd.concat([frame, later]).to_dict("records")
    names = {row["name"] for row in _plot_series.rows_of_runs(records, "steady_ns")}
    assert not any("executorch@" in name for name in names), "an upgrade goes on with the series"
    beside = frame.assign(engine="executorch@mine")
    records = pd.concat([frame, beside]).to_dict("records")
    both = {row["name"] for row in _plot_series.rows_of_runs(records, "steady_ns")}
    assert {name for name in both if "executorch@mine" in name}
    assert len(both) == 2 * len(names)


def test_engines_and_builds_in_turn_are_series_of_their_own():
    def names_of(*engines):
        case = {"model": "m", "recipe": "program", "shapes": "", "options": "", "device": "local"}
        records = [
            {**case, "run": str(day), "engine": engine, "verdict": "pass", "steady_ns": 5.0}
            | {"started": datetime.datetime(2026, 1, 1 + day)}
            for day, engine in enumerate(engines)
        ]
        return [row["name"] for row in _plot_series.rows_of_runs(records, "steady_ns")]

    assert names_of("executorch@1", "executorch@2") == ["m program"] * 2
    assert names_of("executorch@1", "onnxruntime@1") == [
        "m program executorch",
        "m program onnxruntime",
    ]
    in_turn = ["executorch@1", "executorch@2", "executorch@1", "executorch@2"]
    assert names_of(*in_turn) == [f"m program {build}" for build in in_turn]


def test_a_wrong_column_is_told_with_those_that_are_there():
    pytest.importorskip("pandas")
    frame = _frames.frame_from_csv(CSV)
    with pytest.raises(UsageError, match="steady_ns"):
        _plot_series.plot_runs(frame, "steady")


def test_a_chart_of_nothing_is_an_error(history):
    pytest.importorskip("pandas")
    with pytest.raises(UsageError, match="no point"):
        history.plot(series="absent")


def test_a_chart_without_a_drawing_package_is_an_error(monkeypatch, history):
    pytest.importorskip("pandas")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match="pip install altair"):
        history.plot()


def test_importing_assay_imports_no_pandas():
    code = "import assay, sys; assay.runs; assay.plot_runs; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
