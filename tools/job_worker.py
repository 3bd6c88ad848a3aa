#!/usr/bin/env python3
"""Executes the jobs of a folder on this machine: the device's side of `--device folder:DIR`.

    python tools/job_worker.py DIR --runner build/release/bin/assay-runner-fake

Describes the machine and its runners in DIR/device.json, then takes one job after the other. It
uses Python's standard library only and is a template for a worker in an app: docs/contracts/jobs.md
says what each file holds, docs/guide/farms.md what differs on a phone.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

Document = dict[str, Any]

JOB_SCHEMA = "assay/job/1"
TRIES = 2
"""Most starts of a job whose worker ends before it answers."""


class Refused(Exception):
    """A job that this worker does not execute; `code` is a name of Assay's error codes."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def digest_of(file: Path) -> str:
    """SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_whole(file: Path, document: Document) -> None:
    """Writes a document so that a reader never sees a part of it."""
    part = file.with_name(f".{file.name}.{os.getpid()}")
    part.write_text(json.dumps(document, indent=2) + "\n")
    part.replace(file)


def describe_machine() -> Document:
    """The environment of device.json; an app fills it from its system's calls."""
    system, machine = platform.system().lower(), platform.machine()
    cpus = os.cpu_count() or 1
    return {
        "device_class": f"{system}-{machine}:jobs:{cpus}cpu",
        "cpu_model": platform.processor() or machine,
        "cpus": cpus,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "os": platform.platform(terse=True),
    }


def find_runners(runners: list[Path]) -> dict[str, tuple[Path, Document]]:
    """Runners with their descriptions, by reference: "fake@1"."""
    found = {}
    for runner in runners:
        told = subprocess.run([runner, "--describe"], capture_output=True, check=True, timeout=60)
        description = json.loads(told.stdout)
        found[f"{description['name']}@{description['version']}"] = (runner.resolve(), description)
    return found


class Worker:
    """Takes jobs from a folder, one at a time."""

    def __init__(self, root: Path, runners: list[Path], heartbeat_s: float) -> None:
        self.root = root
        self.runners = find_runners(runners)
        self.heartbeat_s = heartbeat_s
        self.make_folders()

    def make_folders(self) -> None:
        """Makes what is not there, as at the start and after a release by a host."""
        for name in ("jobs", "claimed", "answers", "blobs"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    def describe(self, device_class: str, claimed_within: str, answered_within: str) -> None:
        """Writes device.json, which hosts wait for."""
        environment = describe_machine()
        document = {
            "schema": "assay/job-device/1",
            "environment": {
                **environment,
                **({"device_class": device_class} if device_class else {}),
            },
            "engines": [description for _, description in self.runners.values()],
            "claimed_within": claimed_within,
            "answered_within": answered_within,
            "heartbeat": f"{round(self.heartbeat_s * 1000)}ms",
        }
        write_whole(self.root / "device.json", document)

    def give_back_own(self) -> None:
        """Puts jobs back that an earlier worker began and did not answer."""
        for job in sorted((self.root / "claimed").iterdir()):
            if not job.name.startswith("."):
                with contextlib.suppress(FileNotFoundError):
                    job.rename(self.root / "jobs" / job.name)

    def claim_next(self) -> Path | None:
        """The oldest job, as this worker's own; None: there is none."""
        jobs = self.root / "jobs"
        if not jobs.is_dir():  # A host released the device; the next one makes the folder.
            return None
        self.make_folders()
        for job in sorted(jobs.iterdir()):
            if job.name.startswith("."):
                continue
            claimed = self.root / "claimed" / job.name
            # Another worker, or the host that wants it no more, may have been quicker.
            with contextlib.suppress(FileNotFoundError):
                job.rename(claimed)
                return claimed
        return None

    def execute(self, claimed: Path) -> None:
        """Executes a claimed job and puts its answer there."""
        with tempfile.TemporaryDirectory(prefix="assay-job-") as folder, self.alive(claimed):
            work, answer = Path(folder), self.root / "answers" / f".{claimed.name}.{os.getpid()}"
            answer.mkdir(parents=True, exist_ok=True)
            document: Document = {"schema": "assay/job-answer/1", "job": claimed.name}
            try:
                document.update(self.run(claimed, work, answer / "output"))
            except Refused as refused:
                document["error"] = {"code": refused.code, "message": str(refused)}
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                message = f"job.json is not as it must be: {type(error).__name__}: {error}"
                document["error"] = {"code": "corrupt", "message": message}
            except OSError as error:  # Also of a job that was withdrawn: then nobody reads it.
                document["error"] = {"code": "unavailable", "message": str(error)}
            with contextlib.suppress(FileNotFoundError):
                write_whole(answer / "answer.json", document)
        self.hand_over(claimed, answer)

    def hand_over(self, claimed: Path, answer: Path) -> None:
        """Shows the answer, unless the host wants it no more: then the job is gone."""
        done = claimed.with_name(f".{claimed.name}")
        with contextlib.suppress(OSError):
            claimed.rename(done)
            answer.rename(self.root / "answers" / claimed.name)
        shutil.rmtree(answer, ignore_errors=True)
        shutil.rmtree(done, ignore_errors=True)

    def run(self, claimed: Path, work: Path, output: Path) -> Document:
        """Makes the process that a job asks for; what became of it."""
        job = self.read_job(claimed)
        runner = self.find_runner(job)
        self.lay_out(job, work)
        return self.run_process([runner, "--job", claimed / "frames", "--out", output], job, work)

    def read_job(self, claimed: Path) -> Document:
        """Errors: a job of another version, or one that ended its worker before."""
        job: Document = json.loads((claimed / "job.json").read_text())
        if job["schema"] != JOB_SCHEMA:
            raise Refused("unsupported", f"it reads {JOB_SCHEMA}, the job is {job['schema']}")
        if digest_of(claimed / "frames") != job["frames"]["sha256"]:
            raise Refused("corrupt", "the job's frames are damaged")
        tries = claimed / "tries"
        tries.write_text(tries.read_text() + "." if tries.exists() else ".")
        if tries.stat().st_size > TRIES:
            raise Refused("crashed", f"the worker ended {TRIES} times while it executed this job")
        if job["limits"]["memory_bytes"]:
            raise Refused("unsupported", "this worker does not limit memory")
        return job

    def find_runner(self, job: Document) -> Path:
        """The runner of the job's engine build."""
        runner, description = self.runners.get(job["engine"], (None, {}))
        if runner is None or description.get("build_id", "") != job["build_id"]:
            have = ", ".join(self.runners)
            raise Refused("unavailable", f"no build {job['engine']} as asked for; it has {have}")
        return runner

    def lay_out(self, job: Document, work: Path) -> None:
        """Puts the job's files where its frames expect them."""
        for file in job["files"]:
            path = PurePosixPath(file["path"])
            if path.is_absolute() or ".." in path.parts:
                raise Refused("invalid_argument", f"'{path}' leads out of the job's folder")
            place = work / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if not re.fullmatch("[0-9a-f]{64}", file["sha256"]):
                raise Refused("corrupt", f"'{file['sha256']}' is no SHA-256")
            blob = self.root / "blobs" / file["sha256"]
            if not blob.is_file() or digest_of(blob) != file["sha256"]:
                blob.unlink(missing_ok=True)  # The next job that needs it brings it again.
                raise Refused("corrupt", f"the file for '{path}' is damaged; try again")
            shutil.copyfile(blob, place)

    def run_process(self, argv: list[Any], job: Document, work: Path) -> Document:
        """Runs the runner to its end or its deadline; an app calls the runner's loop instead."""
        cpus = set(job["cpus"])
        before = {"unix_ns": time.time_ns()}
        start_ns = time.monotonic_ns()
        process = subprocess.Popen(
            argv,
            cwd=work,
            env={**os.environ, **job["env"]},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(work / "stderr").open("wb"),
            start_new_session=True,
            preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None,
        )
        is_timed_out = False
        try:
            process.wait(job["limits"]["wall_ns"] / 1e9)
        except subprocess.TimeoutExpired:
            is_timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        end = describe_end(process.returncode, time.monotonic_ns() - start_ns)
        end.update(
            is_timed_out=is_timed_out,
            last_words=(work / "stderr").read_text(errors="replace")[-4096:],
        )
        output = Path(argv[-1])
        output.touch()
        return {
            "end": end,
            "before": before,
            "after": {"unix_ns": time.time_ns()},
            "output": {"sha256": digest_of(output), "bytes": output.stat().st_size},
        }

    @contextlib.contextmanager
    def alive(self, claimed: Path) -> Iterator[None]:
        """Gives signs of life while a job is executed."""
        over = threading.Event()

        def give_signs() -> None:
            while not over.is_set():
                with contextlib.suppress(OSError):
                    (claimed / "alive").write_text(str(time.time_ns()))
                over.wait(self.heartbeat_s)

        thread = threading.Thread(target=give_signs, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def describe_end(code: int, wall_ns: int) -> Document:
    """How a process ended and what all processes so far used at most."""
    number = -code if code < 0 else 0
    return {
        "exit_code": -1 if number else code,
        "signal": number,
        "signal_name": signal.Signals(number).name if number else "",
        "wall_ns": wall_ns,
    }


def serve(worker: Worker, *, is_once: bool, ends: Callable[[], bool] = lambda: False) -> None:
    """Executes jobs until it is told to end, or, once, until there are none left."""
    while not ends():
        claimed = worker.claim_next()
        if claimed:
            worker.execute(claimed)
        elif is_once:
            return
        else:
            time.sleep(0.05)


def main() -> int:
    """Reads the command line and serves."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the jobs")
    parser.add_argument("--runner", type=Path, action="append", required=True, metavar="FILE")
    parser.add_argument("--class", dest="device_class", default="", help="the device's class")
    parser.add_argument("--heartbeat", type=float, default=5, metavar="SECONDS")
    parser.add_argument("--claimed-within", default="10min", metavar="DURATION")
    parser.add_argument("--answered-within", default="2min", metavar="DURATION")
    parser.add_argument("--once", action="store_true", help="end when there are no jobs left")
    options = parser.parse_args()
    worker = Worker(options.folder, options.runner, options.heartbeat)
    worker.give_back_own()
    worker.describe(options.device_class, options.claimed_within, options.answered_within)
    with contextlib.suppress(KeyboardInterrupt):
        serve(worker, is_once=options.once)
    return 0


if __name__ == "__main__":
    sys.exit(main())
