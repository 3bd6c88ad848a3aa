"""assay compare: two sides, pairs of fresh launches, an answer that can be recomputed."""

import json
import shutil
import signal

import pytest
from driver import BIN, Workplace, wait_for_end, wait_until

QUICK = ["--most-pairs", "10", "--iterations", "3", "--warmup", "1", "--quiet", "--format", "json"]
MILLISECOND = 1_000_000


def test_twice_the_time_is_slower_and_confirmed_on_fresh_pairs(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", execute_ns=2 * MILLISECOND)
    result = place.run("compare", a, b, *QUICK)
    answer = result.json()
    assert (result.code, answer["verdict"]) == (1, "slower"), result
    assert answer["is_confirmed"]
    assert 0.8 < answer["metrics"][0]["ratio"] < 1.2
    assert "B takes " in answer["text"]
    assert "more time than A" in answer["text"]
    assert (answer["looks"][0]["pairs"], answer["confirmation"]["pairs"]) == (10, 20)


def test_half_the_time_is_faster_and_no_finding(place: Workplace) -> None:
    a = place.program("old", execute_ns=2 * MILLISECOND)
    b = place.program("new", execute_ns=MILLISECOND)
    result = place.run("compare", a, b, *QUICK)
    assert (result.code, result.json()["verdict"]) == (0, "faster"), result


def test_commands_with_files_beside_them_are_compared(place: Workplace) -> None:
    for name, ms in (("old", 10), ("new", 20)):
        script = place.folder / f"{name}.sh"
        script.write_text(f"#!/bin/sh\necho inference {ms}.$(($$ % 9)) ms\n")
        script.chmod(0o755)
        program = {
            "argv": [f"./{name}.sh"],
            "inputs": [],
            "outputs": [],
            "metrics": {"time": {"pattern": "inference ([0-9.]+) ms", "unit": "ms"}},
        }
        (place.folder / f"{name}.command.json").write_text(json.dumps(program))
    sides = [place.folder / f"{name}.command.json" for name in ("old", "new")]
    result = place.run("compare", *sides, "--metric", "program:time", *QUICK)
    assert (result.code, result.json()["verdict"]) == (1, "slower"), result


def test_a_program_does_not_differ_from_its_copy(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", execute_ns=MILLISECOND)
    result = place.run("compare", a, b, *QUICK, "--measure-identical")
    # A busy machine may leave it open; a difference it must not find.
    assert result.json()["verdict"] in {"equivalent", "changed_less", "inconclusive"}, result
    assert result.code in {0, 6}


def test_files_of_one_content_are_identical_and_nothing_is_launched(place: Workplace) -> None:
    """The ordinary case in CI: nothing has changed, and the files may be called alike."""
    old = place.program("net", execute_ns=MILLISECOND)
    folder = place.folder / "new"
    folder.mkdir()
    for new in (folder / old.name, folder / "other.fake.json"):
        shutil.copy(old, new)
        result = place.run("compare", old, new, *QUICK)
        answer = result.json()
        assert (result.code, answer["verdict"]) == (0, "identical"), result
        assert "identical files" in answer["text"]
        assert answer["a_label"] != answer["b_label"]
        assert not place.launch_ids()
    told = place.run("compare", old, folder / old.name)
    assert (told.code, "pairs" in told.out) == (0, False), told
    measured = place.run("compare", old, folder / old.name, *QUICK, "--measure-identical")
    assert measured.json()["verdict"] in {"equivalent", "changed_less", "inconclusive"}, measured
    assert len(place.launch_ids()) >= 20, "ten pairs are the first look"
    assert place.run("report", "latest", "--format", "json").code in (0, 6)


@pytest.mark.slow
def test_sides_of_one_name_are_told_apart(place: Workplace) -> None:
    sides = []
    for name, nanoseconds in (("fp32", MILLISECOND), ("int8", 2 * MILLISECOND)):
        (place.folder / name).mkdir()
        program = place.program(f"{name}/program", execute_ns=nanoseconds)
        sides.append(program)
    result = place.run("compare", *sides, *QUICK)
    answer = result.json()
    assert answer["a_label"].split()[0] == "fp32/program.fake", result
    assert answer["b_label"].split()[0] == "int8/program.fake", result
    for format_name in ("console", "md", "csv", "junit", "html", "jsonl"):
        report = place.run("report", "latest", "--format", format_name).out
        assert "fp32/program.fake" in report, format_name
        assert "int8/program.fake" in report, format_name


def test_every_launch_is_stored_with_its_place(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", execute_ns=2 * MILLISECOND)
    answer = place.run("compare", a, b, *QUICK).json()
    rows = place.query("select comparison, block, pair, side from launch order by run_order")
    assert {comparison for comparison, *_ in rows} == {answer["id"]}
    blocks: dict[int, str] = {}
    for _, block, pair, side in rows:
        assert pair // 2 == block
        blocks[block] = blocks.get(block, "") + side[0]
    # Pairs are launched in blocks of two; a disturbed one may be replaced by another.
    pairs = 2 * len(blocks) - len(answer["replaced_pairs"])
    assert 10 + 20 <= pairs <= 10 + 20 + 2
    assert set(blocks.values()) <= {"cabba", "abbac", "bacab"}
    assert place.query("select count(*) from comparison where verdict = 'slower'") == [(1,)]


def test_without_canary_a_block_is_four_launches(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", execute_ns=2 * MILLISECOND)
    answer = place.run("compare", a, b, *QUICK, "--no-canary").json()
    assert answer["canary"] is None
    (launches,) = place.query("select count(*) from launch")[0]
    assert launches % 4 == 0
    assert 60 <= launches - 2 * len(answer["replaced_pairs"]) <= 64


def test_a_side_that_crashes_leaves_no_answer(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", misbehave={"at": "steady", "do": "segfault"})
    result = place.run("compare", a, b, *QUICK)
    assert result.code == 6
    assert result.json()["text"].startswith("B (new.fake")
    assert "SIGSEGV" in result.json()["text"]


def test_one_model_and_two_of_an_axis_are_two_sides(place: Workplace) -> None:
    program = place.program("one", execute_ns=MILLISECOND)
    result = place.run("compare", program, "--threads", "1,2", "--dry-run")
    assert result.code == 0, result
    assert "threads=1" in result.out.splitlines()[0]
    assert "threads=2" in result.out.splitlines()[1]


def test_more_or_fewer_than_two_sides_are_refused(place: Workplace) -> None:
    program = place.program("one")
    alone = place.run("compare", program)
    assert alone.code == 2
    assert "a comparison needs two sides, but this command names 1" in alone.err
    three = place.run("compare", program, "--threads", "1,2,3")
    assert three.code == 2
    assert "this command names 3" in three.err
    wrong = place.run("compare", program, program, "--metric", "speed")
    assert wrong.code == 2
    assert "one of steady_floor_ns" in wrong.err


def test_budget_ends_the_pairs_and_still_answers(place: Workplace) -> None:
    a = place.program("old", execute_ns=20 * MILLISECOND)
    b = place.program("new", execute_ns=20 * MILLISECOND)
    options = ["--iterations", "3", "--warmup", "1", "--quiet", "--format", "json"]
    result = place.run(*("compare", a, b, *options, "--budget", "10ms", "--measure-identical"))
    answer = result.json()
    assert 6 <= answer["metrics"][0]["pairs"] < 10
    assert answer["text"]


def test_two_builds_of_an_engine_are_two_sides(place: Workplace) -> None:
    """As for a library before and after a change: one program, two runners."""
    program = place.program("net", execute_ns=MILLISECOND)
    runner = shutil.copy(BIN / "assay-runner-fake", place.folder / "assay-runner-fake")
    registry = place.home / "engines" / "engines.json"
    registry.parent.mkdir(parents=True, exist_ok=True)
    build = {"name": "fake", "label": "mine", "runner": str(runner), "build_id": "another"}
    registry.write_text(json.dumps({"schema": "assay/engines/1", "builds": [build]}))
    result = place.run("compare", program, "--engine", "fake@1,fake@mine", *QUICK)
    answer = result.json()
    assert answer["verdict"] in ("equivalent", "changed_less", "inconclusive"), result
    assert answer["a_case"] == answer["b_case"], "one case, two subjects"
    assert "fake@1" in answer["a_label"]
    assert "fake@mine" in answer["b_label"]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_comparison_goes_on_where_it_was(place: Workplace, how: signal.Signals) -> None:
    a = place.program("old", execute_ns=5 * MILLISECOND)
    # Far enough from it for ten pairs on a machine that is busy with other tests.
    b = place.program("new", execute_ns=40 * MILLISECOND)
    process = place.start("compare", a, b, *QUICK)
    wait_until(lambda: len(place.launch_ids()) >= 12)
    process.send_signal(how)
    stopped = wait_for_end(process)
    if how == signal.SIGINT:
        assert stopped.code == 130, stopped
        assert "assay compare --resume" in stopped.err
    before = place.launch_ids()

    result = place.run("compare", "--resume", "latest", "--quiet", "--format", "json")

    answer = result.json()
    assert (result.code, answer["verdict"]) == (1, "slower"), result
    assert before < place.launch_ids()
    assert answer["plan"]["looks"] == [10], "the plan is the one that it began with"
    assert place.query("select count(*) from comparison") == [(1,)]
    assert (
        place.query("select count(distinct run_order), count(*) from launch")[0][0]
        == (place.query("select count(*) from launch")[0][0])
    )
    again = place.run("compare", "--resume", "latest")
    assert again.code == 2
    assert "is already finished: B takes " in again.err


@pytest.mark.slow
def test_a_duet_must_earn_its_place_in_a_pilot(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", execute_ns=2 * MILLISECOND)
    result = place.run("compare", a, b, *QUICK, "--threads", "1", "--duet")
    answer = result.json()
    pilot = answer["pilot"]
    assert answer["verdict"] == "slower", result
    costs = {
        mode: pilot[f"{mode}_sigma"] * pilot[f"{mode}_pair_ns"] ** 0.5
        for mode in ("interleaved", "duet")
    }
    assert answer["pairing"] == ("duet" if costs["duet"] < costs["interleaved"] else "interleaved")
    # Twenty pairs of the pilot in addition to those of the answer, half of them at once.
    assert place.query("select count(*) from launch where pair < 20") == [(40,)]


def test_a_duet_without_cores_of_its_own_is_refused(place: Workplace) -> None:
    program = place.program("one")
    other = place.program("two", execute_ns=MILLISECOND)
    result = place.run("compare", program, other, "--duet")
    assert result.code == 2
    assert "pass --threads" in result.err


@pytest.mark.slow
def test_iterations_follow_the_spread_of_the_first_pairs(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND // 4)
    b = place.program("new", execute_ns=MILLISECOND // 2)
    options = ["--most-pairs", "10", "--iterations", "auto", "--quiet", "--format", "json"]
    answer = place.run("compare", a, b, *options).json()
    assert 20 <= answer["iterations"] <= 200
    assert answer["plan"]["adapts_iterations"]


def test_a_report_shows_the_comparison_of_its_run(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", execute_ns=2 * MILLISECOND)
    answer = place.run("compare", a, b, *QUICK).json()
    (shown,) = place.report()["comparisons"]
    assert shown["comparison"]["text"] == answer["text"]
    assert len(shown["pairs"]) >= 30
    assert all(pair["b"] > 1.5 * pair["a"] for pair in shown["pairs"] if not pair["is_disturbed"])
    console = place.run("report", "latest")
    assert f"Comparison: {answer['text'][:40]}" in console.out
