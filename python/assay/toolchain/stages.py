"""The stages of a job: their names, times and peak memory."""

import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Emit = Callable[[dict[str, Any]], None]

_STATUS = Path("/proc/self/status")
_CLEAR_REFS = Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class StageRecord:
    """One stage that ended. The peak counts pages shared with the fork server."""

    name: str
    wall_ns: int
    cpu_ns: int
    peak_rss_bytes: int


@dataclass
class StageLog:
    """Announces stages as they begin and keeps what each took.

    `start_rss_bytes`: resident memory at the start, most of it shared with the fork server.
    """

    emit: Emit = field(default=lambda event: None)
    records: list[StageRecord] = field(default_factory=list)
    current: str | None = None
    start_rss_bytes: int = field(default_factory=lambda: rss_bytes())

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Runs the body as the stage `name`; the name stays current when the body raises."""
        self.current = name
        self.emit({"event": "stage", "stage": name})
        reset_peak_rss()
        wall, cpu = time.perf_counter_ns(), cpu_time_ns()
        yield
        wall, cpu = time.perf_counter_ns() - wall, cpu_time_ns() - cpu
        self.records.append(StageRecord(name, wall, cpu, peak_rss_bytes()))

    def to_json(self) -> list[dict[str, Any]]:
        """The finished stages, in order."""
        return [asdict(record) for record in self.records]

    def peak_rss_bytes(self) -> int:
        """The highest peak of all finished stages."""
        return max((record.peak_rss_bytes for record in self.records), default=0)


def cpu_time_ns() -> int:
    """CPU time of this process, its threads and the children that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time_ns() + int((children.ru_utime + children.ru_stime) * 1e9)


def reset_peak_rss() -> None:
    """Lets the peak start again from now, where the kernel allows it (Linux)."""
    try:
        _CLEAR_REFS.write_text("5")
    except OSError:
        return


def peak_rss_bytes() -> int:
    """Peak resident memory since the last reset; since the start where there is no reset."""
    return _status_bytes("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def rss_bytes() -> int:
    """Resident memory now; 0 if the platform does not tell."""
    return _status_bytes("VmRSS")


def _status_bytes(key: str) -> int:
    try:
        lines = _STATUS.read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:")), 0)
