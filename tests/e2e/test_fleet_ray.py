"""A fleet in a Ray cluster: worker and driver are killed, and nothing is lost or doubled."""

import importlib.util
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import pytest
from driver import Workplace, wait_for_end, wait_until
from fleet_hosts import ON_LAB, Workers, some_programs

from assay.fleet.ray_settings import SETTINGS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Python's ray"),
]

RAY = [sys.executable, "-m", "ray.scripts.scripts"]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def is_listening(address: str) -> bool:
    host, port = address.split(":")
    with socket.socket() as one:
        return one.connect_ex((host, int(port))) == 0


@pytest.fixture(scope="module")
def head() -> Iterator[str]:
    """The head of a cluster; its address."""
    address = f"127.0.0.1:{free_port()}"
    options = {
        "port": address.split(":")[1],
        "node-ip-address": "127.0.0.1",
        "num-cpus": "0",
        "include-dashboard": "false",
        "object-store-memory": str(100 * 1024 * 1024),
        "temp-dir": tempfile.mkdtemp(prefix="ray"),  # A short path, for its sockets.
    }
    words = [f"--{name}={value}" for name, value in options.items()]
    process = subprocess.Popen(
        [*RAY, "start", "--head", "--block", "--disable-usage-stats", *words],
        env={**os.environ, **SETTINGS},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: is_listening(address), timeout_s=60)
    yield address
    process.kill()  # Ray's reaper ends the rest.
    process.wait()


class RayLab(Workers):
    """Workers in the cluster; devices of other tests are gone."""

    def __init__(self, place: Workplace, head: str) -> None:
        super().__init__(place, {"kind": "ray", "address": head})


@pytest.fixture
def lab(place: Workplace, head: str) -> Iterator[RayLab]:
    lab = RayLab(place, head)
    yield lab
    lab.close()


def wait_until_idle(lab: RayLab, *names: str) -> None:
    wait_until(lambda: {lab.state(name) for name in names} == {"idle"}, timeout_s=90)


def test_workers_execute_and_the_driver_takes_in(lab: RayLab) -> None:
    lab.start_worker("a1")
    lab.start_worker("a2")
    wait_until_idle(lab, "a1", "a2")
    spec = lab.place.spec(*some_programs(lab.place, 6, load_ns=300_000_000))
    report = lab.place.ok("run", spec, *ON_LAB).json()
    assert {case["device"] for case in report["cases"]} <= {"a1", "a2"}
    lab.assert_each_counted_once(6)
    assert lab.stop_worker("a1") == 130
    assert lab.state("a1") == "gone"


def test_a_worker_that_dies_loses_no_job(lab: RayLab) -> None:
    lab.start_worker("b1")
    wait_until_idle(lab, "b1")
    spec = lab.place.spec(*some_programs(lab.place, 2, load_ns=2_000_000_000))
    driver = lab.place.start("run", spec, "--device", "b1", *ON_LAB)
    wait_until(lambda: lab.state("b1") == "busy", timeout_s=60)
    lab.kill_worker("b1")
    lab.start_worker("b1")
    finished = wait_for_end(driver, timeout_s=120)
    assert finished.code == 0, finished
    lab.assert_each_counted_once(2)


def test_a_driver_that_dies_leaves_the_jobs_to_the_cluster(lab: RayLab) -> None:
    lab.start_worker("c1")
    wait_until_idle(lab, "c1")
    spec = lab.place.spec(*some_programs(lab.place, 3, load_ns=300_000_000))
    driver = lab.place.start("run", spec, "--device", "c1", *ON_LAB)
    wait_until(lambda: sum(lab.waiting()) == 3, timeout_s=60)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()
    wait_until(lambda: lab.waiting() == (0, 0), timeout_s=60)
    lab.place.ok("run", "--resume", "latest", *ON_LAB)
    lab.assert_each_counted_once(3)
    executions = lab.place.ok("fleet", "executions", "latest", "--json").json()["executions"]
    assert len(executions) == 3


def test_a_drained_device_takes_no_job_and_a_cancelled_one_stops(lab: RayLab) -> None:
    place = lab.place
    lab.start_worker("d1")
    wait_until_idle(lab, "d1")
    place.ok("fleet", "drain", "d1", "--executor", "lab", "--reason", "new battery")
    spec = place.spec(*some_programs(place, 2, load_ns=20_000_000_000))
    driver = place.start("run", spec, "--device", "d1", *ON_LAB)
    wait_until(lambda: lab.waiting() == (2, 0), timeout_s=60)
    time.sleep(3)
    assert lab.waiting() == (2, 0)
    assert "new battery" in place.ok("fleet", "status", "--executor", "lab").out
    place.ok("fleet", "drain", "d1", "--executor", "lab", "--undo")
    wait_until(lambda: lab.waiting() == (1, 1), timeout_s=60)
    driver.send_signal(signal.SIGINT)
    assert wait_for_end(driver).code == 130
    assert "2 jobs" in place.ok("fleet", "cancel", "latest", "--executor", "lab").out
    wait_until(lambda: lab.state("d1") == "idle", timeout_s=60)
    assert lab.waiting() == (0, 0)


def test_a_cluster_that_is_not_there_is_named(place: Workplace) -> None:
    Workers(place, {"kind": "ray", "address": f"127.0.0.1:{free_port()}"})
    finished = place.run("fleet", "status", "--executor", "lab")
    assert finished.code == 3
    assert "127.0.0.1:" in finished.err


def test_an_address_that_cannot_be_one_is_refused(place: Workplace) -> None:
    Workers(place, {"kind": "ray", "address": "the lab"})
    finished = place.run("fleet", "status", "--executor", "lab")
    assert finished.code == 2
    assert "10.0.0.1:6379" in finished.err
