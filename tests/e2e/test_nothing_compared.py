"""No pass without a comparison: what was asked for and cannot be made is refused or left open."""

import json

import pytest
from driver import FAST_MEASURE, Workplace, case_of


@pytest.mark.parametrize("kind", ["float32", "float64", "qdq", "lowered_eager", "file"])
def test_a_reference_that_a_program_cannot_have_is_refused(place: Workplace, kind: str) -> None:
    finished = place.run("eval", place.program("net"), "--engine", "fake", "--against", kind)
    assert finished.code == 2, finished
    assert f'"{kind}"' in finished.err
    assert "--against engine:NAME" in finished.err or kind == "file"
    assert not place.launch_ids()


def test_an_evaluation_without_any_reference_is_refused(place: Workplace) -> None:
    finished = place.run("eval", place.program("net"), "--engine", "fake")
    assert finished.code == 2, finished
    assert "nothing can be evaluated" in finished.err


def test_a_command_program_without_a_reference_is_refused(place: Workplace) -> None:
    program = place.folder / "echo.command.json"
    program.write_text(json.dumps({"command": ["true"]}), encoding="utf-8")
    assert place.run("eval", program).code == 2
    assert place.run("eval", program, "--against", "float32").code == 2


def test_a_case_that_is_timed_and_compared_with_nothing_is_inconclusive(place: Workplace) -> None:
    measure = {**FAST_MEASURE, "passes": ["timing", "evaluate"], "launches": 3}
    spec = place.spec(place.program("net"), measure=measure)
    finished = place.run("run", spec, "--format", "json")
    assert finished.code == 6, finished
    row = case_of(finished.json(), "net")
    assert (row["accuracy"], row["verdict"]) == ("not_checked", "inconclusive")
    (table,) = row["accuracy_tables"]
    assert table["accuracy"] == "not_checked"
    assert "nothing was compared" in table["reason"]
    for format_name in ("console", "md", "junit", "csv", "html"):
        report = place.run("report", "latest", "--format", format_name)
        assert report.code == 6, report
        assert "nothing was compared" in report.out or format_name == "csv", format_name


def test_what_is_only_timed_passes(place: Workplace) -> None:
    quick = ["--launches", "3", "--iterations", "4", "--warmup", "1", "--format", "json"]
    finished = place.run("bench", place.program("net"), "--engine", "fake", *quick)
    assert finished.code == 0, finished
