"""A watcher finds the commits of a repository that changed something, and loses nothing."""

import json
import os
import signal
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
from driver import Workplace, wait_for_end, wait_until
from toy_repository import (
    BENCH,
    PROGRAM,
    SPEC,
    Source,
    incidents,
    launches,
    points,
    repository_file,
    seen_launches,
    watch,
)


@pytest.fixture
def source(place: Workplace) -> Source:
    return Source(place)


def test_finds_the_commit_and_its_operator(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    source.commit_docs(4)
    culprit = source.commit("conv: simplify", conv=112)
    source.commit_docs(3)
    watched = watch(place)
    assert watched.out.splitlines()[-1] == "9 commits measured; 1 incident confirmed"
    found = incidents(place)
    assert [(one["state"], one["culprit"]) for one in found] == [("confirmed", culprit)]
    explained = found[0]["attribution"]
    percent = float(explained["title"].split()[-2])
    assert percent / 100 == pytest.approx(explained["effect"]["ratio"], rel=0.01)
    assert explained["operators"][0]["name"].startswith("conv")
    assert explained["operators"][0]["share"] > 0.9
    assert explained["files"] == ["bench"]
    assert 0.05 < explained["effect"]["ratio"] < 0.07

    status = place.run("watch", "toy.json", "--status")
    assert "conv: simplify" in status.out
    assert "9 commits: 9 measured, 0 failed" in status.out

    before = launches(place)
    watch(place)
    assert launches(place) == before, "nothing is left to do"

    told = place.ok("history", "toy.json", "--explain", culprit).out
    assert "confirmed: +" in told
    assert "conv" in told
    assert "shown by assay watch" in told
    assert "newest:" not in place.ok("history", "toy.json").out, "it says what is confirmed"
    known = place.ok("bisect", "toy.json", f"{source.hashes[0]}..HEAD")
    assert f"commit     {culprit[:12]}" in known.out
    assert "--again" in known.out
    assert launches(place) == before, "its commit is known"
    assert len(incidents(place)) == 1


@pytest.mark.slow
def test_an_improvement_closes_what_it_fixes(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    worse = source.commit("conv: simplify", conv=112)
    fix = source.commit("conv: unroll", conv=100.01)
    watch(place)
    states = {one["culprit"]: one["state"] for one in incidents(place)}
    assert states == {worse: "fixed", fix: "confirmed"}


@pytest.mark.slow
def test_each_reference_is_joined_with_equal_rounds(place: Workplace, source: Source) -> None:
    for week in range(6):
        source.commit(
            f"conv: part {week}",
            100 + week / 10,
            date=f"2026-{1 + week // 4:02}-{1 + week % 4 * 7:02}T12:00:00Z",
        )
    watch(place)
    with sqlite3.connect(place.store) as store:
        rounds = store.execute("SELECT count(*) FROM launch GROUP BY attempt").fetchall()
    assert max(rounds)[0] <= 4 * 3, "rounds are not multiplied from week to week"


@pytest.mark.slow
def test_a_commit_without_effect_is_no_incident(place: Workplace, source: Source) -> None:
    for i in range(12):
        source.commit(f"conv: explain, part {i}", conv=100 + i * 1e-4)
    watch(place)
    assert [one for one in incidents(place) if one["state"] != "rejected"] == []


def test_a_failed_build_and_a_crash_are_results(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    broken = source.commit("Break the build", text="#!/bin/false\n")
    crashing = source.commit("Break the benchmark", crashes=True)
    watch(place)
    status = place.run("watch", "toy.json", "--status").out
    assert f"failed       {broken[:12]}  Break the build" in status
    assert "3 commits: 2 measured, 1 failed" in status
    (found,) = incidents(place)
    assert (found["metric"], found["state"]) == ("fails", "confirmed")
    assert found["bad"] == crashing


def test_tells_each_incident_once(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    culprit = source.commit("conv: simplify", conv=112)
    hook = place.folder / "hook"
    hook.write_text(f"#!/bin/sh\ncat >> {place.folder}/told\n[ -e {place.folder}/works ]\n")
    hook.chmod(0o755)
    document = repository_file()
    document["notify"] = [{"argv": [str(hook)], "on": ["confirmed"]}]
    (place.folder / "toy.json").write_text(json.dumps(document))
    first = watch(place)
    assert "ended with 1" in first.err, "the hook failed"
    (place.folder / "works").touch()
    (place.folder / "told").unlink()
    watch(place, "--events", "events.jsonl")
    watch(place)
    messages = (place.folder / "told").read_text().splitlines()
    assert len(messages) == 1, "it is told again after a failure, and then no more"
    assert json.loads(messages[0])["culprit"] == culprit


@pytest.mark.slow
def test_a_kill_loses_and_doubles_nothing(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    for i in range(1, 6):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    culprit = source.commit("conv: simplify", conv=112)
    for kills in range(4):
        kill_after(place, least_launches=4 * kills + 2)
    watch(place)
    keys = [(series, revision) for series, revision, _ in points(place)]
    assert max(Counter(keys).values()) <= 2, "two looks at each build, and no more"
    runs = "SELECT count(*) FROM run WHERE purpose = 'watch'"
    of_points = "SELECT count(DISTINCT run) FROM point"
    assert place.query(runs) == place.query(of_points), "every run gave its points"
    assert [one["culprit"] for one in incidents(place) if one["state"] == "confirmed"] == [culprit]


def kill_after(place: Workplace, least_launches: int) -> None:
    """Kills a watcher with all its processes once so many launches are stored, or it has ended."""
    process = place.start("watch", "toy.json", "--once", "-q")
    wait_until(lambda: process.poll() is not None or seen_launches(place) > least_launches)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_checks_one_change(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    source.commit("relu: explain", conv=100.001)
    source.commit("conv: simplify", conv=112)
    worse = place.run("watch", "toy.json", "--base", "HEAD~1", "--head", "HEAD", "--format", "md")
    assert worse.code == 1, worse
    assert "makes something worse" in worse.out
    same = place.run("watch", "toy.json", "--base", "HEAD~2", "--head", "HEAD~1")
    assert same.code == 0, same
    equal = place.run("watch", "toy.json", "--base", "HEAD", "--head", "HEAD", "--format", "json")
    assert equal.json()["verdict"] == "same"


@pytest.mark.slow
def test_bisects_a_range(place: Workplace, source: Source) -> None:
    document = repository_file(count_instructions=True)
    (place.folder / "toy.json").write_text(json.dumps(document))
    source.commit("Add a benchmark")
    for i in range(1, 8):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    culprit = source.commit("conv: simplify", conv=112)
    for i in range(1, 8):
        source.commit(f"relu: more {i}", conv=112 + i * 1e-3)
    found = place.run("bisect", "toy.json", f"{source.hashes[0]}..HEAD")
    assert found.code == 0, found
    assert f"commit     {culprit[:12]}  conv: simplify" in found.out
    (incident,) = incidents(place)
    counted = incident["attribution"]["instructions"]
    # The toy prints its times and does the same work at each commit.
    assert counted["before"] == pytest.approx(counted["after"], rel=0.01)
    assert counted["functions"] == []
    none = place.run("bisect", "toy.json", f"{culprit}..HEAD")
    assert none.code == 6, none
    wrong = place.run("bisect", "toy.json", "HEAD")
    assert wrong.code == 2
    assert "GOOD..BAD" in wrong.err


@pytest.mark.slow
def test_bisects_a_number_that_only_the_program_tells(place: Workplace, source: Source) -> None:
    number = {"pattern": PROGRAM["time_pattern"], "unit": "us", "take": "min"}
    program = {**PROGRAM, "metrics": {"least": number}}
    del program["time_pattern"]
    (place.folder / "bench.command.json").write_text(json.dumps(program))
    source.commit("Add a benchmark")
    for i in range(1, 4):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    culprit = source.commit("conv: simplify", conv=112)
    source.commit("relu: more", conv=112 + 1e-3)
    ends = f"{source.hashes[0]}..HEAD"
    found = place.run("bisect", "toy.json", ends, "--metric", "program:least")
    assert found.code == 0, found
    assert f"commit     {culprit[:12]}  conv: simplify" in found.out
    assert "program:least" in found.out
    (incident,) = incidents(place)
    assert incident["attribution"]["operators"][0]["name"].startswith("conv")


@pytest.mark.slow
def test_bisects_two_culprits_with_their_shares(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    for i in range(1, 5):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    smaller = source.commit("conv: simplify", conv=108)
    for i in range(1, 5):
        source.commit(f"relu: more {i}", conv=108 + i * 1e-3)
    larger = source.commit("conv: check bounds", conv=124)
    source.commit("relu: end", conv=124.001)
    found = place.run("bisect", "toy.json", f"{source.hashes[0]}..HEAD")
    assert found.code == 0, found
    assert "the search takes about" in found.err
    assert f"commit     {larger[:12]}  conv: check bounds" in found.out
    parts = [line.split() for line in found.out.splitlines() if line.startswith("  part ")]
    assert [part[1] for part in parts] == [larger[:12], smaller[:12]]
    shares = [int(part[part.index("%") - 1]) for part in parts]
    assert 58 < shares[0] < 70
    assert 30 < shares[1] < 42


@pytest.mark.slow
def test_bisects_states_of_one_commit(place: Workplace, source: Source) -> None:
    with_state = BENCH.format(base="100 + CONV", conv="CONV", exit_code=0)
    source.commit("Add a benchmark", text=with_state)
    source.commit("conv: simplify", text=BENCH.format(base=400, conv=200, exit_code=0))
    document = repository_file()
    document["environments"]["default"]["build"] = [
        ["cp", "{source}/bench", "{work}/bench"],
        ["sed", "-i", "s/CONV/{state}/g", "{work}/bench"],
    ]
    document["states"] = {"O3": "100", "O2": "100.001", "O1": "112", "O0": "112.001"}
    (place.folder / "toy.json").write_text(json.dumps(document))
    found = place.run("bisect", "toy.json", "O3..O0", "--at", "HEAD~1")
    assert found.code == 0, found
    assert "3 states after O3" in found.out
    assert "state      O1  112\n" in found.out
    none = place.run("bisect", "toy.json", "O3..O7", "--at", "HEAD~1")
    assert "no state 'O7'" in none.err


def test_resumes_the_latest_search(place: Workplace, source: Source) -> None:
    nothing = place.run("bisect", "toy.json", "--resume", "latest")
    assert nothing.code != 0
    source.commit("Add a benchmark")
    source.commit("Break the build", text="#!/bin/false\n")
    source.commit("conv: crash", crashes=True)
    first = place.run("bisect", "toy.json", f"{source.hashes[0]}..HEAD", "--metric", "fails")
    assert first.code == 6, first
    assert first.out.count("suspect") == 2
    resumed = place.run("bisect", "toy.json", "--resume", "latest")
    assert resumed.code == 6, resumed
    assert resumed.out.splitlines()[1:] == first.out.splitlines()[1:]
    missing = place.run("bisect", "toy.json", "--resume", "0000")
    assert missing.code == 2
    assert "no search to go on with" in missing.err


def test_bisects_a_crash_with_one_launch_a_commit(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    for i in range(1, 6):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    culprit = source.commit("conv: crash", conv=101, crashes=True)
    for i in range(1, 6):
        source.commit(f"relu: more {i}", conv=101 + i * 1e-3, crashes=True)
    found = place.run("bisect", "toy.json", f"{source.hashes[0]}..HEAD", "--metric", "fails")
    assert found.code == 0, found
    assert f"commit     {culprit[:12]}  conv: crash" in found.out


def test_shows_the_history(place: Workplace, source: Source) -> None:
    none = place.run("history", "toy.json")
    assert none.code != 0
    source.commit("Add a benchmark")
    source.commit("conv: simplify", conv=112)
    watch(place)
    shown = place.run("history", "toy.json", "--metric", "steady_floor_ns")
    assert shown.code == 0, shown
    assert "bench.command" in shown.out
    page = place.run("history", "toy.json", "--out", "page.html", "--format", "html")
    assert page.code == 0, page
    assert source.hashes[1] in (Path(place.folder) / "page.html").read_text()


def test_only_one_watches(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    process = place.start("watch", "toy.json", "-q")
    try:
        wait_until(lambda: seen_launches(place) > 0)
        second = place.run("watch", "toy.json", "--once")
        assert second.code == 3, second
        assert "another process watches" in second.err
        assert place.run("watch", "toy.json", "--stop").code == 0
        assert wait_for_end(process).code == 0
    finally:
        process.kill()


@pytest.mark.slow
def test_a_person_accepts_what_is_known(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    source.commit("conv: simplify", conv=112)
    watch(place)
    (found,) = incidents(place)
    assert f"id         {found['id']}" in place.run("watch", "toy.json", "--status").out

    wrong = place.run("watch", "toy.json", "--accept", "ffff")
    assert wrong.code == 2, wrong
    assert f"{found['id']}  confirmed" in wrong.err, "it lists the open ones"
    known = place.ok("watch", "toy.json", "--acknowledge", found["id"][:8])
    assert "acknowledged, was confirmed" in known.out
    place.ok("watch", "toy.json", "--accept", found["id"], "--note", "needed for safety")
    assert "needed for safety" in place.run("watch", "toy.json", "--status").out

    fix = source.commit("conv: unroll", conv=100.01)
    watch(place)
    states = {one["culprit"]: one["state"] for one in incidents(place)}
    assert states == {found["culprit"]: "accepted", fix: "confirmed"}, "it is not fixed"
    again = place.run("watch", "toy.json", "--accept", "ffff")
    assert found["id"] not in again.err, "it is no longer open"


def test_a_broken_build_is_an_incident_until_it_builds(place: Workplace, source: Source) -> None:
    source.commit("Add a benchmark")
    broken = source.commit("Break the build", text="#!/bin/false\n")
    for i in range(2):
        source.commit(f"Still broken {i}", text=f"#!/bin/false\n# {i}\n")
    watch(place)
    watch(place)
    (found,) = incidents(place)
    assert (found["kind"], found["state"], found["culprit"]) == (
        "broken_build",
        "confirmed",
        broken,
    )
    status = place.run("watch", "toy.json", "--status").out
    assert f"commit     {broken[:12]}  Break the build" in status
    mended = source.commit("Mend it", conv=100.001)
    watch(place)
    (found,) = incidents(place)
    assert (found["state"], found["attribution"]["fixed_by"]) == ("fixed", mended)


def test_watches_a_part(place: Workplace, source: Source) -> None:
    (place.folder / "other.command.json").write_text(json.dumps(PROGRAM))
    models = ["bench.command.json", "other.command.json"]
    (place.folder / "bench.spec.json").write_text(json.dumps(SPEC | {"models": models}))
    for i in range(4):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    watch(place, "--since", source.hashes[1], "--only", "other")
    measured = {revision for _, revision, _ in points(place)}
    assert measured == set(source.hashes[2:])
    assert {label for (label,) in labels_of_series(place)} == {"other.command"}

    status = place.run("watch", "toy.json", "--status").out
    assert "0 measured, 0 failed, 4 not looked at" in status, (
        "the other case is still to be measured"
    )
    assert "2 measured" in place.run("watch", "toy.json", "--status", "--only", "other").out
    watch(place)
    assert {revision for _, revision, _ in points(place)} == set(source.hashes)
    assert {label for (label,) in labels_of_series(place)} == {"bench.command", "other.command"}

    wrong = place.run("watch", "toy.json", "--dry-run", "--only", "othr.command")
    assert wrong.code == 2, wrong
    assert "did you mean 'other.command'?" in wrong.err
    wrong = place.run("watch", "toy.json", "--dry-run", "--since", "mian")
    assert wrong.code == 2, wrong
    assert "did you mean 'main'?" in wrong.err


def labels_of_series(place: Workplace) -> list[tuple[str]]:
    return place.query("SELECT DISTINCT json_extract(document, '$.label') FROM series")


def test_foresees_the_time_of_each_step(place: Workplace, source: Source) -> None:
    for i in range(3):
        source.commit(f"relu: part {i}", conv=100 + i * 1e-3)
    unknown = place.ok("watch", "toy.json", "--dry-run").out
    assert "so their time is not known" in unknown
    assert len([line for line in unknown.splitlines() if " ? " in line]) == 3
    watch(place)
    source.commit("relu: part 3", conv=100.01)
    known = place.ok("watch", "toy.json", "--dry-run").out
    assert "about <0.1 minutes" in known
    assert " ? " not in known
