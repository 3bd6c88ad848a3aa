"""assay profile: where the time goes, over time, against another one, in instructions."""

import itertools
import json
import shutil
from typing import Any

import pytest
from driver import Document, Workplace

MILLISECOND = 1_000_000
QUICK = ["--launches", "1", "--iterations", "5", "--warmup", "1", "--quiet"]
PROFILE = [*QUICK, "--profile-iterations", "6", "--format", "json"]
DELEGATES = ["fakexla", "fakexla"]


def two_delegates(place: Workplace, name: str, milliseconds: int) -> Any:
    return place.program(name, execute_ns=milliseconds * MILLISECOND, delegates=DELEGATES)


def test_parts_add_up_to_the_method_and_the_slow_down_is_told(place: Workplace) -> None:
    result = place.run("profile", two_delegates(place, "net", 2), *PROFILE)
    assert result.code == 0, result
    document = result.json()
    assert document["schema"] == "assay/profile/1"
    (case,) = document["cases"]
    assert case["iterations"] == 6
    assert sum(part["time_ns"] for part in case["parts"]) == pytest.approx(case["method_ns"])
    assert {part["name"] for part in case["parts"]} == {
        *("fakexla #1", "fakexla #2", "outside any operator")
    }
    (fakexla, outside) = case["places"]
    assert (fakexla["name"], fakexla["calls"]) == ("fakexla", 2)
    assert outside["time_ns"] == case["outside_ns"]
    assert case["slowdown_ratio"] == pytest.approx(case["execute_ns"] / case["timed_ns"])
    assert document["difference"] is None


def test_counters_have_a_value_or_a_reason(place: Workplace) -> None:
    (case,) = place.run("profile", two_delegates(place, "net", 1), *PROFILE).json()["cases"]
    names = [counter["name"] for counter in case["counters"]]
    assert names[:4] == ["instructions", "cycles", "cache-misses", "branch-misses"]
    assert {"task-clock", "page-faults"} <= set(names)
    for counter in case["counters"]:
        assert (counter["value"] is None) == bool(counter["unavailable"])


def complete_events(trace: Document) -> list[Document]:
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def test_trace_nests_in_time(place: Workplace) -> None:
    path = place.folder / "trace.json"
    result = place.run("profile", two_delegates(place, "net", 1), *PROFILE, "--trace", path)
    assert "ui.perfetto.dev" in result.err, result
    events = complete_events(json.loads(path.read_text(encoding="utf-8")))
    spans: dict[str, list[tuple[float, float]]] = {}
    for event in events:
        span = (event["ts"], event["ts"] + event["dur"])
        spans.setdefault(
            "execute" if event["name"] == "execute" and event["tid"] == 1 else event["cat"], []
        ).append(span)
    assert len(spans["inference"]) == 5  # Of six.
    for inner, outer in (("execute", "inference"), ("method", "execute"), ("delegate", "method")):
        for start, end in spans[inner]:
            assert any(a - 0.001 <= start and end <= b + 0.001 for a, b in spans[outer]), inner
    for found in spans.values():
        found.sort()
        assert all(a[1] <= b[0] + 0.001 for a, b in itertools.pairwise(found))


def test_difference_of_two_programs_adds_up(place: Workplace) -> None:
    a, b = two_delegates(place, "old", 1), two_delegates(place, "new", 3)
    difference = place.run("profile", a, b, *PROFILE).json()["difference"]
    whole = difference["b_ns"] - difference["a_ns"]
    assert whole >= MILLISECOND
    for rows in ("parts", "families", "places"):
        assert sum(row["difference_ns"] for row in difference[rows]) == pytest.approx(whole)
        sizes = [abs(row["difference_ns"]) for row in difference[rows]]
        assert sizes == sorted(sizes, reverse=True)


def test_stored_runs_are_shown_again(place: Workplace) -> None:
    traces = [place.folder / "first.json", place.folder / "again.json"]
    program = two_delegates(place, "old", 1)
    first = place.run("profile", program, *PROFILE, "--trace", traces[0]).json()
    place.run("profile", two_delegates(place, "new", 2), *PROFILE)
    again = place.run("profile", f"run:{first['run']}", "--trace", traces[1], "--format", "json")
    assert again.json()["cases"] == first["cases"]
    assert traces[1].read_bytes() == traces[0].read_bytes()
    both = place.run("profile", f"run:{first['run']}", "run:latest", "--format", "json").json()
    assert both["difference"]["a_ns"] == first["cases"][0]["method_ns"]
    mixed = place.run("profile", "run:latest", place.folder / "old.fake.json")
    assert (mixed.code, "RUN_A RUN_B" in mixed.err) == (2, True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind here")
def test_instructions_follow_the_work_and_are_stored(place: Workplace) -> None:
    counts = []
    for adds in (100_000, 300_000):
        program = place.program("net", multiply_adds=adds)
        (case,) = place.run("profile", program, *PROFILE, "--callgrind").json()["cases"]
        report = case["instructions"]
        assert report["unavailable"] == ""
        assert sum(f["instructions"] for f in report["functions"]) == pytest.approx(
            report["instructions_per_inference"], rel=0.05
        )
        counts.append(report["instructions_per_inference"])
    assert 2.5 < counts[1] / counts[0] < 3.2
    stored = place.query("select value from metric where name = 'instructions_per_inference'")
    assert sorted(value for (value,) in stored) == pytest.approx(sorted(counts))


def test_without_valgrind_it_says_how_to_get_it(place: Workplace) -> None:
    program = two_delegates(place, "net", 1)
    place.env["PATH"] = str(place.folder)
    result = place.run("profile", program, *QUICK, "--callgrind")
    assert result.code == 0, result
    assert "apt install valgrind" in result.out


def test_a_program_that_dies_has_no_profile_and_is_told(place: Workplace) -> None:
    program = place.program("dies", misbehave={"at": "first", "do": "segfault"})
    result = place.run("profile", program, *PROFILE)
    assert result.code == 3, result
    assert "no profile of dies" in result.err
    assert "SIGSEGV" in result.err
