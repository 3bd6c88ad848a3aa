"""The fork server: ``python -m assay.toolchain.server --jobs 2``.

docs/contracts/aot.md is its contract.

Imports the toolchain once, lowers one operator to warm up, then forks a child for each request.
"""

import argparse
import gc
import json
import os
import selectors
import signal
import sys
import time
from collections import deque
from pathlib import Path
from types import FrameType
from typing import Any

from assay.toolchain import identity
from assay.toolchain.files import json_text
from assay.toolchain.server.job_process import JobProcess
from assay.toolchain.server.job_worker import run_child
from assay.toolchain.server.preimports import preimport
from assay.toolchain.temporary import TemporaryFolder

SCHEMA = "assay/aot/1"
LOG = "log.txt"
_POLL_SECONDS = 0.2


class Server:
    """Queues requests, forks at most `jobs` children at a time and relays their events."""

    def __init__(self, *, jobs: int, requests: int, wire: int) -> None:
        self._jobs = jobs
        self._requests = requests
        self._wire = wire
        self._buffer = b""
        self._unsent = bytearray()
        self._queue: deque[dict[str, Any]] = deque()
        self._running: dict[int, JobProcess] = {}
        self._selector = selectors.DefaultSelector()
        self._is_open = True
        self._stopped_by: int | None = None
        self._wakeup_read, self._wakeup_write = os.pipe()

    def serve(self) -> int:
        """Serves until the requests end; returns the exit status."""
        self._watch_signals()
        self._watch_requests()
        self._watch(self._wakeup_read)
        os.set_blocking(self._wire, False)
        while self._stopped_by is None and self._has_work():
            self._start_queued()
            for key, _ in self._selector.select(self._patience_seconds()):
                self._handle(key.fd)
            self._reap()
        os.set_blocking(self._wire, True)
        for child in self._running.values():
            child.kill()
            child.remove_log()
        return 0 if self._stopped_by is None else 128 + self._stopped_by

    def _has_work(self) -> bool:
        return bool(self._is_open or self._queue or self._running or self._unsent)

    def send(self, event: dict[str, Any]) -> None:
        """Has one line written to the client as soon as it takes it.

        The server never waits for that: a client may first write thousands of requests.
        """
        self._unsent += json_text(event).encode()
        self._write_unsent()

    def _write_unsent(self) -> None:
        """Writes what the client takes now; one that went away stops the server."""
        try:
            while self._unsent:
                del self._unsent[: os.write(self._wire, self._unsent)]
        except BlockingIOError:
            if self._wire not in self._selector.get_map():
                self._selector.register(self._wire, selectors.EVENT_WRITE)
            return
        except BrokenPipeError:
            self._unsent.clear()
            self._stopped_by = signal.SIGPIPE
        self._forget(self._wire)

    def _watch_signals(self) -> None:
        os.set_blocking(self._wakeup_write, False)
        signal.set_wakeup_fd(self._wakeup_write, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopped_by = number

    def _watch_requests(self) -> None:
        try:
            self._selector.register(self._requests, selectors.EVENT_READ)
        except PermissionError:  # a regular file is always ready, and epoll refuses it
            while self._is_open:
                self._read_requests()

    def _watch(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._selector.register(descriptor, selectors.EVENT_READ)

    def _patience_seconds(self) -> float | None:
        if not self._running:
            return None
        deadlines = [c.deadline_ns for c in self._running.values() if c.deadline_ns is not None]
        left = min(deadlines, default=time.monotonic_ns() + 10**9) - time.monotonic_ns()
        return min(max(left / 1e9, 0.0), _POLL_SECONDS)

    def _handle(self, descriptor: int) -> None:
        if descriptor == self._requests:
            self._read_requests()
        elif descriptor == self._wire:
            self._write_unsent()
        elif descriptor == self._wakeup_read:
            os.read(descriptor, 4096)
        else:
            self._relay(descriptor)

    def _read_requests(self) -> None:
        chunk = os.read(self._requests, 1 << 16)  # never more than is there: stdin may be shared
        *lines, self._buffer = (self._buffer + chunk).split(b"\n")
        if not chunk:
            self._is_open = False
            lines, self._buffer = [self._buffer], b""
            self._forget(self._requests)
        for line in filter(bytes.strip, lines):
            self._accept(line)

    def _accept(self, line: bytes) -> None:
        try:
            request = json.loads(line)
        except ValueError as error:
            self._complain(f"not a JSON line: {error}")
            return
        if not isinstance(request, dict) or request.get("id") is None:
            self._complain('a request is a JSON object with an "id"')
            return
        busy = [child.id for child in self._running.values()]
        if request["id"] in busy or any(r["id"] == request["id"] for r in self._queue):
            self._complain(f"a job with id {request['id']!r} is still under way")
            return
        self._queue.append(request)

    def _complain(self, text: str) -> None:
        self.send({"id": None, "event": "error", "reason_code": "invalid_request", "text": text})

    def _start_queued(self) -> None:
        while self._queue and len(self._running) < self._jobs and self._stopped_by is None:
            self._start(self._queue.popleft())

    def _start(self, request: dict[str, Any]) -> None:
        try:
            scratch = TemporaryFolder("aot") if request.get("out_dir") is None else None
            log = _fresh_log(scratch.path if scratch else Path(request["out_dir"]))
            timeout = None if request.get("timeout_ns") is None else int(request["timeout_ns"])
        except (OSError, TypeError, ValueError) as error:
            self.send({"id": request["id"], **_refusal(f"{type(error).__name__}: {error}")})
            return
        read, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            run_child(request, pipe=write, log=log, close=self._descriptors(read))
        os.close(write)
        self._watch(read)
        deadline = None if timeout is None else time.monotonic_ns() + timeout
        child = JobProcess(request["id"], pid, read, log, deadline, scratch)
        self._running[read] = child

    def _descriptors(self, read: int) -> list[int]:
        """The file descriptors that a child must close."""
        own = [read, self._wire, self._wakeup_read, self._wakeup_write]
        return [*own, *self._running]

    def _relay(self, pipe: int) -> None:
        child = self._running.get(pipe)
        if child is not None:
            for event in child.read_events():
                self.send({"id": child.id, **event})

    def _reap(self) -> None:
        for pipe, child in list(self._running.items()):
            if child.is_overdue() and not child.is_timed_out:
                child.is_timed_out = True
                child.kill()
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid != 0:
                self._finish(pipe, child, status)

    def _finish(self, pipe: int, child: JobProcess, status: int) -> None:
        child.kill_group()
        self._relay(pipe)
        self._forget(pipe)
        os.close(pipe)
        del self._running[pipe]
        done = child.conclude(status)
        imported = done.pop("imported", [])
        self.send({"id": child.id, **done})
        child.remove_log()
        if done["outcome"] == "completed":
            preimport(imported)

    def _forget(self, descriptor: int) -> None:
        if descriptor in self._selector.get_map():
            self._selector.unregister(descriptor)


def _fresh_log(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / LOG
    log.write_text("")
    return log


def _refusal(text: str) -> dict[str, Any]:
    failure = {"outcome": "aot_error", "reason_code": "invalid_request", "text": text}
    return {"event": "done", **failure, "stage": None, "result": {}}


def take_stdout() -> int:
    """Keeps stdout for the protocol and points descriptor 1 at stderr, because libraries print."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.set_inheritable(wire, False)
    os.dup2(2, 1)
    return wire


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="assay.toolchain.server", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="children at a time (default: 2)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Warms up, announces itself and serves."""
    options = parse_arguments(arguments)
    wire = take_stdout()
    start = time.perf_counter_ns()
    from assay.toolchain.server import warmup

    warmup.import_toolchain()
    imported = time.perf_counter_ns()
    warmup.lower_one_operator()
    warmed = time.perf_counter_ns()
    gc.collect()
    gc.freeze()
    server = Server(jobs=max(1, options.jobs), requests=0, wire=wire)
    server.send(
        {
            "event": "ready",
            "schema": SCHEMA,
            "toolchain": identity.describe(),
            "import_ns": imported - start,
            "warm_up_ns": warmed - imported,
        }
    )
    return server.serve()
