"""Random sequences of verbs over one store: no later one may change what an earlier run reports.

    python tests/campaigns/stored_results.py --sequences 20 --seed 1

Programs are those of the fake engine, among them equal bytes under other names, alone and made by
a recipe. Runs, comparisons and runs on a fleet are interrupted, merged, resumed and merged again:
they report what their own store does. After each verb every finished run's report (json, md, csv)
is compared with its first one, byte for byte.
"""

import argparse
import contextlib
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from driver import Document, Workplace, wait_until
from fleet_hosts import Cluster

SCRIPT = Path(__file__).resolve().parents[1] / "e2e" / "scripted_toolchain.py"
RECIPE = "executorch/portable"
ENGINE = "executorch@scripted"
FACTORY = "def net():\n    raise NotImplementedError\n"
QUICK = ("--launches", "1", "--iterations", "3", "--warmup", "1", "--time-budget", "1s", "--quiet")
RESUMED: Document = {"launches": 4, "warmup": 1, "iterations": 3, "passes": ["timing", "memory"]}
FORMATS = ("json", "md", "csv")


@dataclass
class Tally:
    """Actions of a campaign, and every difference that it found."""

    sequences: int = 0
    steps: int = 0
    compared: int = 0
    differences: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.sequences} sequences, {self.steps} steps, {self.compared} reports compared, "
            f"{len(self.differences)} differences"
        )


def query(store: Path, sql: str) -> list[tuple[str, ...]]:
    """Rows of a store; none where it is empty."""
    with contextlib.closing(sqlite3.connect(store)) as connection:
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.OperationalError:
            return []


class Sequence:
    """One store, and what its runs reported first."""

    def __init__(self, folder: Path, seed: int, tally: Tally, *, has_slow_verbs: bool) -> None:
        self.place = Workplace(folder)
        self.chance = random.Random(seed)
        self.tally = tally
        self.first: dict[str, dict[str, bytes]] = {}
        self.cluster: Cluster | None = None
        self.place.use_script_as_toolchain(SCRIPT)
        self.place.register_fake_as("executorch", "scripted", fmt="pte")
        self.module = folder / "net.py"
        self.module.write_text(FACTORY, encoding="utf-8")
        one = self.place.program("one")
        same = folder / "same.fake.json"
        shutil.copy(one, same)
        self.programs = [one, same, self.place.program("two", execute_ns=20_000)]
        self.verbs = [self.bench, self.bench, self.evaluate, self.run_spec, self.run_recipe]
        self.verbs += [self.run_recipe_and_its_program, self.rebuild, self.resume, self.merge]
        self.verbs += [self.read_only, self.interrupt_comparison]
        if has_slow_verbs:
            self.verbs += [self.compare, self.calibrate, self.conform, self.interrupt_on_fleet]

    # ---- verbs

    def bench(self) -> None:
        self.place.run("bench", self.chance.choice(self.all_programs()), *QUICK)

    def evaluate(self) -> None:
        self.place.run("eval", self.chance.choice(self.all_programs()), "--quiet")

    def run_spec(self) -> None:
        some = self.chance.sample(self.programs, self.chance.randint(1, 2))
        self.place.run("run", self.place.spec(*some), "--quiet")

    def run_recipe(self, *flags: str) -> None:
        self.place.run("run", self.recipe_spec(), "--quiet", *flags)

    def rebuild(self) -> None:
        self.run_recipe("--rebuild")

    def run_recipe_and_its_program(self) -> None:
        self.place.run("run", self.recipe_spec(*self.made_programs()), "--quiet")

    def resume(self) -> None:
        """A run is killed and goes on, after another one."""
        slow = [self.place.program(f"slow{i}", execute_ns=5_000_000) for i in range(2)]
        before = len(self.place.launch_ids())
        process = self.place.start("run", self.place.spec(*slow, measure=RESUMED), "--quiet")
        end = time.monotonic() + 20
        while process.poll() is None and time.monotonic() < end:
            if len(self.place.launch_ids()) > before:
                process.kill()
        process.communicate()
        (killed,) = self.place.query("select id from run order by rowid desc limit 1")[0]
        self.bench()
        self.place.run("run", "--resume", killed, "--quiet")

    def merge(self) -> None:
        other = self.place.folder / "other.db"
        self.place.run("bench", self.programs[0], *QUICK, "--store", other)
        self.place.run("merge", other)

    def interrupt_comparison(self) -> None:
        """One in a store of its own is interrupted, merged, resumed and merged again."""
        a, b = (self.place.program(f"pair{i}", execute_ns=2_000_000) for i in range(2))
        other = self.place.folder / f"comparison{self.tally.steps}.db"
        command = ("compare", a, b, "--most-pairs", "10", "--iterations", "3", "--quiet")
        self.interrupt(other, command, self.chance.choice((signal.SIGINT, signal.SIGKILL)))
        before = self.copy_of(other)
        self.merge_sometimes(other)
        self.place.run("compare", "--resume", "latest", "--quiet", "--store", other)
        self.merge_both(other, before)

    def interrupt_on_fleet(self) -> None:
        """A driver is killed, its store merged, and the run goes on and is merged again."""
        cluster = Cluster(self.place) if self.cluster is None else self.cluster
        self.cluster = cluster
        slow = [self.place.program(f"far{i}", load_ns=300_000_000) for i in range(2)]
        other = self.place.folder / f"fleet{self.tally.steps}.db"
        command = ("run", self.place.spec(*slow), "--executor", "farm", "--quiet")
        self.interrupt(other, command, signal.SIGKILL)
        before = self.copy_of(other)
        self.merge_sometimes(other)
        resumed = ("run", "--resume", "latest", "--executor", "farm", "--quiet")
        self.place.run(*resumed, "--store", other)
        self.merge_both(other, before)

    def interrupt(self, store: Path, command: tuple[str | Path, ...], number: int) -> None:
        """Starts a command on a store, and stops it after some time."""
        process = self.place.start(*command, "--store", store)
        wait_until(lambda: store.exists() or process.poll() is not None, timeout_s=30)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=self.chance.uniform(0, 1.5))
        process.send_signal(number)
        process.communicate()

    def copy_of(self, store: Path) -> Path:
        """The store as it is, in one file."""
        copy = store.with_suffix(".before.db")
        with (
            contextlib.closing(sqlite3.connect(store)) as source,
            contextlib.closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        return copy

    def merge_sometimes(self, store: Path) -> None:
        if self.chance.random() < 0.7:
            self.place.run("merge", store)

    def merge_both(self, store: Path, before: Path) -> None:
        """The store and what it was, in some order: the reports are those of the store."""
        both = [store, before]
        self.chance.shuffle(both)
        for one in both:
            self.place.run("merge", one)
        calibrations = "select 1 from attachment where kind = 'calibration'"
        if self.place.store.exists() and query(self.place.store, calibrations):
            return  # A report is headed by one, which the other store does not have.
        for (run,) in query(store, "select id from run where finished_unix_ns <> 0"):
            self.first[run] = self.reports_of(run, "--store", store)

    def read_only(self) -> None:
        self.place.run("list", "runs")
        self.place.run("run", "--resume", "latest", "--quiet")
        self.place.run("run", self.place.spec(*self.programs), "--dry-run")

    def compare(self) -> None:
        a, b = self.chance.sample(self.programs, 2)
        self.place.run("compare", a, b, "--most-pairs", "10", "--iterations", "3", "--quiet")

    def calibrate(self) -> None:
        self.place.run("calibrate", "--for", "2s", "--quiet")

    def conform(self) -> None:
        self.place.run(
            *("conform", "--recipe", RECIPE, "--engine", ENGINE, "--quiet", "--only", "good"),
            *("--known", str(self.place.folder / "known")),
        )

    # ---- what they work on

    def made_programs(self) -> list[Path]:
        """Programs that a recipe made, as files of their own name."""
        made = sorted(self.place.home.glob("cache/*/*/program.fake.json"))
        copies = []
        for index, path in enumerate(made[:2]):
            folder = self.place.folder / f"copy{index}"
            folder.mkdir(exist_ok=True)
            copies.append(Path(shutil.copy(path, folder / path.name)))
        return copies

    def all_programs(self) -> list[Path]:
        return self.programs + self.made_programs()

    def recipe_spec(self, *programs: Path) -> Path:
        models: list[Path | Document] = [
            {"ref": f"{self.module}:net", "args": {"behaves": how}} for how in ("right", "left")
        ]
        return self.place.spec(
            *models, *programs, name="made", recipes=[RECIPE], engines=[ENGINE, "fake"]
        )

    # ---- what they must not change

    def reports_of(self, run: str, *where: str | Path) -> dict[str, bytes]:
        files = {name: self.place.folder / f"report.{name}" for name in FORMATS}
        flags = [flag for file in files.values() for flag in ("--report", str(file))]
        for file in files.values():
            file.unlink(missing_ok=True)
        text = str(self.place.folder / "text")
        done = self.place.run("report", run, "--out", text, *flags, *where)
        told = f"exit {done.code} {done.err}".encode()
        return {name: f.read_bytes() if f.exists() else told for name, f in files.items()}

    def check(self, verb: str) -> None:
        if not self.place.launch_ids():
            return
        for (run,) in self.place.query(
            "select id from run where finished_unix_ns <> 0 and purpose <> 'reduce'"
        ):
            now = self.reports_of(run)
            then = self.first.setdefault(run, now)
            for name in FORMATS:
                self.tally.compared += 1
                if now[name] != then[name]:
                    self.tally.differences.append(f"{name} of run {run} after {verb}")
            self.first[run] = now

    def step(self) -> None:
        verb = self.chance.choice(self.verbs)
        verb()
        self.tally.steps += 1
        self.check(verb.__name__)


def run_sequences(
    count: int, steps: int, seed: int, folder: Path, *, has_slow_verbs: bool = False
) -> Tally:
    """Plays `count` sequences of `steps` verbs, each in a store of its own."""
    tally = Tally()
    for index in range(count):
        place = folder / f"sequence{index}"
        place.mkdir()
        sequence = Sequence(place, seed + index, tally, has_slow_verbs=has_slow_verbs)
        for _ in range(steps):
            sequence.step()
        tally.sequences += 1
        shutil.rmtree(place, ignore_errors=True)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sequences", type=int, default=10)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = run_sequences(
            options.sequences, options.steps, options.seed, Path(folder), has_slow_verbs=True
        )
    print(tally)
    print(json.dumps(tally.differences, indent=2) if tally.differences else "")
    return 1 if tally.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
