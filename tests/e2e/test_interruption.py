"""A run that is stopped, or killed, loses nothing that it had finished, and can go on."""

import contextlib
import os
import random
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from driver import Document, Workplace, wait_for_end, wait_until

INTERRUPTED = 130

# Thirty short launches, so that there is always something under way.
SLOW: Document = {"execute_ns": 2_000_000}
ROUNDS: Document = {
    **{"launches": 5, "warmup": 1, "iterations": 4, "time_budget": "2s"},
    "passes": ["timing", "memory"],
}
LAUNCHES = 30


def long_spec(place: Workplace) -> Path:
    """Five cases: five timing launches and one of memory each."""
    return place.spec(*(place.program(f"net{i}", **SLOW) for i in range(5)), measure=ROUNDS)


def assert_each_launch_was_done_once(place: Workplace) -> None:
    assert place.query("select count(*) from launch") == [(LAUNCHES,)]
    assert place.query("select count(distinct attempt || ':' || launch_index) from launch") == [
        (LAUNCHES,)
    ]
    # One attempt for each case and pass: none was begun twice.
    assert place.query("select count(*), sum(is_finished) from attempt") == [(10, 10)]
    assert place.query("pragma integrity_check") == [("ok",)]


def has_launches(place: Workplace, count: int) -> Callable[[], bool]:
    return lambda: len(place.launch_ids()) >= count


def test_ctrl_c_reports_what_was_measured_and_resume_does_the_rest(place: Workplace) -> None:
    process = place.start("run", long_spec(place), "--format", "json")
    wait_until(has_launches(place, 8))
    # As a terminal does: to the whole group, so to whatever Assay started there too.
    os.killpg(process.pid, signal.SIGINT)
    stopped = wait_for_end(process)

    assert stopped.code == INTERRUPTED, stopped
    done = place.launch_ids()
    assert 8 <= len(done) < LAUNCHES
    assert len(stopped.json()["cases"]) == 5
    assert "stopped; resume with: assay run --resume" in stopped.err
    assert place.query("select count(*) from launch where outcome <> 'completed'") == [(0,)]
    assert place.processes() == []

    (run,) = re.findall(r"--resume (\S+)", stopped.err)
    resumed = place.run("run", "--resume", run, "--format", "json")

    assert resumed.code == 0, resumed
    assert {case["outcome"] for case in resumed.json()["cases"]} == {"completed"}
    assert done < place.launch_ids()
    assert_each_launch_was_done_once(place)


def test_sigterm_stops_as_ctrl_c_does(place: Workplace) -> None:
    process = place.start("run", long_spec(place))
    wait_until(has_launches(place, 1))
    process.terminate()
    assert wait_for_end(process).code == INTERRUPTED
    assert place.processes() == []


def test_ctrl_c_while_the_toolchain_starts_is_no_fault_of_it(place: Workplace) -> None:
    started = place.folder / "started"
    script = place.folder / "toolchain.py"
    script.write_text(f"import time\nopen({str(started)!r}, 'w').close()\ntime.sleep(60)\n")
    place.use_script_as_toolchain(script)
    net = place.folder / "net.py"
    net.write_text("def make():\n    pass\n", encoding="utf-8")
    process = place.start("bench", f"{net}:make", "--recipe", "executorch/xnnpack-fp32")
    wait_until(started.exists)
    os.killpg(process.pid, signal.SIGINT)
    stopped = wait_for_end(process)
    assert stopped.code == INTERRUPTED, stopped
    assert "server" not in stopped.err, stopped


def test_second_ctrl_c_ends_it_at_once(place: Workplace) -> None:
    hanging = place.program("hanging", misbehave={"at": "first", "do": "hang"})
    process = place.start("run", place.spec(hanging))
    wait_until(lambda: any("assay-runner-fake" in command for command in place.processes()))
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert wait_for_end(process, timeout_s=10).code == INTERRUPTED
    wait_until(lambda: place.processes() == [])


def test_resuming_a_finished_run_measures_nothing(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    first = place.run("run", spec, "--format", "csv")
    done = place.launch_ids()
    again = place.run("run", "--resume", "latest", "--format", "csv")
    assert again.code == 0, again
    assert "no run is stopped, and the newest run" in again.err, again
    assert again.out == first.out
    assert place.launch_ids() == done


def test_two_resumes_at_once_do_each_launch_once(place: Workplace) -> None:
    programs = (place.program(f"net{i}", execute_ns=10_000_000) for i in range(5))
    process = place.start("run", place.spec(*programs, measure=ROUNDS), "--quiet")
    wait_until(has_launches(place, 6))
    process.kill()
    process.communicate()
    wait_until(lambda: place.processes() == [])
    assert len(place.launch_ids()) < LAUNCHES

    ((run,),) = place.query("select id from run")
    both = [place.start("run", "--resume", run, "--format", "csv") for _ in range(2)]
    finished = [wait_for_end(one) for one in both]

    assert [one.code for one in finished] == [0, 0], finished
    assert finished[0].out == finished[1].out
    assert_each_launch_was_done_once(place)


def test_resume_takes_no_run_from_a_living_process_unless_it_is_named(place: Workplace) -> None:
    programs = (place.program(f"net{i}", execute_ns=10_000_000) for i in range(5))
    process = place.start("run", place.spec(*programs, measure=ROUNDS), "--quiet")
    wait_until(has_launches(place, 2))
    ((run,),) = place.query("select id from run")
    refused = place.run("run", "--resume")
    assert refused.code == 2, refused
    assert f"another process works on run {run}" in refused.err
    assert f"assay run --resume {run}" in refused.err
    assert wait_for_end(process).code == 0
    assert_each_launch_was_done_once(place)


def test_resume_finds_the_files_of_the_spec_from_any_folder(place: Workplace) -> None:
    place.program("net")
    spec = place.spec({"ref": "net.fake.json"})
    assert place.run("run", spec, cwd=Path("/")).code == 0
    resumed = place.run("run", "--resume", "latest", cwd=Path("/"))
    assert resumed.code == 0, resumed
    assert place.query("select count(*) from launch") == [(1,)]


def test_resume_adds_no_cases_that_only_had_left_out(place: Workplace) -> None:
    spec = place.spec(place.program("one"), place.program("two"))
    assert place.run("run", spec, "--only", "two").code == 0
    resumed = place.run("run", "--resume", "latest", "--format", "json")
    assert [case["model"] for case in resumed.json()["cases"]] == ["two.fake"]
    assert place.query("select count(*) from launch") == [(1,)]


def test_run_that_died_while_it_listed_its_cases_resumes_whatever_ran_since(
    place: Workplace,
) -> None:
    assert place.run("run", place.spec(place.program("one"), place.program("two"))).code == 0
    with contextlib.closing(sqlite3.connect(place.store)) as store, store:
        for table in ("sample_block", "launch", "attempt"):
            store.execute(f"delete from {table}")
        store.execute("delete from attachment where kind = 'cases_listed'")
        store.execute("delete from run_case where rowid = (select max(rowid) from run_case)")
        store.execute("update run set finished_unix_ns = 0")
    place.ok("run", place.spec(place.program("later"), name="later"))
    resumed = place.run("run", "--resume", "--format", "json")
    assert resumed.code == 0, resumed
    assert len(resumed.json()["cases"]) == 2
    assert place.query("select count(*) from launch") == [(3,)]


def test_resume_tells_of_files_that_have_changed_since(place: Workplace) -> None:
    changed = place.program("one")
    assert place.run("run", place.spec(changed, place.program("two"))).code == 0
    place.program("one", execute_ns=5)
    with contextlib.closing(sqlite3.connect(place.store)) as store, store:
        store.execute("update run set finished_unix_ns = 0")
    resumed = place.run("run", "--resume", "latest", "--format", "json")
    assert "warning: 1 of the run's 2 cases cannot be resumed: a model file" in resumed.err
    assert len(resumed.json()["cases"]) == 2
    assert place.query("select count(*) from launch") == [(2,)]


@pytest.mark.slow
def test_killed_twenty_times_no_finished_launch_is_lost_or_done_twice(place: Workplace) -> None:
    moments = random.Random(20)
    # Longer launches than elsewhere: all kills are to hit a campaign that is under way.
    programs = (place.program(f"net{i}", execute_ns=10_000_000) for i in range(5))
    spec = place.spec(*programs, measure=ROUNDS)
    seen: set[str] = set()
    hits = 0
    for kill in range(20):
        process = place.start("run", *(["--resume", "latest"] if seen else [spec]), "--quiet")
        hits += kill_unless_done(process, moments.uniform(0.02, 0.2))
        # Processes die with the one that started them.
        wait_until(lambda: place.processes() == [])
        present = place.launch_ids()
        assert seen <= present, f"kill {kill}: lost {seen - present}"
        seen = present
        if not seen:
            place.store.unlink(missing_ok=True)
    assert hits >= 15, "the campaign was over before it was killed"

    finished = place.run("run", *(["--resume", "latest"] if seen else [spec]))

    assert finished.code == 0, finished
    assert seen <= place.launch_ids()
    assert_each_launch_was_done_once(place)


def kill_unless_done(process: subprocess.Popen[str], delay_s: float) -> bool:
    """Tells whether it was still running after the delay, and was killed."""
    try:
        process.communicate(timeout=delay_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    return False
