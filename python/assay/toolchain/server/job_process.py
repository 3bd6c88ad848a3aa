"""A running child as the server sees it: its events, its deadline and the cause of its death."""

import contextlib
import json
import mmap
import os
import shutil
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.toolchain.errors import disk_full, is_disk_full
from assay.toolchain.temporary import TemporaryFolder

LAST_WORDS_LINES = 3
LAST_WORDS_CHARACTERS = 400
_LONGER = (
    "--job-timeout 2h gives jobs longer, or ASSAY_BUILD_TIMEOUT=2h where a verb has no such flag"
)
_CGROUP_EVENTS = Path("/sys/fs/cgroup/memory.events")


@dataclass
class JobProcess:
    """One forked job."""

    id: Any
    pid: int
    pipe: int
    log: Path
    deadline_ns: int | None
    scratch: TemporaryFolder | None = None  # Holds the log of a job that has no out_dir.
    buffer: bytes = b""
    stage: str | None = None
    done: dict[str, Any] | None = None
    is_timed_out: bool = False
    oom_kills: int = field(default_factory=lambda: oom_kills())

    def read_events(self) -> list[dict[str, Any]]:
        """The stage events that have arrived; the done event is kept for the end."""
        self.buffer += _drain(self.pipe)
        *lines, self.buffer = self.buffer.split(b"\n")
        events = [json.loads(line) for line in lines]
        for event in events:
            self.stage = event.get("stage", self.stage)
        self.done = next((event for event in events if event["event"] == "done"), self.done)
        return [event for event in events if event["event"] != "done"]

    def is_overdue(self) -> bool:
        """True if the deadline has passed."""
        return self.deadline_ns is not None and time.monotonic_ns() >= self.deadline_ns

    def kill(self) -> None:
        """Ends the child, which has not been waited for, and all that it started."""
        os.kill(self.pid, signal.SIGKILL)
        self.kill_group()

    def kill_group(self) -> None:
        """Ends what the child started and left behind."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def conclude(self, status: int) -> dict[str, Any]:
        """The done event, from the child or from the way it died.

        `status`: as waitpid gives it.
        """
        if self.done is not None:
            return self.done
        outcome, reason_code, text = self._cause_of_death(status)
        return {
            "event": "done",
            "outcome": outcome,
            "stage": self.stage,
            "reason_code": reason_code,
            "text": text,
            "result": {},
        }

    def remove_log(self) -> None:
        """Removes the log of a job that has no out_dir."""
        if self.scratch is not None:
            self.scratch.remove()

    def _cause_of_death(self, status: int) -> tuple[str, str, str]:
        where = f"in stage {self.stage}" if self.stage else "before its first stage"
        if self.is_timed_out:
            return "timed_out", "deadline", f"ran past its deadline {where}; {_LONGER}"
        words = last_words(self.log)
        if is_disk_full(words) or has_no_room(self.log.parent):
            failure = disk_full(f" {where}{words}")
            return failure["outcome"], failure["reason_code"], failure["text"]
        if not os.WIFSIGNALED(status):
            code = os.WEXITSTATUS(status)
            text = f"exited with status {code} {where} without a result{words}"
            return "crashed", "exited", text
        name = signal.Signals(os.WTERMSIG(status)).name
        if name == "SIGKILL" and oom_kills() > self.oom_kills:
            return "out_of_memory", "oom_killed", f"killed for memory {where}{words}"
        return "crashed", name, f"died by {name} {where}{words}"


def last_words(log: Path) -> str:
    """The last lines of a log, to be put behind a sentence; empty when it says nothing."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    kept = [line.strip() for line in lines if line.strip()][-LAST_WORDS_LINES:]
    text = " | ".join(kept)[-LAST_WORDS_CHARACTERS:]
    return f"; last words: {text}" if text else ""


def has_no_room(folder: Path) -> bool:
    """True if a file system has no page left, so that a mapped file could not grow."""
    try:
        return shutil.disk_usage(folder).free < mmap.PAGESIZE
    except OSError:
        return False


def oom_kills() -> int:
    """Kills for want of memory in this control group; 0 if the kernel does not count them."""
    try:
        lines = _CGROUP_EVENTS.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


def _drain(pipe: int) -> bytes:
    """All that a non-blocking pipe holds."""
    chunks = []
    while True:
        try:
            chunk = os.read(pipe, 1 << 16)
        except BlockingIOError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks)
