"""Under what conditions a case is timed, how many launches it gets, what a machine tells apart."""

import pytest
from driver import FAST_MEASURE, Document, Workplace, case_of

MILLISECOND = 1_000_000


def options_and_metrics(report: Document) -> dict[str, Document]:
    return {case["options"]: case["metrics"] for case in report["cases"]}


def test_conditions_are_rows_of_their_own(place: Workplace) -> None:
    program = place.program("net", execute_ns=MILLISECOND)
    flags = ["--scenario", "gap=0ms,2ms", "--scenario", "streams=1,2", "--format", "json"]
    result = place.run("bench", program, *flags, "--iterations", "5", "--warmup", "1", "--quiet")
    rows = options_and_metrics(result.json())
    assert list(rows) == ["", "streams=2", "gap=2ms", "gap=2ms streams=2"], result
    paced = rows["gap=2ms"]["throughput_per_s"]["value"]
    assert paced < 1000 / 3, "an inference of 1 ms and a pause of 2 ms"
    assert paced < rows[""]["throughput_per_s"]["value"]


def test_streams_infer_at_the_same_time(place: Workplace) -> None:
    # Sleeping would need no second core, spinning does; what is counted is who inferred.
    program = place.program("net", execute_ns=MILLISECOND)
    flags = ["--scenario", "streams=1,3", "--iterations", "20", "--quiet", "--format", "json"]
    rows = options_and_metrics(place.run("bench", program, *flags).json())
    one = rows[""]["throughput_per_s"]["value"] * rows[""]["steady_mean_ns"]["value"]
    three = rows["streams=3"]
    all_streams = three["throughput_per_s"]["value"] * three["steady_mean_ns"]["value"]
    assert all_streams > 1.5 * one, "as many inferences are in flight as throughput times latency"


def test_companion_that_cannot_start_is_told(place: Workplace) -> None:
    program = place.program("net")
    beside = place.program("broken")
    beside.write_text("{", encoding="utf-8")
    result = place.run("bench", program, "--scenario", f"beside={beside}", "--quiet")
    assert result.code == 1, result
    assert "the companion" in result.out


def test_program_beside_works_while_the_other_is_timed(place: Workplace) -> None:
    program = place.program("net", execute_ns=MILLISECOND)
    beside = place.program("other", execute_ns=MILLISECOND)
    flags = ["--scenario", f"beside={beside}", "--iterations", "3", "--quiet", "--format", "json"]
    result = place.run("bench", program, *flags)
    row = case_of(result.json(), "net")
    assert row["outcome"] == "completed", result
    assert row["label"].endswith("beside=other.fake.json")
    assert place.processes() == []


@pytest.mark.parametrize(("state", "ratio"), [("warm", 1.0), ("cold", 0.0)])
def test_page_cache_is_as_asked(place: Workplace, state: str, ratio: float) -> None:
    program = place.program("net")
    flags = ["--scenario", f"page_cache={state}", "--iterations", "3", "--quiet"]
    result = place.run("bench", program, *flags, "--format", "json")
    row = case_of(result.json(), "net")
    cached = row["metrics"]["cached_ratio"]["value"]
    if state == "cold" and cached == 1:
        assert any("should be cold" in note for note in row["notes"]), row["notes"]
        pytest.skip("this file system lies in memory")
    assert cached == ratio


def test_launches_go_on_until_the_interval_is_narrow(place: Workplace) -> None:
    steady = place.program("steady", execute_ns=MILLISECOND)
    measure = {**FAST_MEASURE, "interval": "100%", "most_launches": 30}
    del measure["launches"]
    result = place.run("run", place.spec(steady, measure=measure), "--format", "json")
    # The first look is at six; a busy machine may need the second or third.
    count = case_of(result.json(), "steady")["metrics"]["steady_ns"]["count"]
    assert count in {6, 9, 14}, result


@pytest.mark.slow
def test_calibration_stands_in_the_head_of_every_report(place: Workplace) -> None:
    calibrated = place.run("calibrate", "--for", "3s", "--quiet", "--format", "json")
    found = calibrated.json()
    assert (calibrated.code, found["schema"]) == (0, "assay/calibration/1"), calibrated
    assert found["pairs"] >= 6
    assert found["null_inference_ns"] > 0
    assert [one["budget_ns"] for one in found["detectable"]] == [10**10, 6 * 10**10, 6 * 10**11]
    report = place.run(
        "bench", place.program("net"), "--iterations", "3", "--format", "json"
    ).json()
    assert report["calibration"]["run"] == found["run"]


def test_two_stored_runs_nominate_but_never_fail(place: Workplace) -> None:
    program = place.program("net", execute_ns=MILLISECOND)
    bench = ["bench", program, "--launches", "6", "--iterations", "5", "--quiet"]
    assert place.run(*bench).code in (0, 6)
    program.write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
    assert place.run(*bench).code in (0, 6)
    runs = [run["id"] for run in place.run("runs", "--format", "json").json()["runs"]]
    result = place.run("compare", f"run:{runs[1]}", f"run:{runs[0]}", "--format", "json")
    found = result.json()
    assert (result.code, found["schema"]) == (0, "assay/stored-comparison/1"), result
    (change,) = found["changes"]
    assert (change["a_launches"], change["b_launches"]) == (6, 6)
    refused = place.run("compare", f"run:{runs[1]}", program)
    assert refused.code == 2, refused
    assert "assay compare RUN_A RUN_B" in refused.err
