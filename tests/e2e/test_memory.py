"""The memory pass: parts that add up, malloc counted, leaks found and none invented."""

from pathlib import Path
from typing import Any

from driver import FAST_MEASURE, Document, Workplace, case_of

LEAK_CHECK = {"loads": 15, "inferences": 60}
MEASURE = {**FAST_MEASURE, "passes": ["memory"], "leak_check": LEAK_CHECK}


def measured(place: Workplace, program: Path, measure: Document | None = None) -> Document:
    """The case of one program after its memory pass."""
    finished = place.run("run", place.spec(program, measure=measure or MEASURE), "--format", "json")
    assert finished.code == 0, finished
    return case_of(finished.json(), program.name.split(".")[0])


def leak(case: Document, cycle: str, source: str) -> dict[str, Any]:
    """One finding of the leak check."""
    (found,) = (one for one in case["leaks"] if (one["cycle"], one["source"]) == (cycle, source))
    return found


def test_parts_add_up_to_the_resident_set_at_every_stage(place: Workplace) -> None:
    case = measured(place, place.program("net", declared_memory=[{"name": "arena", "bytes": 64}]))
    stages = case["memory"]["stages"]
    assert [stage["name"] for stage in stages] == ["start", "loaded", "first", "steady", "unloaded"]
    for stage in stages:
        parts = {part["name"]: part["bytes"] for part in stage["parts"]}
        assert sum(parts.values()) == stage["rss_bytes"] > 1_000_000, stage["name"]
        assert parts["libraries"] > 1_000_000
        assert parts["unattributed"] >= 0
        assert parts.get("declared.arena", 0) == (64 if "malloc_other" in parts else 0)
    assert case["memory"]["probe_bytes"] > 0
    assert case["metrics"]["allocations_per_inference"]["value"] == 0


def test_malloc_sees_a_stream_buffer_that_is_held_and_given_back(place: Workplace) -> None:
    held = 32 << 20
    case = measured(place, place.program("net", stream_bytes=held))
    live = {one["name"]: one["allocations"]["live_bytes"] for one in case["memory"]["stages"]}
    assert live["loaded"] - live["start"] >= held
    assert abs(live["unloaded"] - live["start"]) < 100_000
    assert case["metrics"]["malloc_peak_bytes"]["value"] >= held
    parts = {part["name"]: part["bytes"] for part in case["memory"]["stages"][3]["parts"]}
    assert parts["malloc_other"] >= held
    assert abs(parts["unattributed"]) < 4_000_000


def test_no_leak_is_found_in_a_sound_program(place: Workplace) -> None:
    case = measured(place, place.program("net"))
    for cycle in ("load", "inference"):
        found = leak(case, cycle, "malloc")
        assert found["verdict"] == "none", found
        assert found["bytes_per_cycle"]["value"] == 0
        assert case["metrics"][f"leak_bytes_per_{cycle}"]["high"] == 0
    assert leak(case, "load", "malloc")["cycles"] == 12  # Without the first fifth.


def test_a_leak_of_each_inference_is_found_to_the_byte(place: Workplace) -> None:
    # Beside the bytes themselves: malloc's rounding, and what remembers them.
    case = measured(place, place.program("leaky", leak_bytes=4096))
    found = leak(case, "inference", "malloc")
    assert found["verdict"] == "leak"
    assert 4096 <= found["bytes_per_cycle"]["low"] <= found["bytes_per_cycle"]["high"] < 4096 + 100
    assert leak(case, "inference", "private_dirty")["verdict"] == "leak"
    assert any("leaks" in note and "an inference" in note for note in case["notes"])
    # A cycle of load infers twice.
    assert 2 * 4096 <= case["metrics"]["leak_bytes_per_load"]["value"] < 2 * 4196


def test_a_leak_of_each_load_is_told_from_one_of_inferences(place: Workplace) -> None:
    case = measured(place, place.program("leaky", leak_load_bytes=10_000))
    assert leak(case, "inference", "malloc")["verdict"] == "none"
    found = leak(case, "load", "malloc")
    assert found["verdict"] == "leak"
    assert 10_000 <= found["bytes_per_cycle"]["value"] < 10_100


def test_bench_checks_for_leaks_and_a_gate_breaks_on_one(place: Workplace) -> None:
    program = place.program("leaky", leak_bytes=512)
    flags = ["--launches", "1", "--iterations", "4", "--time-budget", "2s", "--leak-check"]
    finished = place.run("bench", program, *flags, "--require", "leak_bytes_per_inference<=0")
    assert finished.code == 1, finished
    assert "sum: resident set" in finished.out
    assert "an inference (" in finished.out
    shown = place.run("report", "latest", "--memory", "--format", "md")
    assert "#### Memory of leaky" in shown.out


def test_without_a_leak_check_nothing_is_said_of_leaks(place: Workplace) -> None:
    case = measured(place, place.program("net"), {**FAST_MEASURE, "passes": ["memory"]})
    assert case["leaks"] == []
    assert case["memory"]["leak_series"] == []
    assert "leak_bytes_per_load" not in case["metrics"]
