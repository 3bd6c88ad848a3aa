"""A fleet on PostgreSQL: worker, driver and database are killed, and nothing is lost or doubled."""

import os
import signal
import time
from collections.abc import Iterator

import pytest
from driver import Workplace, wait_for_end, wait_until
from fleet_hosts import ON_LAB, Workers, some_programs
from postgres import PostgresServer, postgres_server

__all__ = ["postgres_server"]  # A fixture.

pytestmark = pytest.mark.slow


class Lab(Workers):
    """A database, and workers with homes of their own."""

    def __init__(self, place: Workplace, server: PostgresServer) -> None:
        self.server = server
        self.url = server.fresh_database()
        super().__init__(place, {"kind": "postgres", "dsn": self.url})

    def count(self, what: str) -> int:
        return int(self.server.query(self.url, f"SELECT count(*) FROM assay_fleet.{what}")[0][0])


@pytest.fixture
def lab(place: Workplace, postgres_server: PostgresServer) -> Iterator[Lab]:
    lab = Lab(place, postgres_server)
    yield lab
    lab.close()


def assert_each_counted_once(lab: Lab, cases: int) -> None:
    lab.assert_each_counted_once(cases)
    assert lab.count("part WHERE bytes IS NOT NULL") == 0


def test_workers_execute_and_the_driver_takes_in(lab: Lab) -> None:
    lab.start_worker("d1")
    lab.start_worker("d2")
    wait_until(lambda: {lab.state("d1"), lab.state("d2")} == {"idle"}, timeout_s=60)
    spec = lab.place.spec(*some_programs(lab.place, 6))
    report = lab.place.ok("run", spec, *ON_LAB).json()
    assert {case["device"] for case in report["cases"]} <= {"d1", "d2"}
    assert_each_counted_once(lab, 6)
    temporary = lab.place.folder / "temporary"
    assert list(temporary.glob("assay-parts*")) == [], "the driver's, of this and other commands"


def test_a_worker_that_dies_loses_no_job(lab: Lab) -> None:
    lab.start_worker("d1")
    wait_until(lambda: lab.state("d1") == "idle", timeout_s=60)
    spec = lab.place.spec(*some_programs(lab.place, 2, load_ns=2_000_000_000))
    driver = lab.place.start("run", spec, *ON_LAB)
    wait_until(lambda: lab.count("job WHERE state = 'executing'") == 1, timeout_s=60)
    lab.kill_worker("d1")
    lab.start_worker("d2")
    wait_until(lambda: lab.state("d1") == "gone", timeout_s=30)
    finished = wait_for_end(driver, timeout_s=120)
    assert finished.code == 0, finished
    assert_each_counted_once(lab, 2)
    notes = [note for case in finished.json()["cases"] for note in case["notes"]]
    (lost,) = [note for note in notes if "d1 was lost while it executed this" in note]
    assert lost.endswith("d2 executed it")
    told = lab.place.ok("fleet", "executions", "latest").out
    assert "lost while it executed" in told
    assert told.endswith("2 executions, 1 lost\n")
    log = (lab.place.folder / "d2.log").read_text(encoding="utf-8")
    for text in ("d2: serves PostgreSQL as", "d2: executes net", "d2: has delivered net"):
        assert text in log


def test_a_driver_that_dies_leaves_the_jobs_to_the_workers(lab: Lab) -> None:
    lab.start_worker("d1")
    wait_until(lambda: lab.state("d1") == "idle", timeout_s=60)
    spec = lab.place.spec(*some_programs(lab.place, 3, load_ns=300_000_000))
    driver = lab.place.start("run", spec, *ON_LAB)
    # A job that is new when its driver dies waits for the next driver.
    wait_until(lambda: lab.count("job WHERE state <> 'new'") == 3, timeout_s=60)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.communicate()
    wait_until(lambda: lab.count("job WHERE state = 'done'") == 3, timeout_s=60)
    lab.place.ok("run", "--resume", "latest", *ON_LAB)
    assert_each_counted_once(lab, 3)
    assert lab.count("part") == 3


def test_a_database_that_dies_is_waited_for(lab: Lab) -> None:
    lab.start_worker("d1")
    wait_until(lambda: lab.state("d1") == "idle", timeout_s=60)
    spec = lab.place.spec(*some_programs(lab.place, 3, load_ns=1_500_000_000))
    driver = lab.place.start("run", spec, *ON_LAB)
    wait_until(lambda: lab.count("job WHERE state = 'executing'") == 1, timeout_s=60)
    lab.server.kill()
    time.sleep(3)  # The current execution ends meanwhile, and its part waits.
    lab.server.begin()
    finished = wait_for_end(driver, timeout_s=180)
    assert finished.code == 0, finished
    assert_each_counted_once(lab, 3)


def test_a_drained_device_takes_no_job(lab: Lab) -> None:
    lab.start_worker("d1")
    wait_until(lambda: lab.state("d1") == "idle", timeout_s=60)
    place = lab.place
    place.ok("fleet", "drain", "d1", "--executor", "lab", "--reason", "new battery")
    wait_until(lambda: lab.state("d1") == "draining", timeout_s=30)
    workers = "SELECT count(*) FROM procrastinate_workers"
    # Until its worker has read it, and takes no more jobs.
    wait_until(lambda: lab.server.query(lab.url, workers) == [["0"]], timeout_s=30)
    driver = place.start("run", place.spec(*some_programs(place, 1)), *ON_LAB)
    wait_until(lambda: lab.count("job WHERE state = 'waiting'") == 1, timeout_s=60)
    time.sleep(3)
    assert lab.count("job WHERE state = 'waiting'") == 1
    assert "new battery" in place.ok("fleet", "status", "--executor", "lab").out
    place.ok("fleet", "drain", "d1", "--executor", "lab", "--undo")
    assert wait_for_end(driver, timeout_s=60).code == 0


def test_a_cancelled_run_stops(lab: Lab) -> None:
    lab.start_worker("d1")
    wait_until(lambda: lab.state("d1") == "idle", timeout_s=60)
    place = lab.place
    spec = place.spec(*some_programs(place, 2, load_ns=20_000_000_000))
    driver = place.start("run", spec, *ON_LAB)
    wait_until(lambda: lab.count("job WHERE state = 'executing'") == 1, timeout_s=60)
    driver.send_signal(signal.SIGINT)
    assert wait_for_end(driver).code == 130
    assert "2 jobs" in place.ok("fleet", "cancel", "latest", "--executor", "lab").out
    wait_until(lambda: lab.state("d1") == "idle", timeout_s=60)
    assert lab.count("part") == 0
