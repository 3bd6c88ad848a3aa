"""Driver and workers on PostgreSQL, with a script in place of `assay`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from postgres import PostgresServer, postgres_server

pytest.importorskip("procrastinate")

__all__ = ["postgres_server"]  # A fixture.

pytestmark = pytest.mark.slow

# Describes itself, or sleeps and writes a part; a file puts its device out.
ASSAY = """#!{python}
import json, pathlib, sqlite3, sys, time, uuid
words = sys.argv[1:]
name = words[words.index("--name") + 1]
if pathlib.Path("{folder}", "out-" + name).exists():
    print("assay: too hot", file=sys.stderr)
    sys.exit(3)
if "--describe" in words:
    about = {{"schema": "assay/fleet-worker/1", "environment": {{"device_class": "c:1"}}}}
    print(json.dumps({{**about, "device": name, "builds": []}}))
    sys.exit()
job = json.loads(pathlib.Path(words[words.index("--job") + 1]).read_text())
out = words[words.index("--out") + 1]
time.sleep(job["sleep_s"])
if job["label"] == "broken":
    sys.exit("assay: the artifact is gone")
store = sqlite3.connect(out)
store.execute("CREATE TABLE execution (id, run, job, n, worker, device)")
row = (str(uuid.uuid4()), job["run"]["id"], job["job"], job["n"], "w", name)
store.execute("INSERT INTO execution VALUES (?, ?, ?, ?, ?, ?)", row)
store.commit()
print(out)
"""


# A worker that tries a device that is out, and looks for jobs of the dead, more often than others.
WORKER = """
from assay.fleet import postgres_worker
postgres_worker.CHECK_S = 2
postgres_worker.STALLED_AFTER_S = {stalled_after_s}
postgres_worker.main()
"""
STALLED_AFTER_S = 15
"""The usual limit: a worker on a busy machine is not dead."""


class Fleet:
    """A database, a driver, and workers."""

    def __init__(self, folder: Path, server: PostgresServer) -> None:
        self.folder = folder
        self.server = server
        self.url = server.fresh_database()
        self.assay = folder / "assay"
        self.assay.write_text(ASSAY.format(python=sys.executable, folder=folder))
        self.assay.chmod(0o755)
        self.workers: dict[str, subprocess.Popen[bytes]] = {}
        self._driver = subprocess.Popen(
            [sys.executable, "-m", "assay.fleet.postgres"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        parts = folder / "parts"
        parts.mkdir()
        assert self.ask(ask="open", entry={"dsn": self.url}, folder=str(parts)) == {}

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._driver.stdin is not None
        assert self._driver.stdout is not None
        self._driver.stdin.write(json.dumps(request) + "\n")
        self._driver.stdin.flush()
        return dict(json.loads(self._driver.stdout.readline()))

    def start_worker(self, name: str, stalled_after_s: int = STALLED_AFTER_S) -> None:
        options = {"entry": {"dsn": self.url}, "device": "local", "name": name}
        options |= {"artifacts": "", "canary": ""}
        words = json.dumps({**options, "assay": str(self.assay)})
        program = WORKER.format(stalled_after_s=stalled_after_s)
        command = [sys.executable, "-c", program, words]
        self.workers[name] = subprocess.Popen(command, start_new_session=True)
        self.wait(lambda: self.state(name) in ("idle", "out"))

    def kill_worker(self, name: str) -> None:
        process = self.workers.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def submit(
        self,
        job: str,
        sleep_s: float = 0.1,
        label: str = "net",
        n: int = 0,
        expected_ns: int = 5,
    ) -> str:
        document = {"job": job, "n": n, "run": {"id": "run"}, "label": label, "sleep_s": sleep_s}
        document |= {"expected_ns": expected_ns, "deadline_ns": 0}
        return str(self.ask(ask="submit", queue="class:c:1", job=document)["submission"])

    def events(self, kind: str, count: int, limit_s: float = 60) -> list[dict[str, Any]]:
        """Takes in events until there were so many of the kind."""
        found: list[dict[str, Any]] = []
        end = time.monotonic() + limit_s
        while len(found) < count:
            assert time.monotonic() < end, f"{len(found)} of {count} events {kind}"
            event = self.ask(ask="next", timeout_s=0.2)["next"]
            if event and event["event"] == "done":
                assert self.ask(ask="forget", part=event["part"]) == {}
            if event and event["event"] == kind:
                found.append(event)
        return found

    def state(self, device: str) -> str:
        workers = self.ask(ask="workers")["workers"]
        return next((one["state"] for one in workers if one["device"] == device), "absent")

    def serves(self) -> bool:
        """True if a worker takes jobs, which Procrastinate knows."""
        rows = self.server.query(self.url, "SELECT count(*) FROM procrastinate_workers")
        return rows != [["0"]]

    def jobs(self, state: str) -> int:
        sql = f"SELECT count(*) FROM assay_fleet.job WHERE state = '{state}'"
        return int(self.server.query(self.url, sql)[0][0])

    def wait(self, is_so: Callable[[], bool], limit_s: float = 60) -> None:
        end = time.monotonic() + limit_s
        while not is_so():
            assert time.monotonic() < end, "it did not come to this"
            time.sleep(0.2)

    def close(self) -> None:
        for name in list(self.workers):
            self.kill_worker(name)
        self._driver.kill()
        self._driver.wait()


@pytest.fixture
def fleet(tmp_path: Path, postgres_server: PostgresServer) -> Iterator[Fleet]:
    fleet = Fleet(tmp_path, postgres_server)
    yield fleet
    fleet.close()


def test_executes_each_job_once(fleet: Fleet) -> None:
    fleet.start_worker("d1")
    fleet.start_worker("d2")
    for number in range(6):
        assert fleet.submit(f"job{number}") == "queued"
    assert fleet.submit("job0") == "followed"  # As a driver that came back does.
    fleet.events("done", 6)
    assert fleet.server.query(fleet.url, "SELECT count(*) FROM assay_fleet.part") == [["6"]]
    assert fleet.ask(ask="queues") == {"queues": []}


def test_a_queue_takes_what_is_not_known_of_a_job_from_the_others(fleet: Fleet) -> None:
    fleet.submit("new", expected_ns=0)
    assert [one["expected_ns"] for one in fleet.ask(ask="queues")["queues"]] == [0]
    fleet.submit("known", expected_ns=7)
    fleet.submit("longer", expected_ns=9)
    queue = {"run": "run", "waiting": 3, "executing": 0, "expected_ns": 24}
    assert fleet.ask(ask="queues") == {"queues": [queue]}


def test_gives_the_job_of_a_dead_worker_to_another(fleet: Fleet) -> None:
    fleet.start_worker("d1")
    fleet.submit("job", sleep_s=2)
    fleet.wait(lambda: fleet.jobs("executing") == 1)
    fleet.kill_worker("d1")
    (silent,) = fleet.events("silent", 1)
    assert (silent["job"], silent["n"], silent["device"]) == ("job", 0, "d1")
    (worker,) = fleet.ask(ask="workers")["workers"]
    assert worker["state"] == "gone"
    assert "while it executed net" in worker["reason"]
    fleet.start_worker("d2", stalled_after_s=5)  # Nobody else is there to be taken for dead.
    fleet.events("done", 1)
    rows = fleet.server.query(fleet.url, "SELECT device, executions FROM assay_fleet.job")
    assert rows == [["d2", "2"]]


def test_delivers_when_the_database_is_back(fleet: Fleet) -> None:
    fleet.start_worker("d1")
    fleet.submit("job", sleep_s=2)
    fleet.wait(lambda: fleet.jobs("executing") == 1)
    fleet.server.kill()
    time.sleep(4)
    fleet.server.begin()
    fleet.events("done", 1)
    sql = "SELECT count(*) FROM assay_fleet.part"
    assert fleet.server.query(fleet.url, sql) == [["1"]]
    fleet.submit("next")
    fleet.events("done", 1)


def test_tells_a_lost_try_and_takes_another(fleet: Fleet) -> None:
    fleet.start_worker("d1")
    fleet.submit("job", label="broken")
    (lost,) = fleet.events("lost", 1)
    assert (lost["job"], lost["n"]) == ("job", 0)
    assert (lost["device"], lost["why"]) == ("d1", "the artifact is gone")
    assert fleet.submit("job") == "lost"  # As a driver that came back does.
    assert fleet.submit("job", n=1) == "queued"
    fleet.events("done", 1)


def test_puts_a_device_out_and_takes_it_in_again(fleet: Fleet) -> None:
    fleet.start_worker("d1")
    (fleet.folder / "out-d1").touch()
    fleet.submit("job")
    fleet.wait(lambda: fleet.state("d1") == "out")
    (worker,) = fleet.ask(ask="workers")["workers"]
    assert worker["reason"] == "too hot"
    assert worker["schema"] == "assay/fleet-worker/1"  # It may never have been asked what it is.
    assert fleet.jobs("waiting") == 1
    (fleet.folder / "out-d1").unlink()
    fleet.events("done", 1, limit_s=90)
    fleet.wait(lambda: fleet.state("d1") == "idle")


def test_stops_what_was_cancelled_and_heeds_a_drain(fleet: Fleet) -> None:
    fleet.start_worker("d1")
    fleet.submit("long", sleep_s=60)
    fleet.wait(lambda: fleet.jobs("executing") == 1)
    assert fleet.ask(ask="cancel", run="run") == {"cancelled": 1}
    fleet.wait(lambda: fleet.state("d1") == "idle")
    assert fleet.ask(ask="drain", device="d1", reason="new battery") == {}
    fleet.wait(lambda: fleet.state("d1") == "draining")
    fleet.wait(lambda: not fleet.serves())
    fleet.submit("job")
    time.sleep(3)
    assert fleet.jobs("waiting") == 1
    assert fleet.ask(ask="drain", device="d1", reason="") == {}
    fleet.events("done", 1)
    unknown = fleet.ask(ask="drain", device="d9", reason="x")
    assert unknown["error"]["code"] == "not_found"
