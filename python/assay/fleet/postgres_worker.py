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
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from assay.fleet.database import (
    TASK,
    checked_dsn,
    make_app,
    prepare_database,
    procrastinate,
    retry,
    text_of,
)
from assay.fleet.lines import Document, FleetError
from assay.fleet.postgres_jobs import Jobs, Key, NameTaken
from assay.fleet.work_command import (
    CHECK_S,
    GONE_AFTER_S,
    HEARTBEAT_S,
    INTERRUPTED,
    UNAVAILABLE,
    WorkCommand,
    check_disk,
    die_with_parent,
    last_line,
    log,
    of_job,
    part_from,
    welcome,
)
from assay.toolchain.temporary import TemporaryFolder

T = TypeVar("T")

STALLED_AFTER_S = 15
COMPLAINT_S = 60


@dataclass
class Device:
    """The device of the worker, and how it does."""

    name: str
    command: WorkCommand
    description: Document = field(default_factory=dict)
    out: str = ""  # Why it takes no jobs; empty: it does.
    drained: str = ""
    rival: str = ""  # Another worker has its name.
    job: str = ""  # Label of what it executes.
    key: Key | None = None


class Worker:
    """Serves the queues of one device."""

    def __init__(self, dsn: str, device: Device) -> None:
        self._dsn = dsn
        self._device = device
        self._jobs = Jobs(dsn, device.name)
        self._complained: dict[str, float] = {}
        self._stops = asyncio.Event()
        self._wakes = asyncio.Event()  # The device went out, came in, or was drained.
        self._running: dict[Key, asyncio.Task[None]] = {}
        self._free = asyncio.Lock()

    async def run(self) -> None:
        """Works until a signal asks it to stop; the current job is finished then."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stops.set)
        await self._check_device()
        await self._take_name()
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
        with contextlib.suppress(FleetError):
            await self._in_thread(lambda: self._note("gone"), patience_s=5)

    def _log(self, text: str) -> None:
        log(self._device.name, text)

    def _complain(self, text: str) -> None:
        """Logs what is tried again every second, once a minute."""
        now = time.monotonic()
        if now - self._complained.get(text, -COMPLAINT_S) >= COMPLAINT_S:
            self._complained[text] = now
            self._log(text)

    # ---- the device

    async def _take_name(self) -> None:
        """One that was killed a moment ago is gone soon. Raises: NameTaken."""
        end = time.monotonic() + GONE_AFTER_S + 1
        while True:
            try:
                await self._in_thread(self._note)
                return
            except NameTaken:
                if time.monotonic() > end or self._stops.is_set():
                    raise
            await asyncio.sleep(0.5)

    def _takes_jobs(self) -> bool:
        return not self._device.out and not self._device.drained and not self._device.rival

    async def _check_device(self) -> None:
        """Asks the device what it is; one that cannot tell, or has no room on its disk, is out."""
        try:
            check_disk()
            code, out, err = await self._run(self._device.command.describe())
            why = last_line(err) or f"assay work --describe ended with {code}"
            if code == 0:
                description: Document = json.loads(out)
                description["environment"]["device_class"]
                self._device.description, why = description, ""
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        self._put_out(why)

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
        app = make_app(procrastinate.PsycopgConnector(conninfo=self._dsn, min_size=1, timeout=5))
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
                    )
                )
                waking = asyncio.create_task(self._next_wake())
                sweeping = asyncio.create_task(self._sweep(app))
                await asyncio.wait((serving, waking), return_when=asyncio.FIRST_COMPLETED)
                for task in (waking, sweeping, serving):
                    task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await serving
        except Exception as error:
            self._complain(f"{text_of(error)}; trying again")
            await asyncio.sleep(1)

    async def _task(self, job: str, n: int) -> None:
        """Waits for the execution, which goes on where Procrastinate gives this task up."""
        key = (job, n)
        if key not in self._running:
            self._running[key] = asyncio.create_task(self._execute_alone(key))
            self._running[key].add_done_callback(lambda _: self._running.pop(key, None))
        await asyncio.shield(self._running[key])

    async def _sweep(self, app: Any) -> None:
        """Gives the jobs of workers that died to others, and queues what fell out of the queue.

        Where the database was away, workers are given time to say that they live.
        """
        await asyncio.sleep(GONE_AFTER_S)
        while True:
            try:
                await self._in_thread(lambda: self._jobs.requeue(STALLED_AFTER_S), patience_s=0)
                await self._forget_stalled(app.job_manager)
            except Exception as error:
                self._complain(f"{text_of(error)}; trying again")
            await asyncio.sleep(HEARTBEAT_S)

    async def _forget_stalled(self, manager: Any) -> None:
        """Ends what Procrastinate has of workers that are gone: the tables say what is open."""
        failed = procrastinate.jobs.Status.FAILED
        for stalled in await manager.get_stalled_jobs(
            task_name=TASK, seconds_since_heartbeat=STALLED_AFTER_S
        ):
            key = (stalled.task_kwargs["job"], stalled.task_kwargs["n"])
            if key not in self._running:
                await manager.finish_job_by_id_async(stalled.id, failed, delete_job=False)

    # ---- one job

    async def _execute_alone(self, key: Key) -> None:
        """Executes a job, and gives it back where that goes wrong, whatever the reason."""
        async with self._free:
            label = key[0]
            try:
                found = await self._in_thread(lambda: self._jobs.begin(key, STALLED_AFTER_S))
                if found is None:
                    return
                label = found["label"]
                self._device.job, self._device.key = label, key
                self._log(f"executes {of_job(found)}")
                await self._execute(key, found)
            except Exception as error:
                await self._recover(key, label, error)
            finally:
                self._device.job, self._device.key = "", None

    async def _recover(self, key: Key, label: str, error: Exception) -> None:
        """The worker itself failed: a full disk, an `assay` that is being replaced, or a fault."""
        why = f"{type(error).__name__}: {error}"
        if isinstance(error, FleetError):  # The database, which says nothing about the device.
            why = str(error)
        self._log(f"could not execute {label}: {why}")
        if not isinstance(error, FleetError):
            self._put_out(why)
        try:
            await self._in_thread(lambda: self._jobs.put_back(key, why))
            await self._in_thread(lambda: self._jobs.requeue(STALLED_AFTER_S))
        except Exception as error:
            self._log(f"cannot give it back: {error}; a worker takes it when it sees that")

    async def _execute(self, key: Key, document: Document) -> None:
        with TemporaryFolder("job") as folder:
            command = self._device.command.execute(document, folder)
            limit_s = document["deadline_ns"] / 1e9 or None
            begin = time.monotonic()
            code, out, err = await self._run(command, key=key, limit_s=limit_s)
            is_late = limit_s is not None and time.monotonic() - begin > limit_s
            if code == 0:
                part = part_from(out)
                # A database that is away for hours gets the part when it is back.
                await self._in_thread(lambda: self._jobs.deliver(part), patience_s=24 * 3600)
                self._log(f"has delivered {document['label']}")
                return
        why = last_line(err) or f"assay work ended with exit code {code}"
        self._log(f"could not execute {document['label']}: {why}")
        # A service manager that stops this worker signals both, which says nothing of the job.
        is_interrupted = code == INTERRUPTED and not is_late
        if code != UNAVAILABLE and not is_interrupted:
            await self._in_thread(lambda: self._jobs.call_lost(key, why))
            return
        if not is_interrupted:
            self._put_out(why)
        await self._in_thread(lambda: self._jobs.put_back(key, why))
        await self._in_thread(lambda: self._jobs.requeue(STALLED_AFTER_S))

    async def _run(
        self, command: list[str], *, key: Key | None = None, limit_s: float | None = None
    ) -> tuple[int, str, str]:
        """Runs `assay`, which ends with this process; stops it where the job was cancelled."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,  # Control-C lets the current job end.
            preexec_fn=die_with_parent,
        )
        watching = asyncio.create_task(self._watch(process, key, limit_s))
        try:
            out, err = await process.communicate()
        finally:
            watching.cancel()
        return process.returncode or 0, out.decode(errors="replace"), err.decode(errors="replace")

    async def _watch(
        self, process: asyncio.subprocess.Process, key: Key | None, limit_s: float | None
    ) -> None:
        begin = time.monotonic()
        while True:
            await asyncio.sleep(1)
            is_late = limit_s is not None and time.monotonic() - begin > limit_s
            if is_late or (key is not None and await self._is_cancelled(key)):
                process.send_signal(signal.SIGTERM)
                await asyncio.sleep(10)
                process.kill()

    async def _is_cancelled(self, key: Key) -> bool:
        try:
            state = await self._in_thread(lambda: self._jobs.state(key), patience_s=0)
        except Exception:
            return False  # It is asked again in a second.
        return state == "cancelled"

    # ---- the database

    async def _in_thread(self, action: Callable[[], T], patience_s: float = 240) -> T:
        return await asyncio.to_thread(retry, action, patience_s, self._complain)

    async def _beat(self) -> None:
        """Says that it lives, and reads whether it was drained."""
        while True:
            try:
                drained, rival = await self._in_thread(self._note, patience_s=0), ""
            except NameTaken as error:
                drained, rival = self._device.drained, str(error)
                self._complain(rival)
            except Exception as error:
                drained, rival = self._device.drained, self._device.rival
                self._complain(text_of(error))
            if (drained, rival) != (self._device.drained, self._device.rival):
                self._device.drained, self._device.rival = drained, rival
                self._wakes.set()
            await asyncio.sleep(HEARTBEAT_S)

    def _note(self, state: str = "") -> str:
        device = self._device
        state = state or ("busy" if device.job else "out" if device.out else "idle")
        never_asked = {"schema": "assay/fleet-worker/1", "device": device.name}
        about = {"state": state, "reason": device.out, "job": device.job}
        return self._jobs.note(about, device.description or never_asked, device.key)


def main() -> None:
    """Serves a device until it is stopped."""
    options: dict[str, Any] = json.loads(sys.argv[1])
    try:
        dsn = checked_dsn(options["entry"])
        retry(lambda: prepare_database(dsn), tell=lambda why: log(options["name"], why))
    except FleetError as error:
        raise SystemExit(f"assay: {error}") from error
    command = WorkCommand.from_options(options)
    device = Device(name=command.name, command=command)

    # They tell several times a second that the database is away; Worker says it.
    for name in ("psycopg.pool", "procrastinate"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    async def work() -> None:
        await Worker(dsn, device).run()

    try:
        asyncio.run(work())
    except FleetError as error:
        raise SystemExit(f"assay: {error}") from error


if __name__ == "__main__":
    main()
