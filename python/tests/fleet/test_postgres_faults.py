"""Faults around a worker and its driver on PostgreSQL: no job is lost by it."""

from __future__ import annotations

import asyncio
import errno
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from postgres import PostgresServer, postgres_server

pytest.importorskip("procrastinate")

import psycopg

from assay.fleet import database
from assay.fleet.database import TASK, is_passing, prepare_database, retry
from assay.fleet.lines import FleetError
from assay.fleet.postgres import Driver
from assay.fleet.postgres_jobs import Jobs, Key, NameTaken
from assay.fleet.postgres_worker import Device, Worker
from assay.fleet.work_command import MOST_EXECUTIONS, WorkCommand
from assay.toolchain import temporary

__all__ = ["postgres_server"]  # A fixture.

KEY: Key = ("job", 0)
STALLED_S = 15


def document(job: str = "job") -> dict[str, Any]:
    about = {"job": job, "n": 0, "run": {"id": "run"}, "label": "net"}
    return {**about, "expected_ns": 5, "deadline_ns": 0}


# ---- the worker's own code


class Table:
    """Jobs without a database."""

    def __init__(self, deliver: Callable[[Path], None]) -> None:
        self.deliver = deliver
        self.done: list[tuple[str, str]] = []

    def begin(self, key: Key, _: float) -> dict[str, Any]:
        return document(key[0])

    def state(self, _: Key) -> str:
        return "executing"

    def put_back(self, _: Key, why: str) -> None:
        self.done.append(("put back", why))

    def requeue(self, _: float) -> None:
        self.done.append(("queued", ""))

    def call_lost(self, _: Key, why: str) -> None:
        self.done.append(("lost", why))


def full_disk(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def refuse(_: Path) -> None:
    raise psycopg.errors.InsufficientPrivilege("permission denied for table part")


def execute(assay: str, deliver: Callable[[Path], None]) -> tuple[Device, Table]:
    command = WorkCommand(assay=assay, device="local", name="d1", artifacts="", canary="")
    device, table = Device("d1", command), Table(deliver)

    async def one_job() -> None:
        worker = Worker("", device)
        worker._jobs = table  # type: ignore[assignment]
        await worker._task(*KEY)

    asyncio.run(one_job())
    return device, table


@pytest.mark.parametrize(
    ("script", "fault", "told"),
    [
        ("", "disk", "No space left on device"),
        ("", "absent", "No such file or directory"),
        ("", "", "printed no part"),
        ("echo part.db", "", "InsufficientPrivilege: permission denied"),
    ],
)
def test_a_job_that_the_worker_itself_fails_goes_to_another_device(
    script: str,
    fault: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    assay = tmp_path / "assay"
    assay.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    assay.chmod(0o755)
    if fault == "absent":
        assay.unlink()
    if fault == "disk":
        monkeypatch.setattr(temporary, "_make_folder", full_disk)
    device, table = execute(str(assay), refuse)
    assert [what for what, _ in table.done] == ["put back", "queued"]
    assert told in table.done[0][1]
    assert told in device.out
    assert told in capfd.readouterr().err
    assert (device.job, device.key) == ("", None)


class Queue:
    """Stalled jobs in Procrastinate, those of other programs too."""

    def __init__(self) -> None:
        self.jobs = [
            SimpleNamespace(id=1, task_name=TASK, task_kwargs={"job": "job", "n": 0}),
            SimpleNamespace(id=2, task_name="of_another_program", task_kwargs={}),
        ]
        self.finished: list[int] = []

    async def get_stalled_jobs(
        self, task_name: str | None = None, **_: float
    ) -> list[SimpleNamespace]:
        return [job for job in self.jobs if task_name in (None, job.task_name)]

    async def finish_job_by_id_async(self, job: int, *_: object, **__: bool) -> None:
        self.finished.append(job)


def test_jobs_of_other_programs_are_left_alone() -> None:
    command = WorkCommand(assay="", device="local", name="d1", artifacts="", canary="")
    queue = Queue()

    async def forget() -> None:
        await Worker("", Device("d1", command))._forget_stalled(queue)

    asyncio.run(forget())
    assert queue.finished == [1]


def test_a_job_that_a_signal_interrupted_goes_to_another_device(tmp_path: Path) -> None:
    assay = tmp_path / "assay"
    assay.write_text("#!/bin/sh\necho 'assay: interrupted' >&2\nexit 130\n", encoding="utf-8")
    assay.chmod(0o755)
    device, table = execute(str(assay), refuse)
    assert table.done == [("put back", "interrupted"), ("queued", "")]
    assert device.out == ""


def test_a_device_without_room_is_out_until_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assay = tmp_path / "assay"
    about = {"environment": {"device_class": "c:1"}}
    assay.write_text(f"#!/bin/sh\necho '{json.dumps(about)}'\n", encoding="utf-8")
    assay.chmod(0o755)
    command = WorkCommand(assay=str(assay), device="local", name="d1", artifacts="", canary="")
    device = Device("d1", command)

    async def outs() -> list[str]:
        worker = Worker("", device)
        found = []
        with monkeypatch.context() as full:
            full.setattr(temporary, "_make_folder", full_disk)
            await worker._check_device()
            found.append(device.out)
        await worker._check_device()
        found.append(device.out)
        assay.unlink()  # While it is replaced.
        await worker._check_device()
        return [*found, device.out]

    full, well, absent = asyncio.run(outs())
    assert "No space left" in full
    assert well == ""
    assert "No such file" in absent


# ---- the tables


class Lab:
    """A fleet whose driver and workers are objects of this process, with a real database."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self.server = server
        self.url = server.fresh_database()
        prepare_database(self.url)
        self.folder = folder
        self.driver = Driver({"dsn": self.url}, folder)

    def worker(self, name: str) -> Jobs:
        return Jobs(self.url, name)

    def note(self, jobs: Jobs, state: str = "idle", key: Key | None = None) -> str:
        return jobs.note({"state": state, "reason": "", "job": ""}, {}, key)

    def submit(self, job: str = "job") -> str:
        request = {"ask": "submit", "queue": "class:c:1", "job": document(job)}
        return str(self.driver.answer(request)["submission"])

    def do(self, sql: str) -> list[list[str]]:
        return self.server.query(self.url, sql)

    def queued(self) -> int:
        sql = "SELECT count(*) FROM procrastinate_jobs WHERE status = 'todo'"
        return int(self.do(sql)[0][0])

    def age(self, seconds: int) -> None:
        """Lets signs of life be so old."""
        for table, column in (("worker", "heartbeat"), ("job", "alive")):
            self.do(f"UPDATE assay_fleet.{table} SET {column} = now() - interval '{seconds} s'")

    def let_only_read(self, is_so: bool) -> None:
        name = self.url.rsplit("/", 1)[1]
        value = "on" if is_so else "off"
        elsewhere = self.url.replace(name, "postgres")
        sql = f"ALTER DATABASE {name} SET default_transaction_read_only = {value}"
        self.server.query(elsewhere, sql)

    def end_sessions(self) -> None:
        self.do(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
            "datname = current_database() AND pid <> pg_backend_pid()"
        )

    def part(self, folder: Path) -> Path:
        path = folder / "part.db"
        path.unlink(missing_ok=True)
        with sqlite3.connect(path) as store:
            store.execute("CREATE TABLE execution (id, run, job, n, device)")
            store.execute("INSERT INTO execution VALUES ('e', 'run', 'job', 0, 'd1')")
        return path


def sleep_by(monkeypatch: pytest.MonkeyPatch, action: Callable[[], None]) -> None:
    """Does something else where the next try is waited for."""
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: action())
    monkeypatch.setattr(database, "time", clock)


@pytest.fixture
def lab(postgres_server: PostgresServer, tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(postgres_server, tmp_path)
    yield lab
    lab.driver.close()


@pytest.mark.slow
def test_a_job_that_fell_out_of_the_queue_is_queued_again(lab: Lab) -> None:
    first, second = lab.worker("d1"), lab.worker("d2")
    lab.submit()
    # Procrastinate has ended it, as for a task that raised, or a worker that died before that.
    lab.do("UPDATE procrastinate_jobs SET status = 'failed'")
    second.requeue(STALLED_S)
    second.requeue(STALLED_S)
    assert lab.queued() == 1
    # One executes it, and gives signs of life: nobody else does, whatever the queue says.
    assert first.begin(KEY, STALLED_S) is not None
    lab.do("UPDATE procrastinate_jobs SET status = 'failed'")
    second.requeue(STALLED_S)
    assert lab.queued() == 0
    assert second.begin(KEY, STALLED_S) is None
    # It dies, or drops the job.
    lab.age(STALLED_S + 1)
    lab.note(first, "busy", KEY)
    second.requeue(STALLED_S)
    assert lab.queued() == 0
    lab.age(STALLED_S + 1)
    second.requeue(STALLED_S)
    assert lab.queued() == 1
    assert second.begin(KEY, STALLED_S) is not None


@pytest.mark.slow
def test_a_job_that_is_put_back_waits_for_another(lab: Lab) -> None:
    first, second = lab.worker("d1"), lab.worker("d2")
    lab.submit()
    lab.do("UPDATE procrastinate_jobs SET status = 'succeeded'")
    assert first.begin(KEY, STALLED_S) is not None
    second.put_back(KEY, "late")  # It had lost the job to the first meanwhile.
    assert first.state(KEY) == "executing"
    first.put_back(KEY, "the disk is full")
    # Here the database goes away: the sweep of any worker is enough.
    second.requeue(STALLED_S)
    assert lab.queued() == 1
    for _ in range(MOST_EXECUTIONS - 1):
        assert second.begin(KEY, STALLED_S) is not None
        second.put_back(KEY, "the disk is full")
    assert second.begin(KEY, STALLED_S) is None
    lost = lab.driver.answer({"ask": "next", "timeout_s": 0})["next"]
    assert lost["event"] == "lost"
    assert "the disk is full" in lost["why"]
    assert lab.submit() == "lost"
    # One that is taken back is waited for no longer, until it is submitted again.
    lab.submit("other")
    assert lab.driver.answer({"ask": "cancel", "run": "run"}) == {"cancelled": 1}
    told = lab.driver.answer({"ask": "next", "timeout_s": 0})["next"]
    assert (told["event"], told["job"]) == ("cancelled", "other")
    assert lab.driver.answer({"ask": "next", "timeout_s": 0})["next"] is None
    assert lab.submit("other") == "queued"


@pytest.mark.slow
def test_two_workers_of_one_name_do_not_serve(lab: Lab) -> None:
    first, second = lab.worker("d1"), lab.worker("d1")
    lab.note(first)
    with pytest.raises(NameTaken, match="has the name 'd1' already: end it, or name this one"):
        lab.note(second)
    lab.age(60)
    lab.note(second)
    with pytest.raises(NameTaken):
        lab.note(first)
    lab.note(second, "gone")
    lab.note(first)


@pytest.mark.slow
def test_a_database_that_may_only_be_read_is_waited_for(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep_by(monkeypatch, lambda: lab.let_only_read(False))
    worker = lab.worker("d1")
    lab.submit()
    assert worker.begin(KEY, STALLED_S) is not None
    lab.let_only_read(True)
    told: list[str] = []
    retry(lambda: worker.deliver(lab.part(tmp_path)), tell=told.append)
    assert len(told) == 1
    assert "read-only" in told[0]
    lab.let_only_read(True)
    lab.end_sessions()  # The driver's next one may only read.
    assert lab.submit("next") == "queued"
    # A driver that begins now says so, and the next one takes the result in.
    lab.let_only_read(True)
    with pytest.raises(FleetError, match="read-only"):
        Driver({"dsn": lab.url}, lab.folder)
    lab.let_only_read(False)
    resumed = Driver({"dsn": lab.url}, lab.folder)
    request = {"ask": "submit", "queue": "class:c:1", "job": document()}
    assert resumed.answer(request) == {"submission": "followed"}
    done = resumed.answer({"ask": "next", "timeout_s": 0})["next"]
    assert done["event"] == "done"
    assert resumed.answer({"ask": "forget", "part": done["part"]}) == {}
    # Whoever asks for it now has a store without it, such as an older copy.
    assert resumed.answer(request) == {"submission": "lost"}
    resumed.close()


@pytest.mark.slow
def test_lost_sessions_are_made_anew(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    sleep_by(monkeypatch, lambda: None)
    lab.submit()
    lab.end_sessions()
    assert lab.submit("second") == "queued"
    lab.end_sessions()
    assert lab.driver.answer({"ask": "next", "timeout_s": 0})["next"] is None
    assert len(lab.driver.answer({"ask": "queues"})["queues"]) == 1
    assert lab.queued() == 2


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (psycopg.errors.ReadOnlySqlTransaction("standby"), True),
        (psycopg.errors.AdminShutdown("ended"), True),
        (psycopg.errors.DiskFull("full"), True),
        (psycopg.OperationalError("no connection"), True),
        (psycopg.InterfaceError("the connection is closed"), True),
        (psycopg.errors.ProgramLimitExceeded("a part of more than 1 GB"), False),
        (psycopg.errors.UniqueViolation("twice"), False),
        (ValueError("ours"), False),
    ],
)
def test_knows_what_passes(error: Exception, passes: bool) -> None:
    assert is_passing(error) is passes
