"""No file, no stream and no limit of the system ends the tool without a word that helps."""

import json
import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import BIN, Document, Finished, Workplace, case_of, wait_for_end, wait_until

USAGE, UNAVAILABLE, INTERRUPTED = 2, 3, 130
NOBODY = 65534
ESCAPE = "\x1b"


def assert_told(finished: Finished, code: int, *parts: str) -> None:
    """It ended with the code and said all the parts on stderr."""
    assert finished.code == code, finished
    for part in parts:
        assert part in finished.err, finished


# ---- files


def test_spec_that_is_nested_without_end(place: Workplace) -> None:
    spec = place.folder / "deep.json"
    for opening in ("[", '{"models":'):
        spec.write_text(opening * 100_000, encoding="utf-8")
        assert_told(place.run("run", spec), USAGE, "nested deeper than 64 levels")
    spec.write_text(
        '{"schema": "assay/spec/1", "models": [{"ref": "x", "args": ' + "[" * 100_000,
        encoding="utf-8",
    )
    assert_told(place.run("run", spec), USAGE, str(spec), "line 1", "nested deeper")


def test_spec_that_is_no_regular_file_or_too_large(place: Workplace) -> None:
    pipe = place.folder / "pipe.json"
    os.mkfifo(pipe)
    assert_told(place.run("run", pipe), USAGE, "is a pipe, but a regular file is needed")
    assert_told(place.run("run", "/dev/zero"), USAGE, "is a device")
    large = place.folder / "large.json"
    with large.open("wb") as file:
        file.truncate(65 << 20)
    assert_told(place.run("run", large), USAGE, "is larger than the limit of 67.1 MB")


def test_spec_that_has_a_key_twice(place: Workplace) -> None:
    spec = place.folder / "twice.json"
    spec.write_text(
        '{"schema": "assay/spec/1",\n "seed": 1,\n "seed": 2,\n "models": []}', encoding="utf-8"
    )
    assert_told(place.run("run", spec), USAGE, "duplicate key 'seed' in lines 2 and 3")


@pytest.mark.parametrize("text", ["-1", "16EB", "0", "1e30B", "nan", "500"])
def test_memory_limit_that_no_machine_has(place: Workplace, text: str) -> None:
    spec = place.spec(place.program("net"))
    assert_told(place.run("run", spec, f"--memory-limit={text}"), USAGE, "--memory-limit", "size")


@pytest.mark.parametrize("text", ["2562048h", "1e300s", "infs", "nans"])
def test_time_budget_that_nobody_waits_for(place: Workplace, text: str) -> None:
    spec = place.spec(place.program("net"), measure={"time_budget": text})
    assert_told(place.run("run", spec), USAGE, "time_budget", "from 0s to 8760h")


# ---- streams


def test_reader_that_goes_away_ends_no_campaign(place: Workplace) -> None:
    spec = place.spec(*(place.program(f"net{i}") for i in range(4)))
    process = subprocess.Popen(
        [BIN / "assay", "run", spec],
        env=place.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    process.stdout.close()
    assert process.wait(timeout=120) == 0
    whole = place.ok("report", "--format", "json").json()
    assert [one["outcome"] for one in whole["cases"]] == ["completed"] * 4


@pytest.mark.parametrize("words", [["list", "engines"], ["--help"], ["bench", "--help"]])
def test_full_disk_behind_stdout_is_told(place: Workplace, words: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        finished = subprocess.run(
            [BIN / "assay", *words],
            env=place.env,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert finished.returncode == UNAVAILABLE
    assert "cannot write to stdout: No space left on device" in finished.stderr


def test_hangup_reports_what_was_measured(place: Workplace) -> None:
    rounds: Document = {"launches": 25, "warmup": 1, "iterations": 4, "time_budget": "2s"}
    programs = [place.program(f"net{i}", execute_ns=20_000_000) for i in range(5)]
    spec = place.spec(*programs, measure=rounds | {"passes": ["timing"]})
    process = place.start("run", spec, "--format", "json")
    wait_until(lambda: len(place.launch_ids()) >= 3)
    os.kill(process.pid, signal.SIGHUP)
    stopped = wait_for_end(process)
    assert stopped.code == INTERRUPTED, stopped
    assert len(stopped.json()["cases"]) == 5
    assert "stopped; resume with: assay run --resume" in stopped.err


def test_escape_sequences_of_names_reach_no_terminal(place: Workplace) -> None:
    title = f"{ESCAPE}]0;owned\x07{ESCAPE}[31m\x9b31m"
    spec = place.spec(place.program(f"net{title}"), name=f"spec{title}")
    for finished in (
        place.run("run", spec),
        place.run("run", place.folder / f"absent{title}.json"),
        place.run("list", "runs"),
        place.run("report"),
        place.run(f"verb{title}"),
        place.run("run", spec, f"--no-such-flag{title}"),
    ):
        for text in (finished.out, finished.err):
            assert not {ESCAPE, "\x07", "\x9b"} & set(text), repr(finished)


# ---- limits of the system


def under_limit(place: Workplace, limit: str, *command: str | Path) -> Finished:
    """Runs a command under `ulimit`."""
    finished = subprocess.run(
        ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", BIN / "assay", *command],
        env=place.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Finished(finished.returncode, finished.stdout, finished.stderr)


@pytest.mark.parametrize("files", [4, 5, 8, 12])
def test_limit_of_open_files_is_named(place: Workplace, files: int) -> None:
    spec = place.spec(place.program("net"))
    finished = under_limit(place, f"-n {files}", "run", spec)
    assert finished.code == UNAVAILABLE, finished
    assert "ulimit -n" in finished.err, finished
    assert "not installed" not in finished.err, finished


def assert_said_once(finished: Finished, limit: str) -> None:
    """One line names the limit, and what the system says of it stands there once."""
    assert finished.code == UNAVAILABLE, finished
    (line,) = finished.err.splitlines()
    assert line.count(f"({limit}): raise that limit") == 1, finished
    said = ("Resource temporarily unavailable", "Cannot allocate memory")
    assert sum(map(line.count, said)) == 1, finished


def smallest_limit_kilobytes(place: Workplace) -> int:
    """With room for the program and its libraries, and next to nothing more."""
    return next(
        kilobytes
        for kilobytes in range(8_000, 80_000, 1_000)
        if under_limit(place, f"-v {kilobytes}", "--version").code == 0
    )


def test_limit_of_memory_is_named(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    smallest = smallest_limit_kilobytes(place)
    assert_said_once(under_limit(place, f"-v {smallest}", "run", spec), "ulimit -v")


def test_without_room_for_threads_engines_are_asked_one_after_the_other(place: Workplace) -> None:
    spec = place.spec(place.program("net"))
    # A thread takes 8 MB for its stack.
    kilobytes = smallest_limit_kilobytes(place) + 4_000
    finished = under_limit(place, f"-v {kilobytes}", "run", spec)
    assert finished.code == 0, finished


@pytest.fixture
def shared_place() -> Iterator[Workplace]:
    """A workplace that another user may write to."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        place = Workplace(Path(folder))
        for path in (place.folder, place.folder / "temporary"):
            path.chmod(0o777)
        yield place
        place.clean_up()


@pytest.mark.parametrize("processes", [1, 2])
def test_limit_of_processes_is_named(shared_place: Workplace, processes: int) -> None:
    """The system counts the processes of a user, and lets root have any number."""
    place = shared_place
    spec = place.spec(place.program("net"))
    user = NOBODY if os.geteuid() == 0 else None
    try:
        subprocess.run([BIN / "assay", "--version"], user=user, capture_output=True, check=True)
    except (PermissionError, subprocess.CalledProcessError):
        pytest.skip("another user cannot read the binaries")
    finished = subprocess.run(
        [BIN / "assay", "run", spec],
        env=place.env,
        user=user,
        group=user,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert_said_once(Finished(finished.returncode, finished.stdout, finished.stderr), "ulimit -u")


@pytest.mark.parametrize("blocks", [1, 16, 100, 400])
def test_limit_of_file_sizes_is_named_and_the_store_stays_whole(
    place: Workplace, blocks: int
) -> None:
    """No process dies of SIGXFSZ, at the first page of the store or in the middle of a campaign."""
    spec = place.spec(*(place.program(f"net{i}") for i in range(3)), measure={"launches": 6})
    finished = under_limit(place, f"-f {blocks}", "run", spec)
    assert finished.code == UNAVAILABLE, finished
    assert "ulimit -f" in finished.err, finished
    resumed = place.run("run", spec, "--quiet")
    assert resumed.code == 0, resumed
    assert place.query("pragma integrity_check") == [("ok",)]


# ---- runners


def test_runner_that_dies_while_it_describes_itself_is_no_absent_engine(place: Workplace) -> None:
    runner = place.folder / "runner"
    runner.write_text("#!/bin/sh\nkill -KILL $$\n", encoding="utf-8")
    runner.chmod(0o755)
    place.register("fake", "dying", runner)
    dying = place.spec(place.program("net"), engines=["fake@dying"], name="dying")
    told = ("died of signal 9 (Killed)", f"run it to see more: {runner} --describe")
    assert_told(place.run("run", dying), UNAVAILABLE, *told)
    assert_told(place.run("bench", place.program("net")), UNAVAILABLE, *told)
    assert place.run("run", place.spec(place.program("net"), engines=["fake"])).code == 0
    assert "died of signal 9" in place.run("list", "engines").out


# ---- programs


@pytest.mark.parametrize("dtype", ["int16", "uint16", "uint32", "uint64"])
def test_integers_of_every_width_are_measured_and_evaluated(place: Workplace, dtype: str) -> None:
    tensor = {"dtype": dtype, "shape": [1, 4]}
    program = place.program("net", inputs=[tensor], outputs=[tensor])
    spec = place.spec(program, measure={"launches": 1, "passes": ["timing"]})
    assert (
        case_of(place.ok("run", spec, "--format", "json").json(), "net")["outcome"] == "completed"
    )


def test_shape_that_cannot_be_counted_is_a_row(place: Workplace) -> None:
    tensor = {"dtype": "float32", "shape": [2**32, 2**32]}
    spec = place.spec(place.program("net", inputs=[tensor], outputs=[tensor]))
    row = place.run("run", spec, "--format", "json").json()["cases"][0]
    assert row["outcome"] != "completed"
    assert "4294967296x4294967296" in row["text"]


def test_damaged_registry_is_told(place: Workplace) -> None:
    registry = place.home / "engines" / "engines.json"
    registry.parent.mkdir(parents=True, exist_ok=True)
    registry.write_text('{"builds": [{"name"', encoding="utf-8")
    listed = place.run("list", "engines")
    assert str(registry) in listed.out, listed
    spec = place.spec(place.program("net"), engines=["fake@mine"])
    assert_told(place.run("run", spec), UNAVAILABLE, str(registry), "assay engine add")
    registry.write_text(json.dumps({"builds": [{"name": "fake", "label": "mine"}]}), "utf-8")
    assert "fake@mine" in place.run("list", "engines").out
