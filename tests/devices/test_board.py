"""The board behaves as a machine behind a cable does: plain ssh against it, and each switch."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from board import GUEST, USER, Board
from far_agent import FarAgent, find_agent
from namespaces import Scope, kill_processes
from waiting import wait_until

AGENT = "ASSAY_AGENT_HOME=$HOME/agent exec ./assay-agent"


def put_agent(board: Board) -> None:
    put = board.ssh(
        "cat >assay-agent && chmod +x assay-agent",
        stdin=find_agent(board.architecture).read_bytes(),
    )
    assert put.returncode == 0, put.stderr


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    with Board(tmp_path / "board") as board:
        yield board


@pytest.fixture
def measured_board(tmp_path: Path) -> Iterator[Board]:
    with Board(tmp_path / "board", has_sensors=True) as board:
        yield board


@pytest.fixture
def arm_board(tmp_path: Path) -> Iterator[Board]:
    with Board(tmp_path / "board", "aarch64") as board:
        yield board


def out_of(board: Board, command: str) -> str:
    ended = board.ssh(command)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode().strip()


def test_board_is_another_machine(board: Board, tmp_path: Path) -> None:
    facts = out_of(board, f"id -un; hostname; pwd; ls {tmp_path} 2>&1 | tail -1; ls /proc | grep 1")

    user, host, home, listed, *processes = facts.splitlines()
    assert (user, host, home) == ("board", "board", board.home_there)
    assert "No such file" in listed
    assert len([name for name in processes if name.isdigit()]) < 20


def test_home_is_seen_from_here(board: Board) -> None:
    assert out_of(board, "echo hello >greeting; echo done") == "done"

    assert (board.home / "greeting").read_text() == "hello\n"


def test_agent_answers_over_ssh(board: Board) -> None:
    put_agent(board)

    with FarAgent(board.ssh_argv(AGENT)) as agent:
        hello = agent.greet()

    assert (hello["program"], hello["target"]) == ("assay-agent", f"{board.architecture}-linux-gnu")
    wait_until(lambda: not board.processes("assay-agent"))


def test_agent_for_arm_answers_from_a_board_of_its_own(arm_board: Board) -> None:
    put_agent(arm_board)

    assert out_of(arm_board, "uname -m; echo x | sha256sum | cut -c1-8") == "aarch64\n73cb3858"
    with FarAgent(arm_board.ssh_argv(AGENT)) as agent:
        assert agent.greet()["target"] == "aarch64-linux-gnu"
        # Runners are emulated as the processor that was chosen, so the agent hands that on.
        agent.spawn(["/bin/sh", "-c", "test $QEMU_CPU = cortex-a76 && exit 7"])
        assert agent.receive()[1]["end"]["exit_code"] == 7
        assert arm_board.kill_agent() == 1


def test_wrong_architecture_is_refused_by_the_kernel(board: Board) -> None:
    board.home.joinpath("arm").write_bytes(find_agent("aarch64").read_bytes())
    board.home.joinpath("arm").chmod(0o755)

    ended = board.ssh("./arm --version")

    assert ended.returncode == 126
    assert b"Exec format error" in ended.stderr


def test_reboot_keeps_files_and_changes_the_boot_id(board: Board) -> None:
    read_boot_id = "cat /proc/sys/kernel/random/boot_id"
    put_agent(board)
    before = out_of(board, f"touch kept; {read_boot_id}")
    with FarAgent(board.ssh_argv(AGENT)) as agent:
        agent.greet()
        board.reboot()
        with pytest.raises(EOFError):
            agent.receive()

    assert not board.processes("assay-agent")
    after, kept = out_of(board, f"{read_boot_id}; ls kept").splitlines()
    assert len(after) == 36
    assert after != before
    assert kept == "kept"


def test_killed_agent_ends_the_stream(board: Board) -> None:
    put_agent(board)
    with FarAgent(board.ssh_argv(AGENT)) as agent:
        agent.greet()

        assert board.kill_agent() == 1

        with pytest.raises(EOFError):
            agent.receive()
        # The shell's code for a process that SIGKILL ended is lost: ssh was told of the signal.
        assert agent.process.wait(10) == 255
    assert out_of(board, "echo reachable") == "reachable"


def test_pulled_cable_is_silent_and_the_agent_lives_on(board: Board) -> None:
    put_agent(board)
    with FarAgent(board.ssh_argv(AGENT)) as agent:
        agent.greet()
        agent.spawn(["/bin/sleep", "30"])
        wait_until(lambda: len(board.processes("sleep")) == 1)

        board.link_down()

        # ssh finds out by itself, after the probes that its command line asks for.
        with pytest.raises(EOFError, match="not responding"):
            agent.receive()
        assert agent.process.wait(10) == 255
        assert len(board.processes("assay-agent")) == 1
        assert len(board.processes("sleep")) == 1
        unreachable = board.ssh("true").stderr.decode()
        assert re.search("timed out|No route to host", unreachable), unreachable
    board.link_up()
    wait_until(lambda: board.ssh("true").returncode == 0)


def test_short_loss_of_the_cable_goes_unnoticed(board: Board) -> None:
    put_agent(board)
    with FarAgent(board.ssh_argv(AGENT)) as agent:
        agent.greet()
        board.link_down()
        board.link_up()
        assert agent.greet()["program"] == "assay-agent"


def test_changed_host_key_is_told_and_refused(board: Board) -> None:
    board.change_host_key()

    ended = board.ssh("true")

    assert ended.returncode == 255
    assert b"REMOTE HOST IDENTIFICATION HAS CHANGED" in ended.stderr
    assert b"Host key verification failed" in ended.stderr


def test_full_disk_refuses_a_file_until_there_is_room(board: Board) -> None:
    board.fill_disk()

    full = board.ssh("cat >file", stdin=bytes(100_000))
    assert full.returncode != 0
    assert b"No space left on device" in full.stderr

    board.free_disk()
    assert board.ssh("cat >file", stdin=bytes(100_000)).returncode == 0


def test_nothing_is_left_when_the_block_ends(tmp_path: Path) -> None:
    links = subprocess.run(["ip", "-br", "link"], capture_output=True, check=True).stdout
    with Board(tmp_path / "board") as board:
        pids = board.processes("sshd")
        assert pids
        now = subprocess.run(["ip", "-br", "link"], capture_output=True, check=True).stdout
        assert now == links
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_device_ends_with_the_process_that_made_it(tmp_path: Path) -> None:
    scope = Scope()
    pid = scope.pid
    assert scope._process.stdin is not None
    scope._process.stdin.close()  # As the kernel does when a killed test's files are closed.

    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    scope.close()


def test_sensors_are_those_that_a_test_sets(measured_board: Board) -> None:
    measured_board.sensors.set_temperature(71.25)
    measured_board.sensors.set_battery(15, watts=3.0)
    measured_board.sensors.set_frequency(0, 998400)

    read = "cd /sys/class; cat thermal/thermal_zone*/temp power_supply/battery/capacity"
    frequency = "/sys/devices/system/cpu/cpu0/cpufreq"
    told = out_of(measured_board, f"{read}; cat {frequency}/scaling_cur_freq; nproc --all")

    assert told.splitlines() == ["71250", "15", "998400", str(len(measured_board.sensors.cores))]


def test_knobs_are_turned_there_unless_forbidden(measured_board: Board) -> None:
    governor = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    assert measured_board.ssh(f"echo performance >{governor}").returncode == 0
    assert measured_board.sensors.read(0, "scaling_governor") == "performance"

    measured_board.sensors.forbid_writing()

    assert b"Permission denied" in measured_board.ssh(f"echo powersave >{governor}").stderr
    assert measured_board.sensors.read(0, "scaling_governor") == "performance"


@pytest.fixture(scope="module")
def harsh_board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("harsh")
    with Board(folder / "board", has_guest=True, has_relay=True) as board:
        yield board


def test_link_is_as_slow_as_it_is_set(harsh_board: Board) -> None:
    harsh_board.set_link(bytes_per_s=400_000, delay_s=0.05)
    try:
        begin = time.monotonic()
        assert len(harsh_board.ssh("head -c 200000 /dev/zero").stdout) == 200_000
        assert time.monotonic() - begin > 0.5
    finally:
        harsh_board.set_link(bytes_per_s=0, delay_s=0)


def test_forgotten_connection_is_silent_on_both_sides(harsh_board: Board) -> None:
    argv = harsh_board.ssh_argv("exec sleep 300")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: len(harsh_board.processes("sleep")) == 1)
        harsh_board.forget_connections()

        assert process.wait(20) == 255
        assert process.stderr is not None
        assert b"not responding" in process.stderr.read()
    assert out_of(harsh_board, "echo reachable") == "reachable"
    assert len(harsh_board.processes("sleep")) == 1, "nobody told the board"
    kill_processes(harsh_board.processes("sleep"))


def test_two_accounts_have_homes_and_files_of_their_own(harsh_board: Board) -> None:
    guest = subprocess.run(
        ["ssh", "-F", harsh_board.ssh_config, "guest", "id -un; echo own >mine; pwd"],
        capture_output=True,
        check=True,
    )
    assert guest.stdout.decode().split() == ["guest", "/home/guest"]
    assert (harsh_board.guest_home / "mine").read_text() == "own\n"
    if harsh_board.has_accounts:
        assert b"denied" in harsh_board.ssh("echo x >/home/guest/mine").stderr


def test_power_that_is_lost_takes_what_was_in_memory_and_young_bytes(harsh_board: Board) -> None:
    out_of(harsh_board, "echo young >young; echo old >old; echo gone >/tmp/gone")
    harsh_board.lose_power("you*")
    assert out_of(harsh_board, "cat young old; ls /tmp") == "old"
    harsh_board.lose_power(empties_home=True)
    assert out_of(harsh_board, "ls") == ""


def test_folder_of_another_user_is_not_written(harsh_board: Board) -> None:
    out_of(harsh_board, "mkdir -p given")
    harsh_board.give_away("given", GUEST)
    assert b"denied" in harsh_board.ssh("echo x >given/file").stderr
    harsh_board.give_away("given", USER)
    assert out_of(harsh_board, "echo x >given/file; cat given/file") == "x"
