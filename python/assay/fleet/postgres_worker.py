"""The worker of one device on Procrastinate: `python -m assay.fleet.postgres_worker OPTIONS`.

`assay work --executor` starts it. It takes one job at a time, has `assay work --job` execute it,
and delivers the part in the transaction that ends the job. A worker that dies is noticed by the
others, which take its job. One that loses the database goes on, and delivers when it is back: late
perhaps, which the store of the driver notices.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import socket
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from assay.fleet.database import (
    TASK,
    again,
    checked_dsn,
    defer_job,
    make_app,
    prepare_database,
    procrastinate,
    psycopg,
)
from assay.fleet.lines import Document, FleetError
from assay.fleet.work_command import (
    CHECK_S,
    HEARTBEAT_S,
    MOST_EXECUTIONS,
    UNAVAILABLE,
    WorkCommand,
    die_with_parent,
    last_line,
    log,
    of_job,
    welcome,
)

T = TypeVar("T")

STALLED_AFTER_S = 15


@dataclass
class Device:
    """The device of the worker, and how it does."""

    name: str
    command: WorkCommand
    description: Document = field(default_factory=dict)
    out: str = ""  # Why it takes no jobs; empty: it does.
    drained: str = ""
    job: str = ""  # Label of what it executes.


class Worker:
    """Serves the queues of one device."""

    def __init__(self, dsn: str, device: Device) -> None:
        self._dsn = dsn
        self._device = device
        self._stops = asyncio.Event()
        self._wakes = asyncio.Event()  # The device went out, came in, or was drained.
        self._running: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._free = asyncio.Lock()

    async def run(self) -> None:
        """Works until a signal asks it to stop; the job at hand is finished then."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stops.set)
        await self._check_device()
        if not self._device.out:
            self._log(welcome(self._device.description, "PostgreSQL"))
        beating = asyncio.create_task(self._beat())
        while not self._stops.is_set():
            if self._takes_jobs():
                await self._serve()
            else:
                await self._wait_until_well()
        self._log("takes no further job" if self._running else "ends")
        if self._running:
            await asyncio.wait(self._running.values())
            self._log("ends")
        beating.cancel()
        await self._in_thread(lambda: self._note("gone"), patience_s=5)

    def _log(self, text: str) -> None:
        log(self._device.name, text)

    # ---- the device

    def _takes_jobs(self) -> bool:
        return not self._device.out and not self._device.drained

    async def _check_device(self) -> None:
        """Asks the device what it is; one that cannot tell is out."""
        code, out, err = await self._run(self._device.command.describe())
        if code == 0:
            self._device.description = json.loads(out)
            self._put_out("")
        else:
            self._put_out(last_line(err) or f"assay work --describe ended with {code}")

    async def _wait_until_well(self) -> None:
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._next_wake(), CHECK_S)
        if self._device.out and not self._stops.is_set():
            await self._check_device()

    async def _next_wake(self) -> None:
        waits = [asyncio.create_task(one.wait()) for one in (self._stops, self._wakes)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._wakes.clear()
            for one in waits:
                one.cancel()

    def _put_out(self, reason: str) -> None:
        if reason != self._device.out:
            self._log(reason or "is well")
            self._device.out = reason
            self._wakes.set()

    # ---- the queue

    async def _serve(self) -> None:
        """Takes jobs until the device takes none, or the database is gone for a moment."""
        app = make_app(procrastinate.PsycopgConnector(conninfo=self._dsn))
        app.task(name=TASK)(self._task)
        queues = [f"device:{self._device.name}"]
        queues.append(f"class:{self._device.description['environment']['device_class']}")
        try:
            async with app.open_async():
                serving = asyncio.create_task(
                    app.run_worker_async(
                        queues=queues,
                        concurrency=1,
                        name=self._device.name,
                        install_signal_handlers=False,
                        fetch_job_polling_interval=1,
                        update_heartbeat_interval=HEARTBEAT_S,
                        stalled_worker_timeout=STALLED_AFTER_S,
                    )
                )
                waking = asyncio.create_task(self._next_wake())
                retrying = asyncio.create_task(self._retry_stalled(app))
                await asyncio.wait((serving, waking), return_when=asyncio.FIRST_COMPLETED)
                for task in (waking, retrying, serving):
                    task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await serving
        except (psycopg.Error, procrastinate.exceptions.ProcrastinateException, OSError) as error:
            self._log(f"PostgreSQL: {error}; trying again")
            await asyncio.sleep(1)

    async def _task(self, job: str, n: int) -> None:
        """Waits for the execution, which goes on where Procrastinate gives this task up."""
        key = (job, n)
        if key not in self._running:
            self._running[key] = asyncio.create_task(self._execute_alone(job, n))
            self._running[key].add_done_callback(lambda _: self._running.pop(key, None))
        await asyncio.shield(self._running[key])

    async def _retry_stalled(self, app: Any) -> None:
        """Gives the jobs of workers that died to others."""
        manager = app.job_manager
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            with contextlib.suppress(procrastinate.exceptions.ProcrastinateException):
                for job in await manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_AFTER_S):
                    await manager.retry_job(job)

    # ---- one job

    async def _execute_alone(self, job: str, n: int) -> None:
        async with self._free:
            found = await self._in_thread(lambda: self._begin(job, n))
            if found is None:
                return
            self._device.job = found["label"]
            self._log(f"executes {of_job(found)}")
            try:
                await self._execute(found)
            finally:
                self._device.job = ""

    async def _execute(self, document: Document) -> None:
        job, n = document["job"], document["n"]
        with tempfile.TemporaryDirectory(prefix="assay-job-") as name:
            command = self._device.command.execute(document, Path(name))
            limit_s = document["deadline_ns"] / 1e9 or None
            code, out, err = await self._run(command, key=(job, n), limit_s=limit_s)
            if code == 0:
                part = Path(out.strip().splitlines()[-1])
                # A database that is away for hours gets the part when it is back.
                await self._in_thread(lambda: self._deliver(part), patience_s=24 * 3600)
                self._log(f"has delivered {document['label']}")
                return
        why = last_line(err) or f"assay work ended with exit code {code}"
        self._log(f"could not execute {document['label']}: {why}")
        if code == UNAVAILABLE:
            self._put_out(why)
        is_elsewhere = code == UNAVAILABLE
        await self._in_thread(lambda: self._give_up(job, n, why, is_elsewhere=is_elsewhere))

    async def _run(
        self,
        command: list[str],
        *,
        key: tuple[str, int] | None = None,
        limit_s: float | None = None,
    ) -> tuple[int, str, str]:
        """Runs `assay`, which ends with this process; stops it where the job was cancelled."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            preexec_fn=die_with_parent,
        )
        watching = asyncio.create_task(self._watch(process, key, limit_s))
        out, err = await process.communicate()
        watching.cancel()
        return process.returncode or 0, out.decode(), err.decode(errors="replace")

    async def _watch(
        self,
        process: asyncio.subprocess.Process,
        key: tuple[str, int] | None,
        limit_s: float | None,
    ) -> None:
        begin = time.monotonic()
        while True:
            await asyncio.sleep(1)
            is_late = limit_s is not None and time.monotonic() - begin > limit_s
            if is_late or (key is not None and await self._is_cancelled(key)):
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(10)
                process.kill()

    async def _is_cancelled(self, key: tuple[str, int]) -> bool:
        try:
            state = await self._in_thread(lambda: self._state(*key), patience_s=0)
        except FleetError:
            return False
        return state == "cancelled"

    # ---- the database, each in one transaction

    async def _in_thread(self, action: Callable[[], T], patience_s: float = 240) -> T:
        return await asyncio.to_thread(again, action, patience_s)

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(self._dsn)

    def _state(self, job: str, n: int) -> str:
        with self._connect() as connection:
            row = connection.execute(
                "SELECT state FROM assay_fleet.job WHERE job = %s AND n = %s", (job, n)
            ).fetchone()
        return "" if row is None else str(row[0])

    def _begin(self, job: str, n: int) -> Document | None:
        """The job's document; None where nobody wants it any more."""
        with self._connect() as connection:
            row = connection.execute(
                "SELECT state, executions, document FROM assay_fleet.job WHERE job = %s AND "
                "n = %s FOR UPDATE",
                (job, n),
            ).fetchone()
            if row is None or row[0] in ("done", "cancelled", "lost"):
                return None
            if row[1] >= MOST_EXECUTIONS:
                why = f"{row[1]} executions began and did not end, the last one elsewhere"
                connection.execute(_LOST, (why, job, n))
                return None
            connection.execute(
                "UPDATE assay_fleet.job SET state = 'executing', device = %s, "
                "executions = executions + 1 WHERE job = %s AND n = %s",
                (self._device.name, job, n),
            )
            document: Document = json.loads(row[2])
            return document

    def _deliver(self, part: Path) -> None:
        with contextlib.closing(sqlite3.connect(f"file:{part}?mode=ro", uri=True)) as store:
            execution = store.execute("SELECT id, run, job, n, device FROM execution").fetchone()
        with self._connect() as connection:
            connection.execute(
                "INSERT INTO assay_fleet.part (execution, run, job, n, device, bytes) "
                "VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                (*execution, part.read_bytes()),
            )
            connection.execute(
                "UPDATE assay_fleet.job SET state = 'done', device = %s WHERE job = %s AND n = %s",
                (execution[4], *execution[2:4]),
            )

    def _give_up(self, job: str, n: int, why: str, *, is_elsewhere: bool) -> None:
        """Puts the job back for another device, or calls this try lost."""
        with self._connect() as connection:
            if not is_elsewhere:
                connection.execute(_LOST, (why, job, n))
                return
            row = connection.execute(
                "UPDATE assay_fleet.job SET state = 'waiting', why = %s WHERE job = %s AND "
                "n = %s AND state = 'executing' RETURNING queue",
                (why, job, n),
            ).fetchone()
        if row is not None:
            app = make_app(procrastinate.SyncPsycopgConnector(conninfo=self._dsn))
            with app.open():
                defer_job(app, row[0], job, n)

    async def _beat(self) -> None:
        """Says that it lives, and reads whether it was drained."""
        while True:
            with contextlib.suppress(FleetError):
                drained = await self._in_thread(self._note, patience_s=0)
                if drained != self._device.drained:
                    self._device.drained = drained
                    self._wakes.set()
            await asyncio.sleep(HEARTBEAT_S if self._device.job == "" else 1)

    def _note(self, state: str = "") -> str:
        device = self._device
        state = state or ("busy" if device.job else "out" if device.out else "idle")
        never_asked = {"schema": "assay/fleet-worker/1", "device": device.name}
        description = device.description or never_asked
        with self._connect() as connection:
            row = connection.execute(
                _NOTE,
                {
                    "device": device.name,
                    "host": socket.gethostname(),
                    "description": json.dumps(description),
                    "state": state,
                    "reason": device.out,
                    "job": device.job,
                },
            ).fetchone()
        return "" if row is None else str(row[0])


_LOST = """
UPDATE assay_fleet.job SET state = 'lost', why = %s WHERE job = %s AND n = %s AND
state NOT IN ('done', 'cancelled')
"""

_NOTE = """
INSERT INTO assay_fleet.worker AS old (device, host, description, state, reason, job)
VALUES (%(device)s, %(host)s, %(description)s, %(state)s, %(reason)s, %(job)s)
ON CONFLICT (device) DO UPDATE SET host = excluded.host,
  description = CASE WHEN excluded.state = 'out' THEN old.description
                     ELSE excluded.description END,
  state = excluded.state, reason = excluded.reason, job = excluded.job,
  job_since = CASE WHEN excluded.job = old.job THEN old.job_since ELSE now() END,
  heartbeat = now()
RETURNING drained
"""


def main() -> None:
    """Serves a device until it is stopped."""
    options: dict[str, Any] = json.loads(sys.argv[1])
    try:
        dsn = checked_dsn(options["entry"])
        again(lambda: prepare_database(dsn))
    except FleetError as error:
        raise SystemExit(f"assay: {error}") from error
    command = WorkCommand.from_options(options)
    device = Device(name=command.name, command=command)

    # They tell several times a second that the database is away; Worker says it.
    for name in ("psycopg.pool", "procrastinate"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    async def work() -> None:
        await Worker(dsn, device).run()

    asyncio.run(work())


if __name__ == "__main__":
    main()
