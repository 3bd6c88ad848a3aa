"""Kills at random moments over verbs: nothing stored is lost, doubled or changed by them.

    python tests/campaigns/kills.py --kills 1000 --seed 1

Verbs work on each store, and the campaign ends most of them before they finish, in one of five
ways: it kills Assay, Assay's process group, or a process that Assay has started; it interrupts
Assay; or it limits the size of files, as a full disk would. After each kill the campaign reads the
store. At the end of a store's life it resumes every run that was cut off and counts the launches
against the plan.
"""

import argparse
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from driver import BIN, Document, wait_until
from stored_results import ENGINE, RECIPE, Sequence, Tally

LAUNCHES = 3
MEASURE: Document = {
    **{"launches": LAUNCHES, "warmup": 1, "iterations": 3, "time_budget": "2s"},
    "passes": ["timing", "memory"],
}
KILLS_A_STORE = 40
TRIES = 6
EXIT_CODES = {0, 1, 3, 5, 6, 130, -signal.SIGINT, -signal.SIGKILL}
"""4 would be a fault of Assay, 2 of this campaign; a verb that does not wait ends by SIGINT."""
NOTHING_TO_RESUME = 2
SMALLEST_LIMIT_BYTES, LARGEST_LIMIT_BYTES = 1 << 12, 1 << 20


@dataclass
class KillTally(Tally):
    """Kills by verb and way, and all that they did wrong."""

    kills: Counter[tuple[str, str]] = field(default_factory=Counter)
    resumed: int = 0
    launches: int = 0
    faults: list[str] = field(default_factory=list)

    def table(self) -> str:
        ways = sorted({way for _, way in self.kills})
        lines = [f"{'verb':<10}" + "".join(f"{way:>12}" for way in ways) + f"{'all':>8}"]
        for verb in sorted({verb for verb, _ in self.kills}):
            counts = [self.kills[verb, way] for way in ways]
            lines.append(f"{verb:<10}" + "".join(f"{n:>12}" for n in counts) + f"{sum(counts):>8}")
        return "\n".join(lines)

    def __str__(self) -> str:
        kinds = Counter(fault.split(":")[0] for fault in self.faults)
        told = ", ".join(f"{kinds[kind]} {kind}" for kind in ("lost", "doubled", "damaged", "left"))
        return (
            f"{sum(self.kills.values())} kills, {self.resumed} runs resumed, {self.launches} "
            f"launches, {self.compared} reports compared: {told}, {len(self.differences)} changed"
        )


class KilledStore(Sequence):
    """One store, and what was seen in it before each kill."""

    tally: KillTally

    def __init__(self, folder: Path, seed: int, tally: KillTally) -> None:
        super().__init__(folder, seed, tally, has_slow_verbs=False)
        self.seen: set[str] = set()
        self.usual_s: dict[str, float] = {}
        slow = [self.place.program(f"slow{i}", execute_ns=2_000_000) for i in range(2)]
        self.plain = self.place.spec(*slow, measure=MEASURE, name="plain")
        self.lowered = Path(shutil.copy(self.recipe_spec(), folder / "lowered.json"))
        self.commands: dict[str, Callable[[], list[str | Path]]] = {
            "run": lambda: ["run", self.chance.choice([self.plain, self.lowered])],
            "resume": lambda: ["run", "--resume", self.cut_off_run() or "latest"],
            "compare": lambda: ["compare", *slow, "--most-pairs", "10", "--iterations", "3"],
            "conform": lambda: [
                *("conform", "--recipe", RECIPE, "--engine", ENGINE, "--only", "good"),
                *("--known", str(folder / "known")),
            ],
            "merge": lambda: ["merge", self.other_store()],
            "aot": lambda: [
                *("aot", f"{self.module}:net", "--recipe", RECIPE, "--engine", ENGINE),
                *("--args", json.dumps({"n": self.chance.randrange(10_000)})),
                *("--out", folder / "made"),
            ],
        }
        self.ways: dict[str, Callable[[subprocess.Popen[str]], None]] = {
            "kill": lambda process: process.kill(),
            "kill group": lambda process: os.killpg(process.pid, signal.SIGKILL),
            "kill child": self.kill_child,
            "interrupt": lambda process: process.send_signal(signal.SIGINT),
            "file limit": lambda process: set_file_limit(process, self.chance),
        }

    # ---- what the verbs work on

    def cut_off_run(self) -> str | None:
        if not self.place.launch_ids():
            return None
        runs = self.place.query(
            "select id from run where finished_unix_ns = 0 and purpose = 'measure'"
        )
        return self.chance.choice(runs)[0] if runs else None

    def other_store(self) -> Path:
        """A store with one finished run of its own."""
        path = self.place.folder / f"other{self.chance.randrange(1 << 30)}.db"
        self.place.ok("run", self.plain, "--store", path, "--quiet")
        return path

    # ---- kills

    def kill_child(self, process: subprocess.Popen[str]) -> None:
        children = [pid for pid in self.place.process_ids() if pid != process.pid]
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.chance.choice(children) if children else process.pid, signal.SIGKILL)

    def kill_one(self) -> None:
        """Ends a verb at a random moment of its usual time; tries again where it was over."""
        verb, way = self.chance.choice(list(self.commands)), self.chance.choice(list(self.ways))
        for _ in range(TRIES):
            if self.try_to_kill(verb, way):
                return

    def try_to_kill(self, verb: str, way: str) -> bool:
        """True if the verb was still running when its moment came."""
        expected = set(EXIT_CODES)
        if verb == "resume" and self.cut_off_run() is None:
            expected.add(NOTHING_TO_RESUME)
        arguments = self.commands[verb]()
        began = time.monotonic()
        process = self.place.start(*arguments)
        try:
            process.communicate(timeout=self.chance.uniform(0, self.usual_s.get(verb, 0.2)))
        except subprocess.TimeoutExpired:
            self.seen |= self.place.launch_ids()
            self.ways[way](process)
        else:
            self.usual_s[verb] = time.monotonic() - began
            return False
        process.communicate(timeout=120)
        self.tally.kills[verb, way] += 1
        self.check_store(f"{verb} by {way}")
        if process.returncode not in expected:
            self.fault("damaged", f"{verb} by {way} ended with {process.returncode}")
        return True

    # ---- what holds afterwards

    def fault(self, kind: str, text: str) -> None:
        self.tally.faults.append(f"{kind}: {text}")

    def check_store(self, after: str) -> None:
        try:
            wait_until(lambda: self.place.processes() == [])
        except AssertionError:
            self.fault("left", f"{self.place.processes()} after {after}")
            self.place.clean_up()
        if not self.place.store.exists() or not self.place.query("select 1 from sqlite_master"):
            return
        if self.place.query("pragma integrity_check") != [("ok",)]:
            self.fault("damaged", f"the store after {after}")
        if orphans := self.place.query("pragma foreign_key_check"):
            self.fault("damaged", f"{len(orphans)} rows without their owner after {after}")
        present = self.place.launch_ids()
        if lost := self.seen - present:
            self.fault("lost", f"{len(lost)} launches after {after}")
        self.seen = present
        if self.place.query(
            "select 1 from launch group by attempt, launch_index, pair, side having count(*) > 1"
        ):
            self.fault("doubled", f"launches after {after}")
        self.check(after)

    def finish(self) -> None:
        """Resumes what was cut off; each case then has its launches, and nothing lies about."""
        while run := self.cut_off_run():
            done = self.place.run("run", "--resume", run, "--quiet")
            self.tally.resumed += 1
            if done.code != 0:
                self.fault("lost", f"run {run} cannot go on: {done}")
                break
        self.check_store("the last resume")
        counted = self.place.query(
            "select run, case_key, pass, count(distinct attempt.id), count(launch.id) "
            "from attempt join run on run.id = run left join launch on attempt = attempt.id "
            "where purpose = 'measure' and name = 'plain' and is_finished "
            "and attempt.outcome = 'completed' group by 1, 2, 3"
        )
        for run, _, measured, attempts, launches in counted:
            planned = LAUNCHES if measured == "timing" else 1
            if attempts != 1 or launches != planned:
                self.fault(
                    "doubled" if launches > planned else "lost",
                    f"{launches} of {planned} {measured} launches in {attempts} attempts of {run}",
                )
        self.tally.launches += len(self.seen)
        self.check_leftovers()

    def check_leftovers(self) -> None:
        self.place.ok("bench", self.programs[0], "--launches", "1", "--iterations", "3", "--quiet")
        left = [one.name for one in (self.place.folder / "temporary").iterdir()]
        if left := [name for name in left if name.startswith("assay-")]:
            self.fault("left", f"temporary folders {left}")


def set_file_limit(process: subprocess.Popen[str], chance: random.Random) -> None:
    """Limits the size of files of the process, and of its children, to a random value."""
    limit = chance.randint(SMALLEST_LIMIT_BYTES, LARGEST_LIMIT_BYTES)
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (limit, limit))


def run_kills(count: int, seed: int, folder: Path) -> KillTally:
    """Kills `count` times, `KILLS_A_STORE` in each store."""
    assert (BIN / "assay").exists(), f"build first: there is no {BIN / 'assay'}"
    tally = KillTally()
    index = 0
    while (killed := sum(tally.kills.values())) < count:
        place = folder / f"store{index}"
        place.mkdir()
        store = KilledStore(place, seed + index, tally)
        until = min(killed + KILLS_A_STORE, count)
        while sum(tally.kills.values()) < until:
            store.kill_one()
        store.finish()
        if not tally.faults and not tally.differences:
            shutil.rmtree(place, ignore_errors=True)
        index += 1
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="Folder of the stores; those with faults stay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = run_kills(options.kills, options.seed, options.keep or Path(folder))
    print(tally.table())
    print(tally)
    print("\n".join([*tally.faults, *tally.differences]))
    return 1 if tally.faults or tally.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
