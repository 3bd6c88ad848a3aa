"""Stored runs: stores join, reports come out the same again, gates break builds."""

import re
import shlex
import shutil
import signal
import time
from pathlib import Path

import pytest
from driver import FAST_MEASURE, Workplace, case_of, wait_for_end, wait_until

FORMATS = ["console", "json", "jsonl", "csv", "md", "junit", "html"]

# The one fact that a report tells of its own making, if it does.
MADE_AT = re.compile(r"made \d{4}-[^<\n]*")


@pytest.mark.parametrize("format_name", FORMATS)
def test_report_of_a_stored_run_is_what_the_run_printed(place: Workplace, format_name: str) -> None:
    bad = place.program("bad", misbehave={"at": "steady", "do": "segfault"})
    spec = place.spec(place.program("net"), bad)
    ran = place.run("run", spec, "--format", format_name)
    reported = place.run("report", "--format", format_name)
    assert reported.code == ran.code == 1, reported
    assert MADE_AT.sub("", reported.out) == MADE_AT.sub("", ran.out)
    assert "net" in reported.out


def test_report_files_are_named_by_their_extension(place: Workplace) -> None:
    names = ["r.html", "r.json", "r.jsonl", "r.csv", "r.md", "r.xml"]
    flags = [flag for name in names for flag in ("--report", name)]
    finished = place.run("run", place.spec(place.program("net")), *flags)
    assert finished.code == 0, finished
    begins = {"r.html": "<!doctype html>", "r.json": '{"schema":', "r.xml": "<?xml"}
    for name in names:
        text = (place.folder / name).read_text(encoding="utf-8")
        assert text.lower().startswith(begins.get(name, "")), name
        assert "net.fake" in text, name


def test_answers_go_to_files_named_by_their_extension(place: Workplace) -> None:
    once = ["--launches", "1", "--iterations", "3", "--warmup", "1", "--quiet"]
    files = ["--format", "json", "--report", "p.txt", "--report", "p.md", "--report", "p.json"]
    finished = place.run("profile", place.program("net"), *once, *files)
    assert finished.code == 0, finished
    console = (place.folder / "p.txt").read_text(encoding="utf-8")
    assert finished.json()["cases"][0]["label"] in console
    assert (place.folder / "p.md").read_text(encoding="utf-8") == f"```text\n{console}```\n"
    assert (place.folder / "p.json").read_text(encoding="utf-8") == finished.out
    stored = place.run("profile", "run:latest", "--out", "stored.txt")
    assert (stored.code, stored.out) == (0, "")
    assert (place.folder / "stored.txt").read_text(encoding="utf-8") == console
    refused = place.run("profile", place.program("net"), *once, "--report", "p.html")
    assert refused.code == 2, refused
    assert "use .txt, .json or .md" in refused.err


def test_a_run_is_reported_by_the_beginning_of_its_id(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    ids = [place.run("run", spec, "--format", "json").json()["run"]["id"] for _ in range(2)]
    assert place.report()["run"]["id"] == ids[1]
    assert place.report(ids[0])["run"]["id"] == ids[0]
    assert place.run("report", "01").code == 2


def test_stores_join_and_keep_every_row_once(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    other = place.folder / "other.db"
    first = place.run("run", spec, "--format", "json").json()["run"]["id"]
    second = place.run("run", spec, "--store", other, "--format", "json")
    before = other.read_bytes()

    merged = place.run("merge", other)

    assert merged.code == 0, merged
    assert "rows copied" in merged.out
    assert other.read_bytes() == before
    assert {id_ for (id_,) in place.query("select id from run")} == {
        first,
        second.json()["run"]["id"],
    }
    again = place.run("merge", other)
    assert f"{other}: 0 rows copied" in again.out
    theirs = place.run("report", second.json()["run"]["id"], "--format", "json")
    assert theirs.out == second.out


def test_merging_what_is_no_store_changes_nothing(place: Workplace) -> None:
    assert place.run("run", place.spec(place.program("net"))).code == 0
    notes = place.folder / "notes.db"
    notes.write_text("no database\n" * 100, encoding="utf-8")
    for wrong in (notes, place.folder / "absent.db"):
        finished = place.run("merge", wrong)
        assert finished.code in (2, 3), finished
        assert wrong.name in finished.err
    assert place.query("select count(*) from run") == [(1,)]


def test_dry_run_lists_cases_with_what_they_took(place: Workplace) -> None:
    slow = place.program("slow", execute_ns=20_000_000)
    assert place.run("run", place.spec(slow)).code == 0
    launches = place.query("select count(*) from launch")

    planned = place.run("run", place.spec(slow, place.program("new")), "--dry-run")

    assert planned.code == 0, planned
    lines = planned.out.splitlines()
    assert lines[-1] == "2 cases"
    assert re.search(r"slow\.fake +last time \d+.* ms", lines[0])
    assert re.search(r"new\.fake +never run", lines[1])
    told = place.run("run", place.spec(slow), "--dry-run", "--format", "json").json()
    assert told["schema"] == "assay/plan/1"
    (cell,) = told["cases"]
    assert lines[0].startswith(cell["key"][:12])
    assert cell["last_ns"] > 0
    refused = place.run("run", place.spec(slow), "--dry-run", "--out", place.folder / "plan.json")
    assert refused.code == 2, refused
    assert "leave --out out" in refused.err
    assert place.query("select count(*) from launch") == launches


def test_only_takes_a_part_of_a_label_or_a_key(place: Workplace) -> None:
    spec = place.spec(place.program("one"), place.program("two"), options={"threads": [1, 2]})
    planned = place.run("run", spec, "--dry-run", "--only", "two.fake threads=2")
    assert planned.out.splitlines()[-1] == "1 case", planned
    key = planned.out.split()[0]
    ran = place.run("run", spec, "--only", key, "--format", "json")
    assert [case["case_key"][:12] for case in ran.json()["cases"]] == [key]
    nothing = place.run("run", spec, "--only", "three")
    assert nothing.code == 5, nothing
    assert "no case matched" in nothing.err


@pytest.mark.parametrize(("bound", "code"), [("<1us", 1), ("<10s", 0)])
def test_gate_decides_the_exit_code(place: Workplace, bound: str, code: int) -> None:
    net = place.program("net", execute_ns=200_000)
    measure = {**FAST_MEASURE, "launches": 3}
    spec = place.spec(net, require={"steady_ns": bound}, measure=measure)
    finished = place.run("run", spec, "--format", "json")
    assert finished.code == code, finished
    row = case_of(finished.json(), "net")
    assert row["outcome"] == "completed"
    assert row["verdict"] == ("fail" if code else row["verdict"])
    (gate,) = row["gates"]
    assert (gate["metric"], gate["bound"], gate["is_met"]) == ("steady_ns", bound, code == 0)


def test_a_gate_that_one_launch_cannot_decide_is_no_pass(place: Workplace) -> None:
    net = place.program("net", execute_ns=200_000)
    spec = place.spec(net, require={"steady_ns": "<10s"})
    finished = place.run("run", spec, "--format", "json")
    assert finished.code == 6, finished
    row = case_of(finished.json(), "net")
    assert row["verdict"] == "inconclusive"
    (gate,) = row["gates"]
    assert (gate["is_met"], gate["is_undecided"]) == (False, True)
    console = place.run("report", "latest")
    assert console.code == 6
    assert "gate undecided: steady_ns" in console.out


def test_a_file_replaced_while_it_is_measured_is_not_mixed(place: Workplace) -> None:
    net = place.program("net", execute_ns=20_000_000)
    other = place.program("other", execute_ns=40_000_000)
    spec = place.spec(net, measure={**FAST_MEASURE, "launches": 40})
    process = place.start("run", spec, "--format", "json")
    wait_until(lambda: len(place.launch_ids()) >= 2)
    shutil.move(other, net)
    finished = wait_for_end(process)
    assert finished.code == 1, finished
    row = case_of(finished.json(), "net")
    assert (row["outcome"], row["reason_code"]) == ("harness_error", "program_changed")
    assert "changed while it was measured" in row["text"]
    assert len(place.launch_ids()) < 40


def test_a_device_that_is_not_there_is_refused(place: Workplace) -> None:
    net = place.program("net")
    finished = place.run("run", place.spec(net, devices=["pixel8"]))
    assert finished.code == 2, finished
    assert "no device 'pixel8': none was added yet (assay device add)" in finished.err
    twice = place.run("run", place.spec(net, devices=["local", "local"]))
    assert (twice.code, "duplicate" in twice.err) == (2, True), twice
    assert not place.store.exists() or not place.launch_ids()


def test_bench_takes_a_program_and_a_gate_without_a_spec(place: Workplace) -> None:
    net = place.program("net", execute_ns=200_000)
    quick = ["bench", str(net), "--launches", "1", "--iterations", "3", "--format", "json"]
    assert place.run(*quick).code == 0
    broken = place.run(*quick, "--require", "steady_ns<1us")
    assert broken.code == 1, broken


def test_lists_are_documents_on_request(place: Workplace) -> None:
    for what in ("engines", "models", "recipes", "devices", "metrics", "runs"):
        listed = place.run("list", what, "--json")
        assert listed.code == 0, listed
        assert listed.json()["schema"] == "assay/list/1"
    engines = place.run("list", "engines", "--json").json()["items"]
    assert "fake@1" in [engine["name"] for engine in engines]


def test_engine_that_cannot_describe_itself_is_listed_with_the_reason(place: Workplace) -> None:
    runner = place.folder / "broken"
    runner.write_text("#!/bin/sh\nexit 9\n", encoding="utf-8")
    runner.chmod(0o755)
    place.register("npu", "7", runner)
    listed = place.run("list", "engines")
    assert listed.code == 0, listed
    assert re.search(r"npu@7 +not available: .*failed \(exit code 9\)", listed.out), listed
    assert place.run("run", place.spec(place.program("net"))).code == 0


def test_second_assay_waits_for_the_device_and_then_measures(place: Workplace) -> None:
    hanging = place.program("hanging", misbehave={"at": "first", "do": "hang"})
    first = place.start("run", place.spec(hanging, name="first"), "--launch-timeout", "3s")
    lock = Path(place.env["ASSAY_RUNTIME_DIR"]) / "device-local.lock"
    wait_until(lambda: lock.exists() and lock.read_text() != "")
    second = place.start("run", place.spec(place.program("net"), name="second"))
    told = second.stderr.readline()
    assert f"waiting for the device: process {first.pid}" in told
    assert first.poll() is None
    assert wait_for_end(first).code == 1
    assert wait_for_end(second).code == 0
    assert place.query("select count(*) from run where finished_unix_ns > 0") == [(2,)]


def test_waiting_for_the_device_can_be_interrupted(place: Workplace) -> None:
    hanging = place.program("hanging", misbehave={"at": "first", "do": "hang"})
    first = place.start("run", place.spec(hanging, name="first"))
    second = None
    while second is None:
        lock = Path(place.env["ASSAY_RUNTIME_DIR"]) / "device-local.lock"
        if lock.exists() and lock.read_text():
            second = place.start("run", place.spec(place.program("net"), name="second"))
        time.sleep(0.01)
    assert "waiting for the device" in second.stderr.readline()
    second.send_signal(signal.SIGINT)
    assert wait_for_end(second, timeout_s=10).code == 130
    first.kill()
    first.communicate()


def test_home_can_move(place: Workplace) -> None:
    """Nothing in a store depends on where it lies."""
    assert place.run("run", place.spec(place.program("net"))).code == 0
    before = place.ok("report", "--format", "json").out
    moved = place.folder / "moved.db"
    shutil.copy(place.store, moved)
    assert place.ok("report", "--store", moved, "--format", "json").out == before
    # The next command names the store, so that it can be run as it stands.
    console = place.ok("report", "--store", moved).out
    assert f"--store {moved}" in " ".join(console.split())


def test_a_console_report_ends_with_its_run_and_commands_that_work(place: Workplace) -> None:
    program = place.program("net", execute_ns=1_000_000)
    finished = place.ok("bench", program, "--iterations", "3", "--quiet")
    run, page, full = finished.out.splitlines()[-3:]
    assert run == f"run {place.report()['run']['id']}"
    for command in (page, full):
        place.ok(*shlex.split(command)[1:])
    assert (place.folder / "report.html").stat().st_size > 0
    elsewhere = place.ok("bench", program, "--iterations", "3", "--quiet", "--store", "other.db")
    assert all("--store other.db" in line for line in elsewhere.out.splitlines()[-2:])
