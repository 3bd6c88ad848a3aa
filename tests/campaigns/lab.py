"""A whole laboratory under random faults: what was lost, what was told, and after how long.

    python tests/campaigns/lab.py --minutes 12 --faults 60 [--seed 1] [--parts board,phone,fleet]

Its parts work at the same time: a board behind ssh, an emulated phone behind adb, a fleet of three
workers over PostgreSQL, and a watched repository. Each gets its share of the faults at random
moments of the time. Then they come to their ends, and what each has stored is compared with what
it had to store. Needs root, for the cables of the fleet. It ends with 1 if something is lost,
doubled, wrong or left running.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

import fleet
import watch_kills
from device_faults import BoardCampaign, Campaign, start_campaign
from fleet_schedulers import Postgres

LONGEST_END_S = 1200
FULL_S = (1.0, 8.0)
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
    """Lines that commands print, with their times."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, str]] = []

    def listen(self, process: subprocess.Popen[str]) -> None:
        """Reads what a command prints until it ends."""
        threading.Thread(target=self._read, args=(process,), daemon=True).start()
        threading.Thread(target=process.stdout.read, daemon=True).start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self.lines.append((time.monotonic(), line.strip()))

    def follow(self, file: Path) -> None:
        """Reads what is added to a file."""
        threading.Thread(target=self._follow, args=(file,), daemon=True).start()

    def _follow(self, file: Path) -> None:
        while not file.exists():
            time.sleep(LOOK_S)
        with file.open() as text:
            while True:
                if line := text.readline():
                    self.lines.append((time.monotonic(), line.strip()))
                else:
                    time.sleep(LOOK_S)

    def first_between(self, begin: float, end: float) -> tuple[float, str] | None:
        """The first line of a span of time."""
        lines = [one for one in list(self.lines) if begin < one[0] < end and one[1]]
        return lines[0] if lines else None


class Part(ABC):
    """A part of the laboratory, which works until it has all its results."""

    name: str
    store: Path

    def __init__(self) -> None:
        self.ear = Ear()
        self.faults: list[Fault] = []
        self.results: list[tuple[float, int]] = []

    @abstractmethod
    def kinds(self) -> dict[Callable[[], object], int]:
        """Ways to break it, with how often each is chosen."""

    @abstractmethod
    def keep_running(self) -> bool:
        """Starts what has stopped; false once all results are there."""

    @abstractmethod
    def findings(self) -> list[str]:
        """Lists all that is lost, doubled, wrong or left."""

    def note_results(self) -> None:
        """Notes when the number of stored launches grows."""
        with contextlib.suppress(sqlite3.Error), sqlite3.connect(self.store, timeout=5) as store:
            (count,) = store.execute("select count(*) from launch").fetchone()
            if not self.results or count > self.results[-1][1]:
                self.results.append((time.monotonic(), count))

    def work(self, chance: random.Random, count: int, minutes: float) -> None:
        """Breaks it so often in that time, and lets it come to its end."""
        begin = time.monotonic()
        moments = sorted(begin + chance.uniform(0.03, 1) * minutes * 60 for _ in range(count))
        while self.keep_running():
            if moments and time.monotonic() >= moments[0] and self.results:
                moments.pop(0)
                self.break_something(chance)
            if time.monotonic() > begin + minutes * 60 + LONGEST_END_S:
                return
            time.sleep(LOOK_S)

    def break_something(self, chance: random.Random) -> None:
        kinds = self.kinds()
        kind = chance.choices(list(kinds), list(kinds.values()))[0]
        self.faults.append(Fault(self.name, kind.__name__, time.monotonic()))
        kind()

    def finish(self) -> None:
        """Looks up what followed each fault."""
        ends = [*(one.at for one in self.faults[1:]), float("inf")]
        for one, end in zip(self.faults, ends, strict=True):
            if told := self.ear.first_between(one.at, end):
                one.told_s, one.told = told[0] - one.at, told[1]
            later = [when for when, _ in self.results if when > one.at]
            one.next_s = later[0] - one.at if later else None


class DevicePart(Part):
    """A board or a phone, with the faults of device_faults.py and a disk without room."""

    def __init__(self, campaign: Campaign) -> None:
        super().__init__()
        self.campaign = campaign
        self.store = campaign.place.store
        is_board = isinstance(campaign, BoardCampaign)
        self.name = "board" if is_board else "phone"
        self.device = campaign.board if is_board else campaign.phone
        self.ear.listen(campaign.process)
        self.heard = campaign.process

    def kinds(self) -> dict[Callable[[], object], int]:
        return {**self.campaign.faults(), self.kill_driver: 4, self.full_disk: 4}

    def kill_driver(self) -> None:
        self.campaign.process.kill()
        self.campaign.process.wait()
        self.campaign.process = self.campaign.start()

    def full_disk(self) -> None:
        self.device.fill_disk()
        time.sleep(self.campaign.chance.uniform(*FULL_S))
        self.device.free_disk()

    def keep_running(self) -> bool:
        if not self.campaign.run and self.results:
            self.campaign.run = str(self.campaign.place.query("select id from run")[0][0])
        goes_on = self.campaign.keep_running()
        if self.campaign.process is not self.heard:
            self.heard = self.campaign.process
            self.ear.listen(self.heard)
        return goes_on

    def findings(self) -> list[str]:
        return self.campaign.findings()


class FleetPart(Part):
    """Three hosts with workers over a database, and a driver."""

    name = "fleet"

    def __init__(self, folder: Path, scheduler: Postgres, options: argparse.Namespace) -> None:
        super().__init__()
        self.cases = options.cases
        self.scheduler = scheduler
        spec = fleet.write_spec(folder, self.cases, options.case_s)
        self.driver = fleet.Driver(folder, scheduler, spec)
        self.store = folder / "driver" / "home" / "assay.db"
        self.hosts = [fleet.Host(number, folder, scheduler) for number in (1, 2, 3)]
        self.chance = random.Random(options.seed)
        for host in self.hosts:
            host.boot()
            host.start_worker()
        self.driver.start()
        self.ear.follow(folder / "driver" / "log")

    def end(self) -> None:
        """Ends the driver and all hosts."""
        self.driver.kill()
        for host in self.hosts:
            host.kill()

    def kinds(self) -> dict[Callable[[], object], int]:
        kinds = (self.kill_driver, self.kill_worker, self.kill_host, self.restart_database)
        return {**dict.fromkeys(kinds, 2), self.cut_cable: 1}

    def kill_driver(self) -> None:
        self.driver.kill()
        self.driver.start()

    def kill_worker(self) -> None:
        host = self.chance.choice(self.hosts)
        host.kill_worker()
        host.start_worker()

    def kill_host(self) -> None:
        host = self.chance.choice(self.hosts)
        host.kill()
        time.sleep(5)
        host.boot()
        host.start_worker()

    def restart_database(self) -> None:
        self.scheduler.break_it()

    def cut_cable(self) -> None:
        host = self.chance.choice(self.hosts)
        host.unplug()
        time.sleep(self.chance.choice((2, 10, 40)))
        host.plug()

    def keep_running(self) -> bool:
        self.driver.has_run = bool(self.driver.has_run or self.results)
        assert self.driver.process is not None
        if self.driver.process.poll() is None:
            return True
        if self.driver.process.returncode in (0, 1, 6):
            return False
        self.driver.start()
        return True

    def findings(self) -> list[str]:
        listed = self.driver.ask("fleet", "executions", "latest", "--json").get("executions", [])
        counted = [one["job"] for one in listed if one["is_counted"]]
        cases = self.driver.ask("report", "latest", "--format", "json").get("cases", [])
        found = []
        if len(set(counted)) != self.cases or len(cases) != self.cases:
            found.append(f"{len(set(counted))} of {self.cases} cases, {len(cases)} in the report")
        if len(counted) != len(set(counted)):
            found.append(f"{len(counted) - len(set(counted))} cases count twice")
        bad = collections.Counter(one["outcome"] for one in cases if one["outcome"] != "completed")
        return found + ([f"cases that did not complete: {dict(bad)}"] if bad else [])


class WatchPart(Part):
    """A watcher of a synthetic repository, with the kills of watch_kills.py."""

    name = "watch"

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        super().__init__()
        self.watcher = watch_kills.KilledWatcher(folder, options)
        self.store = self.watcher.place.store
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        process = self.watcher.start()
        self.ear.listen(process)
        return process

    def kinds(self) -> dict[Callable[[], object], int]:
        return {self.kill_driver: 1, self.kill_group: 1, self.kill_child: 1}

    def kill_driver(self) -> None:
        self.kill("process")

    def kill_group(self) -> None:
        self.kill("group")

    def kill_child(self) -> None:
        self.kill("child")

    def kill(self, way: str) -> None:
        self.watcher.seen |= self.watcher.place.launch_ids()
        self.watcher.ways[way](self.process)
        if way != "child":  # Or it goes on, and says why if it does not.
            self.process.wait()
            self.watcher.check_store(f"kill of the {way}")

    def keep_running(self) -> bool:
        if self.process.poll() is None:
            return True
        if self.process.returncode == 0:
            return False
        self.process = self.start()
        return True

    def findings(self) -> list[str]:
        self.watcher.finish()
        return self.watcher.faults


@contextlib.contextmanager
def started_fleet(folder: Path, options: argparse.Namespace) -> Iterator[FleetPart]:
    """The fleet and its database, and their end."""
    folder.mkdir()
    with Postgres(folder) as scheduler:
        part = FleetPart(folder, scheduler, options)
        try:
            yield part
        finally:
            part.end()


def table_of(faults: list[Fault]) -> str:
    """A row for each kind of fault of each part."""
    lines = ["| part | fault | times | told after | next result after | what was told |"]
    lines.append("|---|---|---|---|---|---|")
    kinds = sorted({(one.part, one.kind) for one in faults})
    for part, kind in kinds:
        those = [one for one in faults if (one.part, one.kind) == (part, kind)]
        told = collections.Counter(one.told[:90] for one in those if one.told)
        text = told.most_common(1)[0][0] if told else ""
        times = [span_of([one.told_s for one in those]), span_of([one.next_s for one in those])]
        lines.append(f"| {part} | {kind} | {len(those)} | {' | '.join(times)} | {text} |")
    return "\n".join(lines)


def span_of(seconds: list[float | None]) -> str:
    known = [one for one in seconds if one is not None]
    return f"{statistics.median(known):.1f} s (most {max(known):.1f})" if known else "-"


def main() -> int:
    """Reads the command line; 1 if something was lost, doubled, wrong or left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default="board,phone,fleet,watch")
    parser.add_argument("--launches", type=int, default=300, help="of the board and of the phone")
    parser.add_argument("--cases", type=int, default=150, help="of the fleet")
    parser.add_argument("--case-s", type=float, default=1.0, help="time of a case")
    parser.add_argument("--commits", type=int, default=64, help="of the watched repository")
    options = parser.parse_args()
    if "fleet" in options.parts and os.geteuid() != 0:
        parser.error("the fleet needs root, to make cables between namespaces")
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        findings = run_lab(Path(name), stack, options)
    return 1 if findings else 0


def make_parts(
    folder: Path, stack: contextlib.ExitStack, options: argparse.Namespace
) -> list[Part]:
    parts: list[Part] = []
    for name in options.parts.split(","):
        where = folder / name
        if name in ("board", "phone"):
            where.mkdir()
            of_device = argparse.Namespace(**{**vars(options), "device": name})
            parts.append(DevicePart(stack.enter_context(start_campaign(where, of_device))))
        elif name == "fleet":
            parts.append(stack.enter_context(started_fleet(where, options)))
        else:
            options.most_seconds = 20.0
            parts.append(WatchPart(where, options))
    return parts


def run_lab(folder: Path, stack: contextlib.ExitStack, options: argparse.Namespace) -> list[str]:
    """Lets the parts work; prints and returns the findings."""
    begin = time.monotonic()
    parts = make_parts(folder, stack, options)
    threads = []
    for number, part in enumerate(parts):
        chance = random.Random(options.seed * 100 + number)
        count = options.faults // len(parts) + (number < options.faults % len(parts))
        arguments = (chance, count, options.minutes)
        threads.append(threading.Thread(target=part.work, args=arguments, daemon=True))
        threads[-1].start()
    while any(thread.is_alive() for thread in threads):
        for part in parts:
            part.note_results()
        time.sleep(LOOK_S)
    findings = []
    for part in parts:
        part.finish()
        findings += [f"{part.name}: {text}" for text in part.findings()]
    faults = [one for part in parts for one in part.faults]
    print(table_of(faults))
    stored = {part.name: part.results[-1][1] if part.results else 0 for part in parts}
    print(f"{time.monotonic() - begin:.0f} s, {len(faults)} faults, launches stored: {stored}")
    print("\n".join(findings) or "nothing lost, doubled, wrong or left")
    return findings


if __name__ == "__main__":
    sys.exit(main())
