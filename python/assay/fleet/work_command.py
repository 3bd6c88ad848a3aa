"""The commands of `assay work` that the workers of a fleet start for their device."""

from __future__ import annotations

import ctypes
import json
import signal
import sys
import time
from dataclasses import dataclass, fields
from pathlib import Path

from assay.fleet.lines import Document
from assay.toolchain.temporary import TemporaryFolder

HEARTBEAT_S = 1
"""Period of a worker's signs of life."""
GONE_AFTER_S = 4
"""A worker without a sign of life for so long is gone; drivers learn what it executed."""
CHECK_S = 30
"""Period in which a device that was taken out of use is tried again."""
MOST_EXECUTIONS = 5
"""A job that so many executions did not survive is lost: it may be what kills them."""
UNAVAILABLE = 3
"""Exit code of `assay` where engine, device, store or file could not be used."""
INTERRUPTED = 130
"""Exit code of `assay` where a signal asked it to stop."""
_PR_SET_PDEATHSIG = 1
_PROBE_BYTES = 1 << 20


@dataclass(frozen=True)
class WorkCommand:
    """Makes the command lines for one device."""

    assay: str  # The program.
    device: str  # As --device has it: "local", "ssh:pi5".
    name: str  # In the fleet.
    artifacts: str  # Another place of the artifact store; empty: where the job says.
    canary: str  # Program that the device must run; empty: none.

    @classmethod
    def from_options(cls, options: Document) -> WorkCommand:
        """Takes what it needs of the options that `assay work` starts a worker with."""
        return cls(**{one.name: options[one.name] for one in fields(cls)})

    def describe(self) -> list[str]:
        """Prints what the device is, schema assay/fleet-worker/1; fails where it is not ready."""
        return [self.assay, "work", "--describe", "--ready", *self._device()]

    def execute(self, document: Document, folder: Path) -> list[str]:
        """Executes a job, whose file it writes into `folder`, and prints where the part is."""
        (folder / "job.json").write_text(json.dumps(document), encoding="utf-8")
        files = ["--job", str(folder / "job.json"), "--out", str(folder / "part.db")]
        elsewhere = ["--artifacts", self.artifacts] if self.artifacts else []
        return [self.assay, "work", *files, "--quiet", *elsewhere, *self._device()]

    def _device(self) -> list[str]:
        canary = ["--canary", self.canary] if self.canary else []
        return ["--device", self.device, "--name", self.name, *canary]


def check_disk() -> None:
    """Raises OSError where a job's files would find no room."""
    with TemporaryFolder("job") as folder:
        (folder / "probe").write_bytes(bytes(_PROBE_BYTES))


def part_from(out: str) -> Path:
    """The part that `assay work` printed. Raises: ValueError where it printed none."""
    lines = out.strip().splitlines()
    if not lines:
        raise ValueError("assay work printed no part; is it another version?")
    return Path(lines[-1])


def log(name: str, text: str) -> None:
    """A line of a worker's log, with the time."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(f"{now} {name}: {text}", file=sys.stderr, flush=True)


def welcome(description: Document, executor: str) -> str:
    """The line that a worker logs when it begins."""
    builds = [f"{one['name']}@{one['label']}" for one in description.get("builds", [])]
    device_class = description["environment"]["device_class"]
    return f"serves {executor} as {device_class} with {', '.join(builds) or 'no engine'}"


def of_job(document: Document) -> str:
    """A job in a line of the log."""
    return f"{document['label']} (run {document['run']['id']}, try {document['n'] + 1})"


def last_line(text: str) -> str:
    """The last line that a program wrote, which says what was wrong."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("assay: ") if lines else ""


def die_with_parent() -> None:
    """Has the kernel end this process with the one that started it; for `preexec_fn`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
