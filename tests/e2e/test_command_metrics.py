"""A command that prints numbers of its own: stored, shown, gated, compared and profiled."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from driver import Workplace

BENCH = ("bench", "--launches", "3", "--iterations", "4", "--warmup", "1", "--quiet")


def write_program(place: Workplace, name: str, script: str, **keys: Any) -> Path:
    path = place.folder / f"{name}.command.json"
    path.write_text(json.dumps({"argv": ["sh", "-c", script], **keys}), encoding="utf-8")
    return path


def rate_program(place: Workplace, name: str, rate: float) -> Path:
    return write_program(
        place,
        name,
        f"echo min 1.5 ms; echo {rate} tokens/s",
        metrics={
            "least": {"pattern": "min ([0-9.]+) ms", "unit": "ms", "per": "launch"},
            "tokens_per_s": {"pattern": "([0-9.]+) tokens/s", "unit": "1/s"},
        },
    )


def test_numbers_of_a_launch_are_metrics(place: Workplace) -> None:
    program = rate_program(place, "rate", 40)
    finished = place.run(*BENCH, program, "--format", "json")
    assert finished.code == 0, finished
    document = finished.json()
    (row,) = document["cases"]
    assert (row["verdict"], row["timing"]) == ("pass", "not_measured")
    least = row["metrics"]["program:least"]
    assert (least["value"], least["unit"], least["count"]) == (1.5e6, "ns", 3)
    assert row["metrics"]["program:tokens_per_s"]["better"] == "higher"
    assert "steady_ns" not in row["metrics"]
    definitions = {metric["name"]: metric for metric in document["metrics"]}
    assert definitions["program:least"]["title"] == "least"
    table = place.run("report", "latest").out
    assert "least" in table
    assert "1.50" in table
    (line,) = csv.DictReader(io.StringIO(place.run("report", "latest", "--format", "csv").out))
    assert line["program:tokens_per_s [1/s]"] == "40"


def test_numbers_of_a_launch_have_bounds(place: Workplace) -> None:
    program = rate_program(place, "rate", 40)
    require = {"program:least": "<=2ms", "program:tokens_per_s": ">=50", "program:none": "<=1"}
    spec = place.spec(program, engines=["command"], require=require)
    document = json.loads(spec.read_text())
    document["measure"]["launches"] = 3
    spec.write_text(json.dumps(document), encoding="utf-8")
    finished = place.run("run", spec, "--format", "json", "--quiet")
    assert finished.code == 1, finished
    gates = {gate["metric"]: gate for gate in finished.json()["cases"][0]["gates"]}
    assert gates["program:least"]["is_met"]
    assert not gates["program:tokens_per_s"]["is_met"]
    assert gates["program:tokens_per_s"]["text"] == "program:tokens_per_s 40 1/s, required >=50"
    assert "not measured" in gates["program:none"]["text"]


def test_a_higher_rate_is_faster(place: Workplace) -> None:
    a, b = rate_program(place, "a", 40), rate_program(place, "b", 80)
    finished = place.run(
        *("compare", a, b, "--metric", "program:tokens_per_s", "--most-pairs", "10"),
        *("--no-canary", "--format", "json", "--quiet"),
        timeout_s=300,
    )
    comparison = finished.json()
    assert comparison["verdict"] == "faster", comparison
    assert "100 % more tokens_per_s than A" in comparison["text"]
    metrics = {estimate["metric"]: estimate for estimate in comparison["metrics"]}
    assert set(metrics) == {"program:tokens_per_s", "program:least"}
    assert metrics["program:least"]["verdict"] == "equivalent"
    assert finished.code == 0


def test_a_comparison_by_a_time_that_is_not_printed_names_what_is(place: Workplace) -> None:
    a, b = rate_program(place, "a", 40), rate_program(place, "b", 80)
    flags = ("--most-pairs", "10", "--no-canary", "--format", "json", "--quiet")
    finished = place.run("compare", a, b, *flags, timeout_s=300)
    assert finished.code == 6, finished
    text = finished.json()["text"]
    assert "no pair has steady_floor_ns" in text
    assert "program:tokens_per_s: choose one with --metric" in text


def test_operators_of_a_command_are_profiled(place: Workplace) -> None:
    def program(name: str, conv_us: int) -> Path:
        loop = f"echo op conv {conv_us} us; echo op relu 5 us; echo all {conv_us + 10} us"
        return write_program(
            place,
            name,
            f"for i in $(seq {{iterations}}); do {loop}; done",
            time_pattern="all ([0-9.]+) us",
            time_unit="us",
            operator_pattern="op (?<name>[a-z]+) (?<time>[0-9.]+) us",
        )

    a, b = program("a", 20), program("b", 50)
    quick = ("--launches", "1", "--warmup", "1", "--iterations", "4", "--quiet")
    finished = place.run("profile", a, b, *quick, "--format", "json")
    assert finished.code in (0, 6), finished
    difference = finished.json()["difference"]
    rows = {row["name"]: row for row in difference["parts"]}
    assert rows["conv #1"]["difference_ns"] == 30_000
    assert rows["relu #1"]["difference_ns"] == 0
    assert difference["difference_ns"] == 30_000


def test_lines_of_an_observer_are_times_and_operators(place: Workplace) -> None:
    records = [
        {"type": "NET", "metric": "latency", "unit": "us", "value": 20},
        {"type": "conv", "metric": "latency", "unit": "us", "value": 15},
        {"type": "NET", "metric": "memory", "unit": "kB", "value": 3},
    ]
    lines = "; ".join(f"echo 'PyTorchObserver {json.dumps(record)}'" for record in records)
    escaped = lines.replace("{", "{{")
    program = write_program(
        place,
        "observed",
        f"for i in $(seq {{iterations}}); do {escaped}; done",
        observer="PyTorchObserver",
    )
    (row,) = place.run(*BENCH, program, "--format", "json").json()["cases"]
    assert row["metrics"]["steady_ns"]["value"] == 20_000
    assert row["metrics"]["first_ns"]["value"] == 20_000
    assert row["metrics"]["program:net_memory"]["value"] == 3000
    profile = place.run("profile", program, "--iterations", "3", "--format", "json", "--quiet")
    parts = {part["name"]: part for part in profile.json()["cases"][0]["parts"]}
    assert parts["conv"]["time_ns"] == 15_000
    assert parts["outside any operator"]["time_ns"] == 5_000


def test_a_program_of_a_build_names_the_verb_that_makes_one(place: Workplace) -> None:
    program = write_program(place, "built", "{build:bench}", metrics={"x": {"pattern": "(x)"}})
    finished = place.run(*BENCH, program, "--format", "json")
    (row,) = finished.json()["cases"]
    assert row["outcome"] == "load_error"
    assert "assay engine build" in row["text"]
