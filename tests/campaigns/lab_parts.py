"""Parts of a laboratory: each works in rounds, is broken now and then, and knows what it owes."""

from __future__ import annotations

import argparse
import collections
import contextlib
import random
import sqlite3
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path

import fleet
import watch_kills
from device_faults import BoardCampaign, Campaign
from driver import Workplace
from fleet_schedulers import Postgres
from lab_records import LOOK_S, Ear, Fault

LONGEST_END_S = 900
"""Time from the end of the campaign until a part has done its work."""

FIRST_COMMITS = 16
NEXT_COMMITS = 8
FULL_S = (1.0, 8.0)


class Part(ABC):
    """A part of the laboratory, which works until it has all its results."""

    name: str
    store: Path | None = None
    result_tables: tuple[str, ...] = ("launch",)

    def __init__(self) -> None:
        self.ear = Ear(self.name)
        self.faults: list[Fault] = []
        self.results: list[tuple[float, int]] = []
        self.counting = threading.Lock()
        self.earlier = 0
        """Results of stores that it no longer works with."""
        self.rounds = 1
        self.troubles: list[str] = []
        """Reasons why it did not come to its end, and what is wrong then."""

    @abstractmethod
    def kinds(self) -> dict[Callable[[], object], int]:
        """Ways to break it, with how often each is chosen."""

    @abstractmethod
    def keep_running(self) -> bool:
        """Starts what has stopped; false once all results of this round are there."""

    @abstractmethod
    def begin_round(self) -> None:
        """Gives it more work."""

    @abstractmethod
    def findings(self) -> list[str]:
        """Lists all that is lost, doubled, wrong or left."""

    def count_rows(self, *tables: str) -> int:
        """Rows of tables of its store; 0 while that cannot tell."""
        count = 0
        if self.store is None or not self.store.exists():
            return count
        connecting = contextlib.closing(sqlite3.connect(self.store, timeout=5))
        with contextlib.suppress(sqlite3.Error), connecting as store:
            for table in tables:
                count += store.execute(f"select count(*) from {table}").fetchone()[0]
        return count

    def note_results(self) -> None:
        """Notes when the number of results grows."""
        with self.counting:
            count = self.earlier + self.count_rows(*self.result_tables)
        if count > (self.results[-1][1] if self.results else 0):
            self.results.append((time.monotonic(), count))

    def work(self, chance: random.Random, count: int, minutes: float) -> None:
        """Breaks it so often in that time, and lets it come to its end."""
        end = time.monotonic() + minutes * 60
        moments = sorted(end - chance.uniform(0.03, 0.97) * minutes * 60 for _ in range(count))
        while True:
            if not self.keep_running():
                if time.monotonic() > end:
                    return
                self.rounds += 1
                self.begin_round()
            if moments and time.monotonic() >= moments[0] and self.results:
                moments.pop(0)
                self.break_something(chance)
            if time.monotonic() > end + LONGEST_END_S:
                self.troubles.append(f"still works {LONGEST_END_S} s after the end of the time")
                return
            time.sleep(LOOK_S)

    def break_something(self, chance: random.Random) -> None:
        kinds = self.kinds()
        kind = chance.choices(list(kinds), list(kinds.values()))[0]
        self.faults.append(Fault(self.name, kind.__name__, time.monotonic()))
        print(f"{time.strftime('%H:%M:%S')} {self.name}: {kind.__name__}", flush=True)
        kind()

    def look_up(self) -> None:
        """Looks up what followed each fault."""
        ends = [*(one.at for one in self.faults), float("inf")][1:]
        for one, end in zip(self.faults, ends, strict=True):
            if told := self.ear.first_between(one.at, end):
                one.told_s, one.told = told[0] - one.at, told[1]
            later = [when for when, _ in self.results if when > one.at]
            one.next_s = later[0] - one.at if later else None


class DevicePart(Part):
    """A board or a phone, with the faults of device_faults.py and a disk without room."""

    def __init__(self, campaign: Campaign) -> None:
        is_board = isinstance(campaign, BoardCampaign)
        self.name = "board" if is_board else "phone"
        super().__init__()
        self.campaign = campaign
        self.store = campaign.place.store
        self.device = campaign.board if is_board else campaign.phone
        self.ear.listen(campaign.process)
        self.heard = campaign.process

    def kinds(self) -> dict[Callable[[], object], int]:
        return {**self.campaign.faults(), self.kill_driver: 4, self.full_disk: 4}

    def kill_driver(self) -> None:
        self.campaign.process.kill()
        self.campaign.process.wait()
        self.campaign.go_on()

    def full_disk(self) -> None:
        self.device.fill_disk()
        time.sleep(self.campaign.chance.uniform(*FULL_S))
        self.device.free_disk()

    def begin_round(self) -> None:
        self.campaign.begin_run()

    def keep_running(self) -> bool:
        goes_on = self.campaign.keep_running()
        if self.campaign.process is not self.heard:
            self.heard = self.campaign.process
            self.ear.listen(self.heard)
        return goes_on

    def findings(self) -> list[str]:
        return self.campaign.findings() + left_folders(self.campaign.place)


class FleetPart(Part):
    """Three hosts with workers over a database, and a driver."""

    name = "fleet"

    def __init__(self, folder: Path, scheduler: Postgres, options: argparse.Namespace) -> None:
        super().__init__()
        self.cases = options.cases
        self.found: list[str] = []
        self.scheduler = scheduler
        spec = fleet.write_spec(folder, self.cases, options.case_s)
        self.driver = fleet.Driver(folder, scheduler, spec)
        self.store = folder / "driver" / "home" / "assay.db"
        self.hosts = [fleet.Host(number, folder, scheduler) for number in (1, 2, 3)]
        self.chance = random.Random(options.seed)
        for host in self.hosts:
            host.boot()
            host.start_worker()
        fleet.wait_for_hosts(self.hosts, self.driver)
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
        self.start_driver()

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

    def begin_round(self) -> None:
        self.check_run()
        self.start_driver()

    def start_driver(self) -> None:
        """Begins the run of this round, or goes on with it."""
        self.driver.has_run = self.count_rows("run") >= self.rounds
        self.driver.start()

    def keep_running(self) -> bool:
        assert self.driver.process is not None
        if self.driver.process.poll() is None:
            return True
        if self.driver.process.returncode in (0, 1, 6):
            return False
        self.start_driver()
        return True

    def findings(self) -> list[str]:
        self.check_run()
        return self.found

    def check_run(self) -> None:
        """Compares the last run with what it had to store."""
        listed = self.driver.ask("fleet", "executions", "latest", "--json").get("executions", [])
        counted = [one["job"] for one in listed if one["is_counted"]]
        cases = self.driver.ask("report", "latest", "--format", "json").get("cases", [])
        there = len(set(counted))
        if there != self.cases or len(cases) != self.cases:
            self.found.append(f"{there} of {self.cases} cases, {len(cases)} in the report")
        if len(counted) != there:
            self.found.append(f"{len(counted) - there} cases count twice")
        bad = collections.Counter(one["outcome"] for one in cases if one["outcome"] != "completed")
        self.found += [f"cases that did not complete: {dict(bad)}"] if bad else []


class WatchPart(Part):
    """A watcher of synthetic repositories that grow, with the kills of watch_kills.py."""

    name = "watch"
    result_tables = ("launch", "engine_build")

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        super().__init__()
        self.folder = folder
        self.folder.mkdir()
        self.options = argparse.Namespace(**vars(options), most_seconds=0)
        self.found: list[str] = []
        self.make_repository()

    def make_repository(self) -> None:
        """Watches a new repository, which has its first commits."""
        self.watcher = watch_kills.KilledWatcher(self.folder / str(self.rounds), self.options)
        self.options.seed += 1
        self.commits = self.watcher.expected["commits"]
        self.pushed = 0
        self.push(FIRST_COMMITS)
        with self.counting:
            self.earlier += self.count_rows(*self.result_tables)
            self.store = self.watcher.place.store
        self.process = self.start()

    def push(self, count: int) -> None:
        """Adds the next commits to the branch that is watched."""
        self.pushed = min(self.pushed + count, len(self.commits))
        newest = self.commits[self.pushed - 1]["commit"]
        command = ["git", "-C", str(self.watcher.place.folder / "repository"), "update-ref"]
        subprocess.run([*command, "refs/heads/main", newest], check=True)

    def begin_round(self) -> None:
        if self.pushed == len(self.commits):
            self.check_repository()
            self.make_repository()
        else:
            self.push(NEXT_COMMITS)
            self.process = self.start()

    def end(self) -> None:
        """Ends the watcher."""
        self.watcher.place.clean_up()

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
        self.watcher.kills[way] += 1
        with contextlib.suppress(ProcessLookupError):  # It may have come to its end.
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
        self.check_repository()
        return self.found

    def check_repository(self) -> None:
        """Compares what was stored of the repository with what is there, up to its last commit."""
        known = [one["commit"] for one in self.commits[: self.pushed]]
        incidents = self.watcher.expected["incidents"]
        there = [one for one in incidents if one.get("culprit", one.get("last")) in known]
        self.watcher.expected = {**self.watcher.expected, "incidents": there}
        self.watcher.finish()
        print(f"{self.name}: {self.watcher.report()}", flush=True)
        self.found += self.watcher.faults + left_folders(self.watcher.place)


def left_folders(place: Workplace) -> list[str]:
    """Temporary folders that no command has removed."""
    left = sorted(one.name for one in (place.folder / "temporary").glob("assay-*"))
    return [f"left: temporary folders {left}"] if left else []


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
