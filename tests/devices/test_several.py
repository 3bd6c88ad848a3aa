"""Assay measures on several devices: in one run, and in several commands at once."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from board import Board
from driver import FAST_MEASURE, Workplace, assert_told, wait_for_end, wait_until
from inventory import write_entry

LAUNCHES = 4
QUICK = ("--launches", "2", "--quiet")


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Board, Board]]:
    folder = tmp_path_factory.mktemp("boards")
    with Board(folder / "a", host="left") as left, Board(folder / "b", host="right") as right:
        yield left, right


@pytest.fixture
def place(tmp_path: Path, boards: tuple[Board, Board]) -> Iterator[Workplace]:
    """A workplace that knows both boards by their hosts' names."""
    workplace = Workplace(tmp_path)
    config = tmp_path / "ssh_config"
    config.write_text("".join(f"Include {board.ssh_config}\n" for board in boards))
    workplace.env["ASSAY_SSH"] = f"ssh -F {config}"
    for board in boards:
        workplace.ok("device", "add", f"ssh:{board.host}")
    yield workplace
    workplace.clean_up()


def slow_spec(place: Workplace, launches: int = LAUNCHES, **fields: object) -> Path:
    """A spec of launches, each of which takes a while."""
    program = place.program("slow", execute_ns=200_000_000)
    measure = {**FAST_MEASURE, "launches": launches, "time_budget": "10s"}
    return place.spec(program, measure=measure, **fields)


def launches_by_device(place: Workplace) -> dict[str, int]:
    rows = place.query(
        "select device, count(*) from launch join attempt on attempt.id = attempt group by device"
    )
    return dict(rows)


@pytest.mark.slow
def test_one_run_tells_two_devices_of_one_class_apart(place: Workplace) -> None:
    program = place.program("net")
    finished = place.run("bench", program, "--device", "left,right", *QUICK, "--format", "json")
    assert finished.code in (0, 6), finished
    cases = finished.json()["cases"]
    assert [case["device"] for case in cases] == ["left", "right"]
    assert len({case["case_key"] for case in cases}) == 1, "one series"
    assert len({case["label"] for case in cases}) == 2
    assert set(finished.json()["devices"]) == {"left", "right"}
    assert launches_by_device(place)["left"] == launches_by_device(place)["right"]
    console = place.run("report", "--format", "console").out
    assert "device" in console, console
    assert "left" in console, console
    assert "right: " in console, "the machine of each"
    assert " on right" in place.run("report", "--format", "junit").out
    assert "--device left" in cases[0]["reproduce"]


@pytest.mark.slow
def test_devices_are_chosen_by_class_and_left_out_by_name(place: Workplace) -> None:
    program = place.program("net")

    def planned(*arguments: str) -> list[str]:
        finished = place.ok("bench", *arguments, program, "--dry-run")
        return [line for line in finished.out.splitlines() if " on " in line]

    assert len(planned("--device", "all")) == 2
    assert len(planned("--device", "class:linux-x86_64", "--device", "local")) == 3
    one = place.ok("bench", program, "--dry-run", "--device", "all", "--exclude-device", "right")
    assert "1 case\n" in one.out
    spec = place.spec(program, devices=["all"])
    assert "2 cases" in place.ok("run", spec, "--dry-run").out
    wrong = place.run("bench", program, "--device", "class:linux-riscv64")
    assert_told(wrong, 2, "no device is of 'class:linux-riscv64'; there are class:linux-")
    several = place.run("profile", program, "--device", "all")
    assert_told(several, 2, "works on one device, and 2 are named (left, right)")


@pytest.mark.slow
def test_excluded_device_takes_no_runs(place: Workplace) -> None:
    program = place.program("net")
    dry = ("bench", program, "--dry-run", "--device")
    place.ok("device", "exclude", "right", "--reason", "its fan is broken")
    assert "excluded: its fan is broken" in place.ok("device", "list").out
    named = place.run(*dry, "right")
    assert_told(named, 3, "is excluded: its fan is broken; assay device include right")
    others = place.ok(*dry, "all")
    assert "1 case\n" in others.out
    assert "device 'right' is left out: its fan is broken" in others.err
    place.ok("device", "check", "right")
    assert place.run(*dry, "right").code == 3, "a check is no repair"
    place.ok("device", "include", "right")
    assert "2 cases" in place.ok(*dry, "all").out
    assert place.run("device", "exclude", "right", "--reason", "").code == 2


@pytest.mark.slow
def test_doctor_and_lists_tell_what_is_there(place: Workplace) -> None:
    doctor = place.run("doctor", "--device", "left")
    assert "answers on device 'left' (x86_64-linux-gnu)" in doctor.out, doctor
    assert "engine       fake@1" in doctor.out
    assert "toolchain" not in doctor.out, "programs are made here"
    engines = place.ok("list", "engines", "--device", "left")
    assert "fake@1" in engines.out
    assert_told(place.run("list", "models", "--device", "left"), 2, "only engines")
    program = place.program("net")
    check = ("engine", "check", "fake", "--program", program, "--loads", "20")
    here, there = place.run(*check), place.run(*check, "--device", "left")
    verdicts = [
        {line.split()[1]: line.split()[0] for line in checked.out.splitlines()}
        for checked in (here, there)
    ]
    damaged = "refuses_damaged_files"
    assert verdicts[1].pop(damaged) == "skipped"
    verdicts[0].pop(damaged)
    assert verdicts[0] == verdicts[1], there


@pytest.mark.slow
def test_lost_device_takes_nothing_from_the_other(
    place: Workplace, boards: tuple[Board, Board]
) -> None:
    right = boards[1]
    write_entry(place, policy={"return_wait": "5s"})
    # ssh heeds what it is told first: it looks each second, and not each five as Assay asks it to.
    place.env["ASSAY_SSH"] += " -o ServerAliveInterval=1"
    process = place.start("run", slow_spec(place, devices=["left", "right"]), "--quiet")
    wait_until(lambda: len(place.launch_ids()) >= 2)
    right.link_down()
    try:
        finished = wait_for_end(process, 60)
    finally:
        right.link_up()
    assert finished.code == 3, finished
    assert "device 'right' came to no end, and its cases stay open" in finished.err
    assert launches_by_device(place)["left"] == LAUNCHES
    assert place.query("select finished_unix_ns from run") == [(0,)]

    without = place.run("run", "--resume", "latest", "--exclude-device", "right", "--quiet")
    assert "1 of the run's 2 cases belong to devices that are left out" in without.err
    assert place.query("select finished_unix_ns from run") == [(0,)], "its cases stay open"
    resumed = place.run("run", "--resume", "latest", "--quiet")
    assert resumed.code in (0, 6), resumed
    assert launches_by_device(place) == {"left": LAUNCHES, "right": LAUNCHES}
    assert place.query("select finished_unix_ns from run") != [(0,)]


@pytest.mark.slow
def test_commands_on_two_devices_and_here_do_not_wait_for_each_other(place: Workplace) -> None:
    first = place.start("run", slow_spec(place, 500, devices=["left"]))
    wait_until(lambda: len(place.launch_ids()) >= 1)
    program = place.program("net")
    for device in ("right", "local"):
        other = place.run("bench", program, "--device", device, "--launches", "1")
        assert other.code in (0, 6), other
        assert "waiting for the device" not in other.err
        assert first.poll() is None, "it goes on meanwhile"
    first.terminate()
    assert wait_for_end(first).code == 130


@pytest.mark.slow
def test_two_commands_on_one_device_take_turns(place: Workplace) -> None:
    first = place.start("run", slow_spec(place, 500, devices=["left"]))
    wait_until(lambda: len(place.launch_ids()) >= 1)
    second = place.start("bench", place.program("net"), "--device", "left", "--launches", "1")
    assert second.stderr is not None
    told = next((line for line in iter(second.stderr.readline, "") if "waiting" in line), "")
    assert "waiting for the device: " in told
    assert second.poll() is None
    first.terminate()
    assert wait_for_end(first).code == 130
    assert wait_for_end(second).code in (0, 6)
    rows = "select run from launch join attempt on attempt.id = attempt order by launch.rowid"
    runs = place.query(rows)
    blocks = [run for i, run in enumerate(runs) if i == 0 or run != runs[i - 1]]
    assert len(blocks) == 2, "launches of two runs are not mixed"
