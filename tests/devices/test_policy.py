"""The policy of a device is in force while Assay measures there, and taken back afterwards."""

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from arm_programs import add_fake_engine
from board import Board
from driver import FAST_MEASURE, Finished, Workplace, assert_told, wait_for_end, wait_until
from inventory import edited_inventory, write_entry
from phone import Phone

pytestmark = pytest.mark.slow

STAY_ON = ".setting.stay_on_while_plugged_in"


@pytest.fixture
def board(place: Workplace) -> Iterator[Board]:
    with Board(place.folder / "board", has_sensors=True) as board:
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        place.ok("device", "add", "ssh:board", "--name", "desk")
        yield board


def bench(place: Workplace, *flags: str, launches: int = 1) -> Finished:
    often = ("--launches", str(launches), "--quiet", "--format", "json")
    return place.run("bench", place.program("net"), "--device", "desk", *often, *flags)


def knobs(board: Board, core: int = 0) -> tuple[str, str, str]:
    names = ("scaling_governor", "scaling_min_freq", "scaling_max_freq")
    governor, least, greatest = (board.sensors.read(core, name) for name in names)
    return governor, least, greatest


def test_frequency_is_set_for_a_run_and_taken_back(place: Workplace, board: Board) -> None:
    before = knobs(board)
    assert before == ("schedutil", "300000", str(board.sensors.read(0, "cpuinfo_max_freq")))
    write_entry(place, policy={"frequency": "max"})
    slow = place.program("slow", execute_ns=30_000_000)
    spec = place.spec(slow, devices=["desk"], measure={**FAST_MEASURE, "launches": 6})

    process = place.start("run", spec, "--quiet")
    wait_until(lambda: len(place.launch_ids()) >= 2)
    assert knobs(board) == ("performance", before[2], before[2])
    assert board.kill_agent() >= 1  # The next agent sets it again, and knows what was before.
    finished = wait_for_end(process)

    assert finished.code in (0, 6), finished
    assert "settings that a killed agent left are as before: cpu0: schedutil" in finished.err
    wait_until(lambda: knobs(board) == before)
    report = place.report()
    assert report["environment"]["details"]["policy"] == {"frequency": "max"}
    assert '"set_frequency_hz": 2800000000' in json.dumps(report)
    assert "policy: frequency max" in place.run("report", "latest").out


def test_frequency_off_the_one_that_was_set_is_told(place: Workplace, board: Board) -> None:
    # The samples run at their highest frequency, whatever is set.
    write_entry(place, policy={"frequency": "min"})
    assert "off the one that was set" in bench(place).out


def test_frequency_that_cannot_be_set_is_told_before_anything_is_timed(
    place: Workplace, board: Board
) -> None:
    before = knobs(board)
    write_entry(place, policy={"frequency": "min"})
    board.sensors.forbid_writing()
    assert_told(bench(place), 3, "Permission denied", 'write "frequency": "leave"')
    assert not place.launch_ids()
    assert knobs(board) == before
    write_entry(place, policy={"frequenzy": "min"})
    assert_told(bench(place), 3, "did you mean 'frequency'?")


def test_device_of_a_class_follows_it(place: Workplace, board: Board) -> None:
    with edited_inventory(place) as document:
        document["classes"] = {document["devices"][0]["class"]: {"policy": {"cool_down": "2s"}}}
    assert "policy      cool_down 2s" in place.ok("device", "check", "desk").out
    finished = bench(place, launches=3)
    assert finished.code in (0, 6), finished
    starts = [one["before"]["unix_ns"] for one in finished.json()["cases"][0]["launches"]]
    assert len(starts) == 3
    assert min(b - a for a, b in itertools.pairwise(starts)) >= 2e9


def test_cores_are_taken_by_name(place: Workplace, board: Board) -> None:
    if len(board.sensors.cores) < 2:
        pytest.skip("needs two cores")
    half = len(board.sensors.cores) // 2
    big = f"{half}-{len(board.sensors.cores) - 1}" if half > 1 else "1"
    assert f"cores       big {big}, little" in place.ok("device", "check", "desk").out
    by_name = {"scenario": {"cores": ["big", "little"]}}
    spec = place.spec(place.program("net"), devices=["desk"], **by_name)
    assert place.run("run", spec, "--quiet").code in (0, 6)
    outcomes = place.query("select outcome, count(*) from launch group by 1")
    assert outcomes == [("completed", 2)]
    refused = bench(place, "--scenario", "cores=mid")
    assert_told(refused, 2, f"no 'mid' cores; it has big {big}, little")
    write_entry(place, cores={"mid": "0"})
    assert "mid 0" in place.ok("device", "check", "desk").out
    assert bench(place, "--scenario", "cores=mid").code in (0, 6)


def test_folder_is_emptied_before_and_after_a_run(place: Workplace, board: Board) -> None:
    folder = board.home / ".cache" / "assay-agent"
    (folder / "blobs").mkdir(exist_ok=True)
    left = folder / "blobs" / "left"
    left.write_text("of an earlier run")
    write_entry(place, policy={"wipe": "before_run"})
    assert bench(place).code in (0, 6)
    assert not left.exists()
    assert list(folder.glob("assay-agent-*"))
    write_entry(place, policy={"wipe": "after_run"})
    (board.home / "notes").write_text("not Assay's")
    assert bench(place).code in (0, 6)
    assert not folder.exists()
    assert (board.home / "notes").exists()


def test_board_that_nothing_keeps_awake_is_told(place: Workplace, board: Board) -> None:
    write_entry(place, policy={"keep_awake": True})
    finished = bench(place)
    assert finished.code in (0, 6), finished
    assert "nothing keeps it awake" in finished.err


def test_board_whose_user_may_not_reboot_it_is_told(place: Workplace, board: Board) -> None:
    write_entry(place, policy={"reboot": {"before_run": True}})
    assert_told(bench(place), 3, "sudo without a password")
    write_entry(place, policy={"reboot": {"before_run": True, "at_most_every": "8000h"}})
    assert bench(place).code in (0, 6), "it has started less than that ago"


def test_phone_starts_anew_and_stays_awake(place: Workplace) -> None:
    with Phone(place.folder / "phone", has_sensors=True) as phone:
        place.env["ANDROID_ADB_SERVER_PORT"] = phone.environment["ANDROID_ADB_SERVER_PORT"]
        add_fake_engine(place)
        place.ok("device", "add", f"adb:{phone.serial}", "--name", "phone")
        policy = {"keep_awake": True, "frequency": "max", "reboot": {"before_run": True}}
        write_entry(place, policy=policy)
        boot_id = phone.adb("shell", "cat /proc/sys/kernel/random/boot_id").stdout
        (phone.tmp / STAY_ON).write_text("2\n")
        slow = place.program("slow", execute_ns=30_000_000)
        spec = place.spec(slow, devices=["phone"], measure={**FAST_MEASURE, "launches": 4})

        process = place.start("run", spec, "--quiet")
        wait_until(lambda: len(place.launch_ids()) >= 1, timeout_s=60)
        assert (phone.tmp / STAY_ON).read_text() == "7\n"
        assert phone.sensors.read(0, "scaling_governor") == "performance"
        finished = wait_for_end(process)

        assert finished.code in (0, 6), finished
        assert phone.adb("shell", "cat /proc/sys/kernel/random/boot_id").stdout != boot_id
        wait_until(lambda: (phone.tmp / STAY_ON).read_text() == "2\n")
        assert phone.sensors.read(0, "scaling_governor") == "schedutil"
