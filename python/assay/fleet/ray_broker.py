"""The parts of a fleet that run inside a Ray cluster: its broker, and jobs on devices.

The broker is a detached actor. It owns the tasks, so a driver that dies leaves them running, and it
keeps their parts until a driver has taken them in. All three are sent to the cluster by value: its
head does not need Assay.

A device is a node with one of the resource `assay`, which whatever uses the device takes, and one
each of `device:NAME` and `class:CLASS`, the queues that it serves.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray

from assay.fleet.lines import Document
from assay.fleet.work_command import (
    GONE_AFTER_S,
    MOST_EXECUTIONS,
    UNAVAILABLE,
    WorkCommand,
    die_with_parent,
    last_line,
    part_from,
)
from assay.toolchain.temporary import TemporaryFolder

TOKEN = "assay"
"""The resource of which a device has one."""
DEVICE_VARIABLE = "ASSAY_FLEET_DEVICE"
"""Variable in the environment of a device's node that has the fields of its WorkCommand."""

Key = tuple[str, int]


@dataclass
class Job:
    """One try at a job of a driver."""

    queue: str
    document: Document
    run: str
    expected_ns: int
    state: str = "waiting"  # "executing", "done", "lost", "cancelled".
    device: str = ""
    why: str = ""
    since_unix_s: float = 0
    executions: int = 0
    told: str = ""  # The state and device that the driver knows.
    told_silent: str = ""  # The device of which the driver knows that it gives no sign of life.


@dataclass
class Worker:
    """The last that the worker of a device said, and what was said about it."""

    description: Document
    heartbeat_unix_s: float = 0
    out: str = ""
    drained: str = ""
    is_ending: bool = False
    holders: set[str] = field(default_factory=set)  # Nodes on which a task waits or holds.

    def is_held(self) -> bool:
        """Returns whether it takes no further job."""
        return bool(self.drained) or self.is_ending


class Broker:
    """Keeps the jobs, the devices and the parts of a fleet. The actor `assay-fleet`."""

    def __init__(self, wanted_settings: dict[str, str]) -> None:
        self._birth = time.time_ns()
        self._jobs: dict[Key, Job] = {}
        self._workers: dict[str, Worker] = {}
        self._parts: dict[str, tuple[Key, bytes]] = {}
        self._following: set[asyncio.Task[None]] = set()
        of_node = environment_of(os.getppid())  # Its own has them by its runtime_env.
        self._missing = [name for name in wanted_settings if name not in of_node]

    # ---- for drivers

    async def facts(self) -> Document:
        """Identifies the broker, and lists settings that its node was started without."""
        return {"birth": self._birth, "missing_settings": self._missing}

    async def submit(self, queue: str, document: Document) -> str:
        """Queues a try at a job; returns whether it was known: "queued", "followed", "lost".

        A result that was taken in, and is not in the store of this driver, is lost for it.
        """
        key = (document["job"], document["n"])
        job = self._jobs.get(key)
        has_part = any(key == own for own, _ in self._parts.values())
        if job is not None and (job.state == "lost" or (job.state == "done" and not has_part)):
            return "lost"
        if job is not None and job.state != "cancelled":
            job.told, job.told_silent = "", ""
            return "followed"
        self._jobs[key] = Job(queue, document, document["run"]["id"], document["expected_ns"])
        self._follow(key)
        return "queued"

    async def next(self, runs: list[str]) -> Document | None:
        """The next event of these runs, with the bytes of a part."""
        for execution, (key, part) in self._parts.items():
            if self._jobs[key].run in runs:
                about = {"job": key[0], "n": key[1], "execution": execution}
                return {"event": "done", **about, "bytes": part}
        for (name, n), job in self._jobs.items():
            told = job.state + job.device
            is_news = job.state in ("executing", "lost", "cancelled") and job.told != told
            if job.run in runs and is_news:
                job.told = told
                event = "started" if job.state == "executing" else job.state
                return {"event": event, "job": name, "n": n, "device": job.device, "why": job.why}
            if job.run in runs and job.state == "executing" and job.told_silent != job.device:
                silence = self._silence_of(job.device)
                if silence > GONE_AFTER_S:
                    job.told_silent = job.device
                    why = f"no sign of life for {silence:.0f} s"
                    about = {"job": name, "n": n, "device": job.device, "why": why}
                    return {"event": "silent", **about}
        return None

    async def forget(self, execution: str) -> None:
        """The part was taken in."""
        self._parts.pop(execution, None)

    async def cancel(self, run: str) -> int:
        """Takes the jobs of a run back; tasks look before they begin, and while they execute."""
        open_jobs = [job for job in self._open_jobs() if job.run == run]
        for job in open_jobs:
            job.state = "cancelled"
        return len(open_jobs)

    async def queues(self) -> list[Document]:
        """Counts the jobs of each run that wait and that are executed.

        What a new case takes is not known: its job counts as the others do on average.
        """
        found: dict[str, Document] = {}
        known: dict[str, list[int]] = {}
        for job in self._open_jobs():
            empty = {"run": job.run, "waiting": 0, "executing": 0, "expected_ns": 0}
            queue = found.setdefault(job.run, empty)
            queue[job.state] += 1
            known.setdefault(job.run, []).extend([job.expected_ns] if job.expected_ns else [])
        for run, queue in found.items():
            if times := known[run]:
                jobs = queue["waiting"] + queue["executing"]
                queue["expected_ns"] = sum(times) * jobs // len(times)
        return [found[run] for run in sorted(found)]

    async def drain(self, device: str, reason: str) -> bool:
        """Lets a device take no further job, or with no reason go on; False: not known."""
        worker = self._workers.get(device)
        if worker is None:
            return False
        worker.drained = reason
        self._hold(device)
        return True

    async def workers(self) -> list[Document]:
        """All devices that were ever announced."""
        return [self._status(name) for name in sorted(self._workers)]

    # ---- for workers

    async def announce(self, device: str, description: Document) -> Document:
        """A sign of life; returns why the device was `out`, or empty, and its current `job`."""
        worker = self._workers.setdefault(device, Worker(description))
        worker.description = description
        worker.heartbeat_unix_s = time.time()
        worker.is_ending = False
        self._hold(device)  # Its node may be a new one.
        return {"out": worker.out, "job": self._status(device)["job"]}

    async def finish(self, device: str) -> bool:
        """The worker is to end: the device takes no further job. Returns whether it is free."""
        self._workers[device].is_ending = True
        self._hold(device)
        return bool(self._status(device)["state"] != "busy")

    async def leave(self, device: str) -> None:
        """The worker has ended."""
        self._workers[device].heartbeat_unix_s = 0

    async def put_in(self, device: str) -> None:
        """Notes that the device works again."""
        self._workers[device].out = ""

    # ---- for tasks

    async def begin(self, key: Key, device: str) -> bool:
        """True if the job is still wanted, at most so many times."""
        job = self._jobs[key]
        if job.state not in ("waiting", "executing"):
            return False
        if job.executions >= MOST_EXECUTIONS:
            job.state = "lost"
            job.why = f"{job.executions} executions began and did not end"
            return False
        job.executions += 1
        job.state, job.device, job.since_unix_s = "executing", device, time.time()
        return True

    async def is_wanted(self, key: Key) -> bool:
        """True if an execution should go on."""
        return self._jobs[key].state != "cancelled"

    async def put_out(self, key: Key, device: str, why: str) -> None:
        """The device could not execute: another one does, and its task keeps the device."""
        self._workers[device].out = why
        job = self._jobs[key]
        if job.state == "executing":
            job.state, job.device, job.why = "waiting", "", why
            self._follow(key)

    async def is_held(self, device: str, holder: str) -> bool:
        """True if a task is to keep the device from others."""
        worker = self._workers[device]
        if holder == "out":
            return bool(worker.out)
        if not worker.is_held():
            worker.holders.discard(holder)
            return False
        return True

    # ---- inside

    def _open_jobs(self) -> list[Job]:
        return [job for job in self._jobs.values() if job.state in ("waiting", "executing")]

    def _silence_of(self, device: str) -> float:
        """Seconds since the worker of a device said something."""
        worker = self._workers.get(device)
        return time.time() - worker.heartbeat_unix_s if worker is not None else 0

    def _status(self, device: str) -> Document:
        worker = self._workers[device]
        at_hand = [
            job for job in self._jobs.values() if job.state == "executing" and job.device == device
        ]
        state, reason = ("busy", "") if at_hand else ("idle", "")
        silence = self._silence_of(device)
        if silence > GONE_AFTER_S:
            reason = f"no sign of life for {silence:.0f} s"
            reason += f", while it executed {at_hand[0].document['label']}" if at_hand else ""
            state = "gone"
            if not worker.heartbeat_unix_s:
                reason = "its worker has ended"
        elif worker.out:
            state, reason = "out", worker.out
        elif worker.drained and not at_hand:
            state, reason = "draining", worker.drained
        is_busy = state == "busy"
        return {
            **worker.description,
            "state": state,
            "reason": reason,
            "job": at_hand[0].document["label"] if is_busy else "",
            "job_since_unix_ns": int(at_hand[0].since_unix_s * 1e9) if is_busy else 0,
            "heartbeat_unix_ns": int(worker.heartbeat_unix_s * 1e9),
        }

    def _follow(self, key: Key) -> None:
        self._keep(self._execute(key))

    def _keep(self, coroutine: Any) -> None:
        """The event loop itself keeps no reference to what it runs."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self._following.add(task)
        task.add_done_callback(self._following.discard)

    async def _execute(self, key: Key) -> None:
        """Has Ray execute a job, again where the device's node dies, and keeps what comes of it."""
        job = self._jobs[key]
        options = {
            "resources": {TOKEN: 1, job.queue: 1},
            "num_cpus": 0,
            "max_retries": MOST_EXECUTIONS,
            "name": job.document["label"],
        }
        me = ray.get_runtime_context().current_actor
        try:
            execution, part, why = (
                await ray.remote(execute).options(**options).remote(me, job.document)
            )
        except ray.exceptions.RayError as error:
            execution, part, why = "", b"", last_line(str(error))
        if execution:
            self._parts[execution] = (key, part)
            job.state, job.document = "done", {}
        elif why and job.state != "cancelled":
            job.state, job.why = "lost", why

    def _hold(self, device: str) -> None:
        worker = self._workers[device]
        node = str(worker.description.get("node", ""))
        if worker.is_held() and node not in worker.holders:
            worker.holders.add(node)
            self._keep(self._wait_for_holder(device, node))

    async def _wait_for_holder(self, device: str, node: str) -> None:
        """Occupies a drained device with a task; one whose node dies is not made again."""
        options = {
            "resources": {TOKEN: 1, f"device:{device}": 1},
            "num_cpus": 0,
            "max_retries": 0,
            "name": f"drained: {device}",
        }
        me = ray.get_runtime_context().current_actor
        try:
            await ray.remote(hold).options(**options).remote(me, device, node)
        except ray.exceptions.RayError:
            self._workers[device].holders.discard(node)


def environment_of(pid: int) -> set[str]:
    """Names of the variables that a process was started with."""
    items = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    return {item.split(b"=")[0].decode(errors="replace") for item in items}


def execute(broker: Any, document: Document) -> tuple[str, bytes, str]:
    """A task: executes a job on the device of its node.

    Returns the id of the execution and its part, or empty ones and why the job is lost; nothing at
    all where nobody wants it any more, or where the broker has given it to another device.
    """
    command = WorkCommand(**json.loads(os.environ[DEVICE_VARIABLE]))
    key = (document["job"], document["n"])
    if not ray.get(broker.begin.remote(key, command.name)):
        return "", b"", ""
    try:
        with TemporaryFolder("job") as folder:
            code, out, err = _run(command.execute(document, folder), broker, document)
            if code == 0:
                return _read_part(part_from(out))
        why = last_line(err) or f"assay work ended with exit code {code}"
    except (OSError, ValueError, sqlite3.Error) as error:  # A full disk, an `assay` that is gone.
        code, why = UNAVAILABLE, f"{type(error).__name__}: {error}"
    if code != UNAVAILABLE:
        return "", b"", why
    ray.get(broker.put_out.remote(key, command.name, why))
    hold(broker, command.name, "out")
    return "", b"", ""


def hold(broker: Any, device: str, holder: str) -> None:
    """A task: keeps a device from jobs as long as it is out or drained."""
    while ray.get(broker.is_held.remote(device, holder)):
        time.sleep(1)


def _run(command: list[str], broker: Any, document: Document) -> tuple[int, str, str]:
    """Runs `assay work`; stops it where its job was cancelled or takes too long."""
    key = (document["job"], document["n"])
    limit_s = document["deadline_ns"] / 1e9 or float("inf")
    begin = time.monotonic()
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        preexec_fn=die_with_parent,
    ) as process:
        while True:
            try:
                out, err = process.communicate(timeout=1)
                return process.returncode, out, err
            except subprocess.TimeoutExpired:
                is_late = time.monotonic() - begin > limit_s
                if is_late or not ray.get(broker.is_wanted.remote(key)):
                    return _stop(process)


def _stop(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.terminate()
    try:
        out, err = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    return process.returncode or 1, out, err


def _read_part(part: Path) -> tuple[str, bytes, str]:
    with contextlib.closing(sqlite3.connect(f"file:{part}?mode=ro", uri=True)) as store:
        (execution,) = store.execute("SELECT id FROM execution").fetchone()
    return execution, part.read_bytes(), ""
