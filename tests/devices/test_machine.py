"""The emulated machine runs out of memory and disk, and is reset, as a real one is."""

import os
import re
from collections.abc import Iterator

import pytest
from far_agent import FarAgent, find_agent
from machine import Machine

pytestmark = pytest.mark.slow

AGENT = "ASSAY_AGENT_HOME=$HOME/agent exec ./assay-agent"
READ_BOOT_ID = "cat /proc/sys/kernel/random/boot_id"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with Machine(tmp_path_factory.mktemp("machine")) as machine:
        put_agent(machine)
        yield machine


def put_agent(machine: Machine) -> None:
    agent = find_agent("aarch64").read_bytes()
    put = machine.ssh("cat >assay-agent && chmod +x assay-agent", stdin=agent)
    assert put.returncode == 0, put.stderr


def out_of(machine: Machine, command: str) -> str:
    ended = machine.ssh(command)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode().strip()


def test_agent_answers_from_another_kernel(machine: Machine) -> None:
    release, architecture = out_of(machine, "uname -rm").split()

    assert architecture == "aarch64"
    assert release != os.uname().release
    with FarAgent(machine.ssh_argv(AGENT)) as agent:
        assert agent.greet()["target"] == "aarch64-linux-gnu"


def test_process_that_takes_all_memory_is_killed_alone(machine: Machine) -> None:
    with FarAgent(machine.ssh_argv(AGENT)) as agent:
        agent.greet()
        ended = machine.ssh("exec tail -c 690000000 /dev/zero")

        assert ended.returncode == 255
        assert re.search(r"Out of memory: Killed process \d+ \(busybox\)", machine.console)
        assert agent.greet()["program"] == "assay-agent"


def test_full_home_refuses_a_file(machine: Machine) -> None:
    full = machine.ssh("head -c 80000000 /dev/zero >filling; echo more >next")

    assert full.returncode != 0
    assert out_of(machine, "df . | tail -1 | awk '{print $4}'") == "0"
    assert out_of(machine, "rm filling next; echo room >next; cat next") == "room"


def test_reset_ends_the_stream_and_empties_the_home(machine: Machine) -> None:
    before = out_of(machine, READ_BOOT_ID)
    with FarAgent(machine.ssh_argv(AGENT)) as agent:
        agent.greet()

        machine.reset()

        with pytest.raises(EOFError):
            agent.receive()
        assert agent.process.wait(10) == 255
    after, *left = out_of(machine, f"{READ_BOOT_ID}; ls").splitlines()
    assert after != before
    assert left == []
