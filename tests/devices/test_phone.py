"""The phone behaves as Android's adbd does: plain adb against it, and each switch."""

import json
import os
import select
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from far_agent import ROOT, FarAgent, find_agent
from namespaces import NoDevice
from phone import Phone
from waiting import wait_until

TMP = "/data/local/tmp"
AGENT = f"HOME={TMP} TMPDIR={TMP} ASSAY_AGENT_HOME={TMP}/agent exec {TMP}/assay-agent"
BUNDLE = ROOT / "build" / "aarch64" / "bundle" / "executorch"


@pytest.fixture
def phone(tmp_path: Path) -> Iterator[Phone]:
    with Phone(tmp_path / "phone") as phone:
        yield phone


def out_of(phone: Phone, command: str) -> str:
    ended = phone.adb("shell", "-T", command)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode().strip()


def start_agent(phone: Phone) -> FarAgent:
    pushed = phone.adb("push", str(find_agent("aarch64")), f"{TMP}/")
    assert pushed.returncode == 0, pushed
    return FarAgent(["adb", "-s", phone.serial, "shell", "-T", AGENT], phone.environment)


def test_root_is_androids(phone: Phone) -> None:
    ended = phone.adb("shell", "-T", "uname -m; ls /; ls /tmp; exit 7")

    machine, *folders = ended.stdout.decode().split()
    assert machine == "aarch64"
    assert folders == ["data", "dev", "proc", "sys", "system"]
    assert b"/tmp: No such file" in ended.stderr
    assert ended.returncode == 7


def test_stream_is_clean_in_both_directions(phone: Phone) -> None:
    data = os.urandom(3 << 20)

    assert phone.adb("shell", "-T", "cat", stdin=data).stdout == data
    assert phone.adb("exec-out", "echo exec").stdout == b"exec\n"


def test_facts_are_those_that_a_test_sets(phone: Phone) -> None:
    assert "model:Assay_Test_Phone" in phone.adb("devices", "-l").stdout.decode()
    phone.answers.set_property("ro.soc.model", "SM8650")
    phone.answers.set_battery(12, is_charging=False, celsius=41.5)
    phone.answers.set_thermal(3, celsius=48.25)

    listed = out_of(phone, "getprop; getprop ro.soc.model; getprop no.such fallback").splitlines()
    battery = out_of(phone, "dumpsys battery")
    thermal = out_of(phone, "dumpsys thermalservice")

    assert "[ro.product.cpu.abi]: [arm64-v8a]" in listed
    assert listed[-2:] == ["SM8650", "fallback"]
    assert "USB powered: false" in battery
    assert "level: 12" in battery
    assert "temperature: 415" in battery
    assert "Thermal Status: 3" in thermal
    assert "mValue=48.25, mType=3, mName=skin, mStatus=3" in thermal


def test_files_are_pushed_listed_and_pulled(phone: Phone, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "lib").mkdir(parents=True)
    (tree / "lib" / "one").write_bytes(os.urandom(200_000))
    (tree / "start").write_text("#!/system/bin/sh\necho started\n")
    (tree / "start").chmod(0o755)

    assert phone.adb("push", str(tree), f"{TMP}/").returncode == 0

    assert out_of(phone, f"{TMP}/tree/start") == "started"
    assert stat.S_IMODE((phone.tmp / "tree" / "start").stat().st_mode) == 0o755
    names = [line.split()[-1] for line in phone.adb("ls", f"{TMP}/tree").stdout.splitlines()]
    assert sorted(names) == [b"lib", b"start"]
    assert phone.adb("pull", f"{TMP}/tree/lib/one", str(tmp_path / "back")).returncode == 0
    assert (tmp_path / "back").read_bytes() == (tree / "lib" / "one").read_bytes()
    missing = phone.adb("pull", f"{TMP}/missing", str(tmp_path))
    assert (missing.returncode, b"No such file" in missing.stdout) == (1, True)


def test_agent_answers_and_its_death_ends_the_stream(phone: Phone) -> None:
    with start_agent(phone) as agent:
        hello = agent.greet()
        assert (hello["program"], hello["target"]) == ("assay-agent", "aarch64-linux-gnu")

        assert phone.kill_agent() == 1

        with pytest.raises(EOFError):
            agent.receive()
        assert agent.process.wait(10) == 137


def test_runner_starts_by_the_loader_of_its_bundle(phone: Phone) -> None:
    if not (BUNDLE / "bundle.json").exists():
        raise NoDevice(f"{BUNDLE} is missing: make aarch64")
    assert phone.adb("push", str(BUNDLE), f"{TMP}/runner").returncode == 0
    argv = " ".join(json.loads((BUNDLE / "bundle.json").read_text())["argv"])

    described = json.loads(out_of(phone, f"cd {TMP}/runner && {argv} --describe"))

    assert described["target"] == "aarch64-linux-gnu"
    (xnnpack,) = [b for b in described["backends"] if b["name"] == "XnnpackBackend"]
    assert xnnpack["is_available"]


def test_pulled_cable_ends_the_stream_without_an_error(phone: Phone) -> None:
    with start_agent(phone) as agent:
        agent.greet()

        phone.unplug()

        with pytest.raises(EOFError):
            agent.receive()
        assert agent.process.wait(10) == 0
    assert phone.serial not in phone.adb("devices").stdout.decode()
    gone = phone.adb("shell", "true")
    assert (gone.returncode, b"not found" in gone.stderr) == (1, True)
    # adbd hangs up on what it started.
    wait_until(lambda: not phone.processes("assay-agent"))
    phone.plug_in()
    assert out_of(phone, "echo back") == "back"


@pytest.mark.parametrize("starts_it_there", [True, False])
def test_reboot_keeps_files_and_changes_the_boot_id(phone: Phone, starts_it_there: bool) -> None:
    read_boot_id = "cat /proc/sys/kernel/random/boot_id"
    before = out_of(phone, f"touch {TMP}/kept; {read_boot_id}")

    if starts_it_there:
        assert phone.adb("reboot").returncode == 0
        wait_until(lambda: phone.serial not in phone.adb("devices").stdout.decode())
        assert phone.adb("wait-for-device").returncode == 0
    else:
        phone.reboot()

    after, kept = out_of(phone, f"{read_boot_id}; ls {TMP}").splitlines()
    assert len(after) == 36
    assert after != before
    assert kept == "kept"


def test_silent_loss_tells_nobody(phone: Phone) -> None:
    with start_agent(phone) as agent:
        agent.greet()
        phone.go_silent()
        agent.send(1, {"protocol_min": 1, "protocol_max": 1, "program": "test"})

        assert not select.select([agent.process.stdout], [], [], 1)[0]
        assert agent.process.poll() is None
        assert "\tdevice" in phone.adb("devices").stdout.decode()

        phone.go_silent(False)
        assert agent.receive()[1]["program"] == "assay-agent"


def test_unauthorized_host_is_refused_until_somebody_confirms(phone: Phone) -> None:
    phone.set_unauthorized(True)

    assert "\tunauthorized" in phone.adb("devices").stdout.decode()
    refused = phone.adb("shell", "true")
    assert (refused.returncode, b"unauthorized" in refused.stderr) == (1, True)

    phone.set_unauthorized(False)
    assert out_of(phone, "echo trusted") == "trusted"


def test_full_disk_refuses_a_file_until_there_is_room(phone: Phone, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(100_000))
    phone.fill_disk()

    full = phone.adb("push", str(file), f"{TMP}/")
    # adb reports on files on stdout.
    assert (full.returncode, b"No space left on device" in full.stdout) == (1, True), full
    written = phone.adb("shell", "-T", f"cat >{TMP}/other", stdin=bytes(100_000))
    assert written.returncode == 1

    phone.free_disk()
    assert phone.adb("push", str(file), f"{TMP}/").returncode == 0


def test_killed_server_ends_streams_and_the_next_one_finds_the_phone(phone: Phone) -> None:
    with start_agent(phone) as agent:
        agent.greet()

        assert phone.adb("kill-server").returncode == 0

        with pytest.raises(EOFError):
            agent.receive()
        assert agent.process.wait(10) == 0
    wait_until(lambda: "\tdevice" in phone.adb("devices").stdout.decode())
    assert out_of(phone, "echo again") == "again"


def test_root_is_what_the_build_allows(phone: Phone) -> None:
    assert b"restarting adbd as root" in phone.adb("root").stdout
    assert phone.adb("wait-for-device").returncode == 0

    phone.answers.set_property("ro.debuggable", "0")
    assert b"cannot run as root in production builds" in phone.adb("root").stdout


def test_nothing_is_left_when_the_block_ends(tmp_path: Path) -> None:
    with Phone(tmp_path / "phone") as phone:
        (first, *_) = phone.processes("sh")
        server = phone._server
        assert server.ask("host:version") is not None
    assert not Path(f"/proc/{first}").exists()
    assert server.ask("host:version") is None


def test_sensors_are_those_that_a_test_sets(tmp_path: Path) -> None:
    zone = "/sys/class/thermal/thermal_zone0"
    with Phone(tmp_path / "phone", has_sensors=True) as phone:
        phone.sensors.set_temperature(44.5)

        assert out_of(phone, f"cat {zone}/type {zone}/temp").split() == ["cpu-thermal", "44500"]
        last = phone.sensors.cores[-1]
        assert out_of(phone, f"cat /sys/devices/system/cpu/cpu{last}/cpu_capacity") == "1024"
