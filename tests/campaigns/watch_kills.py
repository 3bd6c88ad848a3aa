"""Kills a watcher at random moments: nothing it has made is lost, doubled or left unfinished.

    python tests/campaigns/watch_kills.py --kills 20 --seed 1 [--commits 64] [--keep FOLDER]

A synthetic repository (synthetic_repository/make_repository.py) is watched with `assay watch
--once`. The campaign kills Assay, its process group, or one of its children, and starts the next
watcher, until it has killed often enough; the last one ends by itself. Then it counts builds, runs,
points and incidents. The campaign ends with 1 if something is wrong with them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

import watched_repository
from driver import BIN, Document, Workplace, wait_until

LOOKS = 2
"""A build is measured once and looked at a second time."""

LONGEST_S = 3600


class KilledWatcher:
    """One watched repository, and what was seen of it before each kill."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        command = [sys.executable, str(watched_repository.GENERATOR), str(folder), "--force"]
        command += ["--seed", str(options.seed), "--commits", str(options.commits)]
        subprocess.run(command, check=True, capture_output=True)
        self.place = Workplace(folder)
        self.expected: Document = json.loads((folder / "expected.json").read_text())
        self.chance = random.Random(options.seed)
        self.seed = options.seed
        self.most_s = options.most_seconds
        self.kills: Counter[str] = Counter()
        self.seen: set[str] = set()
        self.faults: list[str] = []
        self.ways: dict[str, Callable[[subprocess.Popen[str]], None]] = {
            "process": lambda process: process.kill(),
            "group": lambda process: os.killpg(process.pid, signal.SIGKILL),
            "child": self.kill_child,
        }

    def kill_child(self, process: subprocess.Popen[str]) -> None:
        children = [pid for pid in self.place.process_ids() if pid != process.pid]
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.chance.choice(children) if children else process.pid, signal.SIGKILL)

    def start(self) -> subprocess.Popen[str]:
        # Outside of a sandbox the toolchain of the references is warm, so that kills hit the rest.
        python = ("--python", self.place.python, "--trust")
        return self.place.start("watch", "toy.json", "--once", "--quiet", *python)

    def kill_one(self) -> bool:
        """Kills a watcher; false where it had nothing left to do."""
        way = self.chance.choice(list(self.ways))
        process = self.start()
        try:
            _, text = process.communicate(timeout=self.chance.uniform(0, self.most_s))
            if process.returncode != 0:
                self.faults.append(f"stopped: with {process.returncode} before a kill: {text}")
            return process.returncode != 0 and len(self.faults) < 10
        except subprocess.TimeoutExpired:
            self.seen |= self.place.launch_ids()
            self.ways[way](process)
        self.kills[way] += 1
        if way == "child":  # The watcher may go on, and says why if it does not.
            time.sleep(self.chance.uniform(0, 2))
            process.kill()
        process.communicate(timeout=120)
        self.check_store(f"kill {sum(self.kills.values())} of the {way}")
        return True

    def finish(self) -> None:
        _, text = self.start().communicate(timeout=LONGEST_S)
        if "error" in text:
            self.faults.append(f"the last watcher: {text}")
        self.check_store("the end")
        self.check_builds()
        self.check_runs()
        self.check_points()
        self.check_incidents()

    # ---- what holds

    def check_store(self, after: str) -> None:
        try:
            wait_until(lambda: self.place.processes() == [])
        except AssertionError:
            self.faults.append(f"left: {self.place.processes()} after {after}")
            self.place.clean_up()
        if not self.place.store.exists() or not self.place.query("select 1 from sqlite_master"):
            return
        if self.place.query("pragma integrity_check") != [("ok",)]:
            self.faults.append(f"damaged: the store after {after}")
        if lost := self.seen - self.place.launch_ids():
            self.faults.append(f"lost: {len(lost)} launches after {after}")
        self.seen = self.place.launch_ids()

    def fault_rows(self, what: str, sql: str) -> None:
        if rows := self.place.query(sql):
            self.faults.append(f"{what}: {rows}")

    def check_builds(self) -> None:
        self.fault_rows(
            "builds that are there twice",
            "select revision, count(*) from engine_build group by revision having count(*) > 1",
        )

    def check_runs(self) -> None:
        self.fault_rows(
            "runs that were left unfinished",
            "select id, purpose, labels from run where finished_unix_ns = 0",
        )
        self.fault_rows(
            "attempts of a case and pass that were doubled",
            "select run, case_key, subject, pass, count(*) from attempt join run on run.id = run "
            "where attempt.outcome = 'completed' and purpose = 'watch' "
            "group by 1, 2, 3, 4 having count(*) > 1",
        )
        self.fault_rows(
            "comparisons for an incident that were made twice",
            "select json_extract(labels, '$.incident') as incident, "
            "json_extract(labels, '$.attempt') as attempt, json_extract(labels, '$.commit'), "
            "json_extract(labels, '$.against'), count(*) from run "
            "where purpose = 'verify' and incident is not null "
            "group by 1, 2, 3, 4 having count(*) > 1",
        )
        self.fault_rows(
            "runs without points",
            "select id from run where purpose = 'watch' and id not in (select run from point) "
            "and json_extract(labels, '$.points') is null",
        )

    def check_points(self) -> None:
        self.fault_rows(
            "points that were measured too often",
            "select series, revision, count(*) from point group by series, revision "
            f"having count(*) > {LOOKS}",
        )

    def check_incidents(self) -> None:
        found = [json.loads(row) for (row,) in self.place.query("select document from incident")]
        names = Counter(
            (one["kind"], one["metric"], one["culprit"] or one["good"] + one["bad"], *one["cases"])
            for one in found
            if watched_repository.is_confirmed(one)
        )
        self.faults += [f"doubled: incident {name}" for name, count in names.items() if count > 1]
        self.tally = watched_repository.Tally()
        watched_repository.judge(self.expected, found, self.seed, self.tally)
        self.faults += [f"wrong: {text}" for text in self.tally.wrong]

    def report(self) -> str:
        counts = [
            f"{self.place.query(f'select count(*) from {table}')[0][0]} {name}"
            for table, name in (
                ("engine_build", "builds"),
                ("run", "runs"),
                ("launch", "launches"),
                ("point", "points"),
                ("incident", "incidents"),
            )
        ]
        states = Counter(
            state for (state,) in self.place.query("select document->>'state' from incident")
        )
        found = sum(self.tally.found.values())
        return (
            f"{sum(self.kills.values())} kills ({dict(self.kills)}): {', '.join(counts)}; "
            f"{dict(states)}; {found} of {sum(self.tally.there.values())} changes found, "
            f"{len(self.faults)} faults"
        )


def main() -> int:
    """Reads the command line; 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commits", type=int, default=64)
    parser.add_argument("--most-seconds", type=float, default=20, help="Until a kill, at most")
    parser.add_argument("--keep", type=Path, help="Folder of the repository and the store")
    options = parser.parse_args()
    assert (BIN / "assay").exists(), f"build first: there is no {BIN / 'assay'}"
    with tempfile.TemporaryDirectory() as folder:
        watcher = KilledWatcher(options.keep or Path(folder) / "watched", options)
        while sum(watcher.kills.values()) < options.kills and watcher.kill_one():
            print(f"kill {sum(watcher.kills.values())}: {len(watcher.seen)} launches", flush=True)
        watcher.finish()
        print(watcher.report())
    print("\n".join(watcher.faults))
    return 1 if watcher.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
