"""Faults of a laboratory, and what followed each of them: a line that was printed, a result."""

from __future__ import annotations

import collections
import statistics
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

LOOK_S = 0.2


@dataclass
class Fault:
    """A fault that was made, by the monotonic clock."""

    part: str
    kind: str
    at: float
    told: str = ""
    told_s: float | None = None
    """Until the first line that the part printed afterwards, before its next fault."""
    next_s: float | None = None
    """Until its next result was stored."""


class Ear:
    """Lines that the commands of a part print, with their times."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: list[tuple[float, str]] = []

    def listen(self, process: subprocess.Popen[str]) -> None:
        """Reads what a command prints until it ends."""
        threading.Thread(target=self._read, args=(process,), daemon=True).start()
        threading.Thread(target=process.stdout.read, daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.hear(line)

    def hear(self, line: str) -> None:
        self.lines.append((time.monotonic(), line.strip()))
        print(f"{time.strftime('%H:%M:%S')} {self.name} says: {line.strip()}", flush=True)

    def follow(self, file: Path) -> None:
        """Reads what is added to a file."""
        threading.Thread(target=self._follow, args=(file,), daemon=True).start()

    def _follow(self, file: Path) -> None:
        while not file.exists():
            time.sleep(LOOK_S)
        with file.open() as text:
            while True:
                if line := text.readline():
                    self.hear(line)
                else:
                    time.sleep(LOOK_S)

    def first_between(self, begin: float, end: float) -> tuple[float, str] | None:
        """The first line of a span of time."""
        lines = [one for one in list(self.lines) if begin < one[0] < end and one[1]]
        return lines[0] if lines else None


def table_of(faults: list[Fault]) -> str:
    """A row for all faults of each part, and one for each kind."""
    lines = ["| part | fault | times | told after | next result after | what was told |"]
    lines.append("|---|---|---|---|---|---|")
    kinds = {(one.part, one.kind) for one in faults} | {(one.part, "") for one in faults}
    for part, kind in sorted(kinds):
        those = [one for one in faults if one.part == part and kind in ("", one.kind)]
        told = collections.Counter(one.told[:90] for one in those if one.told)
        text = told.most_common(1)[0][0] if told else ""
        times = [span_of([one.told_s for one in those]), span_of([one.next_s for one in those])]
        lines.append(f"| {part} | {kind or 'all'} | {len(those)} | {' | '.join(times)} | {text} |")
    return "\n".join(lines)


def span_of(seconds: list[float | None]) -> str:
    known = [one for one in seconds if one is not None]
    return f"{statistics.median(known):.1f} s (most {max(known):.1f})" if known else "-"
