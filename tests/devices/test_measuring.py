"""Assay measures on a board and a phone, and loses nothing when they fail."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from board import Board
from driver import BIN, FAST_MEASURE, ROOT, Workplace, assert_told, wait_for_end, wait_until
from inventory import write_entry
from phone import Phone

LAUNCHES = 10
PORT = '<port id="{}" precision="FP32"><dim>1</dim><dim>4</dim></port>'
RELU_IR = f"""<net name="relu" version="11">
<layers>
  <layer id="0" name="x" type="Parameter" version="opset1">
    <data shape="1,4" element_type="f32"/><output>{PORT.format(0)}</output></layer>
  <layer id="1" name="y" type="ReLU" version="opset1">
    <input>{PORT.format(0)}</input><output>{PORT.format(1)}</output></layer>
  <layer id="2" name="z" type="Result" version="opset1"><input>{PORT.format(0)}</input></layer>
</layers>
<edges>
  <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
  <edge from-layer="1" from-port="1" to-layer="2" to-port="0"/>
</edges></net>
"""


@pytest.fixture
def board(place: Workplace) -> Iterator[Board]:
    with Board(place.folder / "board") as board:
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        yield board


def start_run(place: Workplace) -> "subprocess.Popen[str]":
    """A run of LAUNCHES launches on the board that has stored two."""
    slow = place.program("slow", execute_ns=30_000_000)
    measure = {**FAST_MEASURE, "launches": LAUNCHES}
    spec = place.spec(slow, devices=["ssh:board"], measure=measure)
    process = place.start("run", spec, "--quiet")
    wait_until(lambda: len(place.launch_ids()) >= 2)
    return process


def assert_whole(place: Workplace, process: "subprocess.Popen[str]") -> None:
    finished = wait_for_end(process)
    assert finished.code in (0, 6), finished
    outcomes = place.query("select outcome, count(*) from launch group by 1")
    assert outcomes == [("completed", LAUNCHES)]


def assert_relu_runs(place: Workplace, device: str) -> None:
    """OpenVINO computes there, by a plug-in and a reader that it opens while it runs."""
    (place.folder / "relu.xml").write_text(RELU_IR)
    (place.folder / "relu.bin").write_bytes(b"")
    spec = place.spec(place.folder / "relu.xml", engines=["openvino"], devices=[device])
    measured = place.run("run", spec, "--quiet")
    assert measured.code in (0, 6), measured
    assert place.query("select distinct outcome from launch") == [("completed",)]


@pytest.mark.slow
def test_board_gets_what_an_engine_opens(place: Workplace, board: Board) -> None:
    if not (BIN / "assay-runner-openvino").exists():
        pytest.skip("OpenVINO's runner is not built")
    assert_relu_runs(place, "ssh:board")


@pytest.mark.slow
def test_first_contact_tells_the_board(place: Workplace, board: Board) -> None:
    added = place.ok("device", "add", "ssh:board", "--name", "desk")
    assert added.out.startswith("desk  linux-"), added
    assert "engine      fake@1" in added.out
    assert "(assay device check desk says why)" in added.out
    checked = place.ok("device", "check", "desk").out
    assert "not there   onnxruntime: its runner is a program of Python" in checked
    assert_told(place.run("device", "add", "ssh:board"), 2, "ssh:board is device 'desk' already")
    place.ok("device", "release", "desk")
    assert not list((board.home / ".cache" / "assay-agent").glob("*"))


@pytest.mark.slow
def test_run_survives_a_killed_agent(place: Workplace, board: Board) -> None:
    process = start_run(place)
    assert board.kill_agent() >= 1
    assert_whole(place, process)


@pytest.mark.slow
def test_run_survives_a_reboot(place: Workplace, board: Board) -> None:
    process = start_run(place)
    board.reboot(down_s=2)
    assert_whole(place, process)


@pytest.mark.slow
def test_run_survives_a_cable_that_is_out_for_a_while(place: Workplace, board: Board) -> None:
    # ssh heeds what it is told first: it looks each second, and not each five as Assay asks it to.
    place.env["ASSAY_SSH"] += " -o ServerAliveInterval=1"
    process = start_run(place)
    board.link_down()
    time.sleep(8)  # Longer than ssh takes to find out.
    board.link_up()
    assert_whole(place, process)


def heat(board: Board) -> None:
    """Warms the board while its runner infers, and halves its frequency from 50 °C on."""
    seen: set[int] = set()
    celsius = 38.0
    for _ in range(160):
        # A bundle starts its runner through a loader.
        runners = {pid for name in ("ld-", "assay-runner") for pid in board.processes(name)}
        if seen & runners:
            celsius += 2
        elif celsius > 38:
            return
        seen = runners
        board.sensors.set_temperature(celsius)
        for core in board.sensors.cores:
            board.sensors.set_frequency(core, 900_000 if celsius > 50 else 1_800_000)
        time.sleep(0.5)


@pytest.mark.slow
def test_sustained_launch_on_a_board_that_throttles(place: Workplace) -> None:
    with Board(place.folder / "board", has_sensors=True) as board:
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        spec = place.spec(
            place.program("net", execute_ns=5_000_000),
            devices=["ssh:board"],
            scenario={"duration": "12s"},
            measure={**FAST_MEASURE, "sensors": "250ms"},
        )
        process = place.start("run", spec, "--quiet", "--format", "json")
        heat(board)
        result = wait_for_end(process)
    case = result.json()["cases"][0]
    assert case["outcome"] == "completed", result
    traces = case["launches"][0]["traces"]
    channels = {trace["channel"]: trace for trace in traces["channels"]}
    assert {"temperature:cpu-thermal", "power:battery", "frequency:cpu0"} <= channels.keys()
    assert len(channels["temperature:cpu-thermal"]["micros"]) >= 20
    assert any("1 of 1 launches was throttled: frequency:cpu" in note for note in case["notes"])
    # The battery gives 2 W all the time.
    metrics = case["metrics"]
    assert metrics["mean_power_w"]["value"] == pytest.approx(2)
    assert "energy and power are those of power:battery" in case["notes"]
    page = place.folder / "report.html"
    place.ok("report", "latest", "--report", page)
    assert "temperature:cpu-thermal" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_host_key_and_disk_are_told_before_anything_is_measured(
    place: Workplace, board: Board
) -> None:
    program = place.program("net")
    board.fill_disk()
    full = place.run("bench", program, "--device", "ssh:board")
    assert_told(full, 3, "No space left on device")
    board.free_disk()
    board.change_host_key()
    changed = place.run("bench", program, "--device", "ssh:board")
    assert_told(changed, 3, "its host key has changed", "ssh-keygen -R")
    assert not place.launch_ids()


@pytest.mark.slow
def test_hot_device_is_waited_for_and_not_timed(place: Workplace) -> None:
    with Board(place.folder / "board", has_sensors=True) as board:
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        place.ok("device", "add", "ssh:board", "--name", "desk")
        write_entry(place, gate={"below_celsius": 60, "wait": "1s"})
        program = place.program("net")
        once = ("--device", "desk", "--launches", "1", "--quiet", "--format", "json")

        board.sensors.set_temperature(75)
        hot = place.run("bench", program, *once)
        assert hot.json()["cases"][0]["verdict"] == "skipped", hot
        text = "the device was not ready within 1 s: 75 °C, must be below 60"
        assert text in hot.out, hot
        board.sensors.set_temperature(50)
        cool = place.run("bench", program, *once)
        assert cool.code in (0, 6), cool
        assert '"temperature_celsius":50' in cool.out, "launches keep the board's conditions"


@pytest.mark.slow
def test_build_for_a_device_says_what_it_lacks(place: Workplace) -> None:
    wheel = ROOT / "build" / "wheels-aarch64" / "executorch" / "executorch"
    add = ("engine", "add", "executorch@mine", "--prefix", wheel)
    assert_told(place.run(*add, "--toolchain", "ndk.cmake"), 2, "needs --triple")
    arm = (*add, "--triple", "aarch64-linux-gnu")
    assert_told(place.run(*arm, "--sysroot", "/nowhere"), 3, "make aarch64")
    assert_told(place.run(*arm, "--toolchain", "/nowhere.cmake"), 2, "no toolchain file")
    assert_told(place.run(*add, "--triple", "riscv64-linux-gnu"), 3, "--toolchain FILE.cmake")


@pytest.mark.long
@pytest.mark.parametrize("is_plain", [False, True])
def test_phone_lists_an_engine_that_was_built_for_it(
    place: Workplace, tmp_path: Path, is_plain: bool
) -> None:
    flags: list[str | Path] = []
    if is_plain:
        toolchain = tmp_path / "other.cmake"
        toolchain.write_text((ROOT / "cmake" / "aarch64-linux-gnu.cmake").read_text())
        flags = ["--toolchain", toolchain, "--sysroot", ROOT / "build" / "sysroot-aarch64"]
    wheel = ROOT / "build" / "wheels-aarch64" / "executorch" / "executorch"
    add = ("engine", "add", "executorch@mine", "--prefix", wheel, "--triple", "aarch64-linux-gnu")
    added = place.run(*add, *flags, timeout_s=1200)
    assert added.code == 0, added
    bundle = place.home / "engines" / "executorch@mine" / "build" / "bundle" / "executorch"
    argv = json.loads((bundle / "bundle.json").read_text())["argv"]
    assert argv[-1] == "bin/assay-runner-executorch"
    assert (len(argv) == 1) == is_plain
    if is_plain:  # A device with a C library: the phone has none.
        told = subprocess.run(["readelf", "-d", argv[0]], cwd=bundle, capture_output=True)
        assert b"runpath: [$ORIGIN/../lib]" in told.stdout
        emulator = ["qemu-aarch64-static", "-L", ROOT / "build" / "sysroot-aarch64"]
        told = subprocess.run([*emulator, *argv, "--describe"], cwd=bundle, capture_output=True)
        assert json.loads(told.stdout)["name"] == "executorch"
        return
    with Phone(tmp_path / "phone") as phone:
        place.env["ANDROID_ADB_SERVER_PORT"] = phone.environment["ANDROID_ADB_SERVER_PORT"]
        added = place.ok("device", "add", f"adb:{phone.serial}")
        assert "engine      executorch@mine" in added.out


@pytest.mark.slow
def test_phone_runs_runners_for_arm(place: Workplace, tmp_path: Path) -> None:
    with Phone(tmp_path / "phone") as phone:
        place.env["ANDROID_ADB_SERVER_PORT"] = phone.environment["ANDROID_ADB_SERVER_PORT"]
        address = f"adb:{phone.serial}"
        added = place.ok("device", "add", address, "--name", "phone")
        assert "linux-aarch64:qemu-user-mode-emulation" in added.out
        assert "engine      executorch@" in added.out
        assert "engine      openvino@" in added.out
        checked = place.ok("device", "check", "phone").out
        assert "not there   litert: its runner is a program of Python" in checked
        assert "not there   fake: Assay builds its runner for this machine" in checked
        assert_told(place.run("device", "check", "adb:nothing"), 3, "adb devices")
        assert_relu_runs(place, "phone")
