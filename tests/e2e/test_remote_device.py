"""Devices behind ssh: measured as this machine is, nothing sent twice, failures with advice."""

import hashlib
import json
import os
import shutil
import signal

import pytest
from driver import FAST_MEASURE, Workplace, assert_told, wait_for_end, wait_until
from remote_board import RemoteBoard


@pytest.fixture
def board(place: Workplace) -> RemoteBoard:
    return RemoteBoard(place)


def test_is_added_listed_and_released(place: Workplace, board: RemoteBoard) -> None:
    added = place.ok("device", "add", "ssh:board", "--name", "desk")
    assert "desk  linux-" in added.out
    assert "engine      fake@" in added.out
    assert_told(place.run("device", "add", "ssh:board"), 2, "ssh:board is device 'desk' already")
    listed = json.loads(place.ok("device", "list", "--json").out)["devices"]
    assert [(one["name"], one["reach"]) for one in listed] == [("desk", "ssh:board")]
    assert "desk" in place.ok("list", "devices").out
    assert list(board.storage.glob("assay-agent-*"))

    mine = board.storage / "notes.txt"
    mine.write_text("not Assay's", encoding="utf-8")
    place.ok("device", "release", "desk", "--forget")
    assert [path.name for path in board.storage.iterdir()] == ["notes.txt"]
    assert "no device was added" in place.ok("device", "list").out


def test_runs_a_program_there_and_sends_nothing_twice(place: Workplace, board: RemoteBoard) -> None:
    program = place.program("net", outputs=[{"dtype": "float32", "shape": [1, 4]}])
    once = ["--launches", "2", "--iterations", "4", "--warmup", "1", "--quiet", "--format", "json"]
    first = place.run("bench", program, "--device", "ssh:board", *once)
    assert first.code in (0, 6), first
    report = first.json()
    assert report["run"]["labels"]["device"] == "ssh:board"
    assert place.query("select distinct device from attempt") == [("ssh:board",)]
    assert place.query("select count(*) from launch") == [(3,)], "one for memory, two timed"
    files = board.files()
    assert files

    again = place.run("bench", program, "--device", "ssh:board", *once)
    assert again.code in (0, 6), again
    assert board.files() == files
    here = place.run("bench", program, *once).json()
    assert here["cases"][0]["case_key"] == report["cases"][0]["case_key"], (
        "a device of the same class has the same cases"
    )


@pytest.mark.parametrize(
    "verb", [("calibrate", "--for", "1s"), ("profile",), ("bench", "--launches", "1")]
)
def test_every_verb_launches_on_the_device(
    place: Workplace, board: RemoteBoard, verb: tuple[str, ...]
) -> None:
    program = place.program("net")
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    finished = place.run(verb[0], program, *verb[1:], "--device", "ssh:board", "--quiet")
    assert finished.code in (0, 6), finished
    assert place.query("select distinct outcome from launch") == [("completed",)]
    assert digest in board.files(), "the program was executed somewhere else"


def test_says_what_to_do_when_it_cannot_be_reached(place: Workplace, board: RemoteBoard) -> None:
    program = place.program("net")
    board.fail_with("ssh: connect to host board port 22: Connection refused")
    refused = place.run("bench", program, "--device", "ssh:board")
    assert_told(refused, 3, "device 'ssh:board'", "start its sshd")
    board.fail_with("me@board: Permission denied (publickey).")
    assert_told(place.run("device", "add", "ssh:board"), 3, "ssh-copy-id")
    assert_told(place.run("bench", program, "--device", "pi5"), 2, "assay device add")
    assert_told(place.run("device", "add", "board"), 2, "adb:SERIAL@ssh:HOST")
    assert not place.launch_ids()


def test_goes_on_after_the_agent_was_killed(place: Workplace, board: RemoteBoard) -> None:
    slow = place.program("slow", execute_ns=20_000_000)
    spec = place.spec(slow, devices=["ssh:board"], measure={**FAST_MEASURE, "launches": 12})
    process = place.start("run", spec, "--quiet")
    for _ in range(2):
        before = place.launch_ids()
        wait_until(lambda before=before: len(place.launch_ids()) > len(before) + 1)
        agents = [pid for pid, command in place._processes() if "/assay-agent-" in command]
        assert agents
        os.kill(agents[0], signal.SIGKILL)
    finished = wait_for_end(process)
    assert finished.code in (0, 6), finished
    assert len(place.launch_ids()) == 12
    wait_until(lambda: place.processes() == [])


def test_an_agent_that_ended_while_its_run_waited_is_replaced(
    place: Workplace, board: RemoteBoard
) -> None:
    """An agent that nobody asks for ten minutes ends by itself."""
    slow = place.program("slow", execute_ns=20_000_000)
    spec = place.spec(slow, devices=["ssh:board"], measure={**FAST_MEASURE, "launches": 20})
    first = place.start("run", spec, "--quiet")
    wait_until(lambda: len(place.launch_ids()) > 1)
    agents = {pid for pid, command in place._processes() if "/assay-agent-" in command}
    second = place.start(
        "bench", place.program("net"), "--device", "ssh:board", "--launches", "1", "--warmup", "0"
    )
    assert second.stderr is not None
    while "waiting for the device" not in second.stderr.readline():
        assert second.poll() is None
    for pid, command in place._processes():
        if "/assay-agent-" in command and pid not in agents:
            os.kill(pid, signal.SIGKILL)
    assert wait_for_end(first).code in (0, 6)
    finished = wait_for_end(second)
    assert finished.code in (0, 6), finished


def test_is_used_by_one_command_at_a_time(place: Workplace, board: RemoteBoard) -> None:
    slow = place.program("slow", execute_ns=20_000_000)
    spec = place.spec(slow, devices=["ssh:board"], measure={**FAST_MEASURE, "launches": 20})
    process = place.start("run", spec, "--quiet")
    wait_until(lambda: len(place.launch_ids()) > 1)
    other = place.env["ASSAY_RUNTIME_DIR"]
    place.env["ASSAY_RUNTIME_DIR"] = other + "-of-another-machine"
    both = place.run("bench", place.program("net"), "--device", "ssh:board", "--launches", "1")
    assert both.code in (0, 3, 6), both
    assert wait_for_end(process).code in (0, 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", ["kill_agents", "lose_power", "lose_trees", "damage_blobs", "break_storage"]
)
def test_whatever_breaks_is_no_verdict_about_the_case(
    place: Workplace, board: RemoteBoard, fault: str
) -> None:
    slow = place.program("slow", execute_ns=20_000_000)
    once = ("bench", slow, "--device", "ssh:board", "--launches", "1", "--quiet")
    assert place.run(*once).code in (0, 6)
    spec = place.spec(slow, devices=["ssh:board"], measure={**FAST_MEASURE, "launches": 6})
    before = len(place.launch_ids())
    if fault in ("kill_agents", "lose_power"):
        process = place.start("run", spec, "--quiet")
        wait_until(lambda: len(place.launch_ids()) > before + 1)
        getattr(board, fault)()
    else:
        getattr(board, fault)()
        process = place.start("run", spec, "--quiet")
    finished = wait_for_end(process)
    outcomes = {outcome for (outcome,) in place.query("select outcome from launch")}
    assert outcomes <= {"completed", "harness_error"}, finished
    assert finished.code in ((0, 6) if outcomes == {"completed"} else (1, 3)), finished
    board.heal()
    again = place.run(*once)
    assert again.code in (0, 6), again
    wait_until(lambda: place.processes() == [])
    assert not (board.storage / "settings").exists()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_brings_what_a_command_program_names(place: Workplace, board: RemoteBoard) -> None:
    """The tool counts only where it runs from the board's own files, and so does its data."""
    tool, data = place.folder / "tool", place.folder / "data"
    tool.write_text('#!/bin/sh\ncase "$0$1" in *trees*trees*) cat "$1";; esac\n')
    tool.chmod(0o755)
    data.write_text("at 7 ms\n")
    program = place.folder / "net.command.json"
    document = {
        "argv": ["{place:tool}", "{place:data}"],
        "places": {"tool": {}, "data": {}},
        "metrics": {"told": {"pattern": "at ([0-9]+) ms", "unit": "ms", "per": "launch"}},
    }
    program.write_text(json.dumps(document))
    places = {"tool": str(tool), "data": str(data)}
    program.with_name("net.command.places.json").write_text(json.dumps(places))
    once = ("--launches", "1", "--iterations", "2", "--warmup", "0", "--quiet", "--format", "json")

    told = place.run("bench", program, "--device", "ssh:board", *once)

    assert told.code in (0, 6), told
    (case,) = told.json()["cases"]
    assert case["metrics"]["program:told"]["value"] == 7e6
    assert {sha256(tool.read_bytes()), sha256(data.read_bytes())} <= set(board.files())


def test_runs_a_program_beside_the_measured_one(place: Workplace, board: RemoteBoard) -> None:
    program, other = place.program("net"), place.program("other", execute_ns=1_000_000)
    beside = ("--scenario", f"beside={other}")
    once = ("--launches", "1", "--iterations", "4", "--warmup", "1", "--quiet")

    told = place.run("bench", program, "--device", "ssh:board", *beside, *once)

    assert told.code in (0, 6), told
    timed = "select launch.outcome from launch join attempt on attempt.id = attempt where pass = ?"
    assert place.query(timed, "timing") == [("completed",)]
    assert sha256(other.read_bytes()) in board.files()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind here")
def test_counts_instructions_with_the_valgrind_there(place: Workplace, board: RemoteBoard) -> None:
    program = place.program("net")
    profile = ("profile", program, "--device", "ssh:board", "--callgrind", "--format", "json")
    counted = place.run(*profile, "--quiet")
    assert counted.code == 0, counted
    (case,) = counted.json()["cases"]
    assert case["instructions"]["instructions_per_inference"] > 0, case["instructions"]
    assert not list((board.storage / "tmp").glob("wrapped-*"))

    board.hide("valgrind")
    told = place.run(*profile, "--quiet")
    (case,) = told.json()["cases"]
    assert "apt install valgrind" in case["instructions"]["unavailable"]
