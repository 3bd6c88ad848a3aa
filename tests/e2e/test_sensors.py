"""Readings of a device over a launch: sensors, meters and their energy, sustained launches."""

import json
from pathlib import Path

import pytest
from driver import Document, Workplace, assert_told, case_of

MILLISECOND = 1_000_000
ONCE = ["--launches", "1", "--warmup", "0", "--quiet", "--format", "json"]


def use_meter(place: Workplace, script: str) -> None:
    """Makes a shell script the meter of this machine."""
    file = place.folder / "read-meter"
    file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    file.chmod(0o755)
    place.ok("init", "--set", f"meter={file}")


def bench(place: Workplace, *flags: str | Path) -> Document:
    """The case of a program of 5 ms."""
    program = place.program("net", execute_ns=5 * MILLISECOND)
    result = place.run("bench", program, *ONCE, *flags)
    assert result.code in (0, 6), result
    return case_of(result.json(), "net")


def test_sensors_are_read_where_it_is_asked_for(place: Workplace) -> None:
    plain = bench(place, "--iterations", "2")
    assert plain["launches"][0]["traces"] is None, "nothing is read beside ordinary launches"
    read = bench(place, "--iterations", "20", "--sensors", "10ms")
    traces = read["launches"][0]["traces"]
    assert traces["period_ns"] == 10 * MILLISECOND
    assert traces["readings"] >= 3
    stored = place.query("select sampling from launch where sampling is not null")
    assert [json.loads(text)["readings"] for (text,) in stored] == [traces["readings"]]
    rows = place.query("select count(*) from trace")
    assert rows == [(len(traces["channels"]),)]
    refused = place.run("bench", place.program("net"), "--sensors", "often")
    assert_told(refused, 2, "--sensors", "250ms")


def test_meter_gives_energy_per_inference(place: Workplace) -> None:
    use_meter(place, "while :; do echo '{\"watts\": 2.5}'; sleep 0.02; done")
    case = bench(place, "--iterations", "100")
    metrics = case["metrics"]
    assert metrics["mean_power_w"]["value"] == pytest.approx(2.5)
    each = 1 / metrics["throughput_per_s"]["value"]
    assert metrics["energy_per_inference_j"]["value"] == pytest.approx(2.5 * each, rel=0.02)
    assert "energy and power are those of meter" in case["notes"]
    channels = {trace["channel"] for trace in case["launches"][0]["traces"]["channels"]}
    assert "meter" in channels
    assert place.processes() == [], "the meter has ended"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo '{\"watts\": 1}'; exit 1", "ended before the launch did"),
        ("echo '{\"watts\": 1}'; echo hot; sleep 60", "printed 'hot', which is no reading"),
        ("while :; do echo '{\"watts\": 1}'; sleep 10; done", "meter gave"),
    ],
)
def test_meter_that_fails_costs_the_energy_and_nothing_else(
    place: Workplace, script: str, why: str
) -> None:
    use_meter(place, script)
    case = bench(place, "--iterations", "100")
    assert case["outcome"] == "completed"
    assert case["metrics"]["steady_ns"]["value"] >= 5 * MILLISECOND
    assert "energy_per_inference_j" not in case["metrics"]
    assert any(
        note.startswith("no energy per inference: ") and why in note for note in case["notes"]
    )


def test_sustained_launches_are_cases_of_their_own(place: Workplace) -> None:
    program = place.program("net", execute_ns=5 * MILLISECOND)
    flags = ["--scenario", "duration=burst,2s", "--iterations", "3"]
    result = place.run("bench", program, *ONCE, *flags)
    burst, sustained = result.json()["cases"]
    assert [burst["options"], sustained["options"]] == ["", "duration=2s"], result
    assert burst["case_key"] != sustained["case_key"]
    assert "sustained_ns" not in burst["metrics"]
    metrics = sustained["metrics"]
    assert metrics["sustained_ns"]["value"] == metrics["steady_ns"]["value"] >= 5 * MILLISECOND
    assert "sustained_ratio" in metrics
    assert "sustained_slope_percent_per_min" not in metrics, "two seconds tell no rate a minute"
    assert any("of the last third took" in note for note in sustained["notes"])
    launch = sustained["launches"][0]
    assert (launch["stopped_by"], launch["warmup"]) == ("duration", "sustained")
    assert len(launch["execute_ns"]) > 50
    assert launch["traces"]["period_ns"] == 1000 * MILLISECOND, "a sustained launch is read"


@pytest.mark.slow
def test_sustained_launches_are_compared(place: Workplace) -> None:
    program = place.program("net", execute_ns=5 * MILLISECOND)
    flags = ["--scenario", "duration=burst,1s", "--metric", "steady_ns"]
    few = ["--most-pairs", "10", "--budget", "2s", "--iterations", "3"]  # No test looks at them.
    result = place.run("compare", program, *flags, *few, "--quiet")
    assert result.code in (0, 1, 6), result
    kept = place.query("select measurement from launch where measurement is not null")
    durations = {json.loads(text)["duration_ns"] for (text,) in kept}
    assert durations == {0, 1000 * MILLISECOND}
