"""The forked child: one job, one log file, one pipe of events."""

import ctypes
import json
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from assay.toolchain.dependencies import Recorder, folders_of_request
from assay.toolchain.errors import failure_from_error, our_work
from assay.toolchain.server.jobs import run_job
from assay.toolchain.server.preimports import imported_since, preimported
from assay.toolchain.temporary import use_as_scratch

_PR_SET_PDEATHSIG = 1
_RECORDED = ("build", "reference", "stimulus")
"""Jobs whose results the cache keeps, with what they read."""


def run_child(
    request: Mapping[str, Any], *, pipe: int, log: Path, close: Iterable[int]
) -> NoReturn:
    """Runs the job and ends the process. Never returns.

    `pipe` takes the events; `log` everything that is printed; `close` are the parent's
    descriptors.
    """
    status = 1
    try:
        _detach(log, close)
        _limit_memory(request.get("memory_limit_bytes"))
        before = frozenset(sys.modules)
        recorder = _recorder(request)
        if request.get("out_dir") is not None:
            use_as_scratch(Path(request["out_dir"]).absolute())
        done = run_job(request, lambda event: _write_event(pipe, event))
        imported = imported_since(before)
        if recorder is not None and done["outcome"] == "completed":
            done = write_record(recorder, [*preimported(), *imported], done)
        _write_event(pipe, {**done, "imported": imported})
        status = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def write_record(
    recorder: Recorder, packages: Iterable[str], done: dict[str, Any]
) -> dict[str, Any]:
    """Writes what a completed job read; returns its done event, or that of the failure to write.

    A result is not kept without it: nobody would know when it is out of date.
    """
    try:
        with our_work("recording what the job read"):
            recorder.write(packages)
    except Exception as error:
        traceback.print_exc()
        return {**done, **failure_from_error(error, None)}
    return done


def _recorder(request: Mapping[str, Any]) -> Recorder | None:
    """Listens to the job's reading from now on; None if nobody keeps its result."""
    if request.get("job") not in _RECORDED:
        return None
    out = str(Path(request["out_dir"]).absolute())
    recorder = Recorder(out, own=folders_of_request({**request, "out_dir": None}))
    recorder.start()
    return recorder


def _detach(log: Path, close: Iterable[int]) -> None:
    """A process group of its own, default signals, output to the log, death with the parent."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    for descriptor in close:
        os.close(descriptor)
    null = os.open(os.devnull, os.O_RDONLY)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for source, target in ((null, 0), (file, 1), (file, 2)):
        os.dup2(source, target)
    os.close(null)
    os.close(file)


def _limit_memory(limit: int | None) -> None:
    """Lets the job's private memory grow by `limit` bytes over what the server holds."""
    if limit is None:
        return
    statm = Path("/proc/self/statm").read_text().split()
    held = int(statm[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + int(limit), held + int(limit)))


def _write_event(pipe: int, event: Mapping[str, Any]) -> None:
    data = (json.dumps(event, allow_nan=False) + "\n").encode()
    while data:
        data = data[os.write(pipe, data) :]
