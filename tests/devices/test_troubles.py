"""Whatever goes wrong with a device: no case is blamed, nothing measured is lost, nothing left."""

import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from arm_programs import add_fake_engine
from board import Board
from conditions import CONDITIONS, Condition, Harshness, find_condition
from driver import BIN, FAST_MEASURE, Finished, Workplace, wait_for_end, wait_until
from inventory import write_entry
from machine import Machine
from namespaces import kill_processes

pytestmark = pytest.mark.slow

LAUNCHES = 3
PROGRAMS = 2
RETURN_WAIT = "2s"
WELL = (0, 6)
COULD_NOT_RUN, INTERRUPTED = 3, 130
MOMENTS = ("before", "start", "middle")
FOREIGN = ("notes", "tmp/notes", "blobs/notes", ".cache/other/notes", ".cache/assay-agent/notes")
KNOBS = ("scaling_governor", "scaling_min_freq", "scaling_max_freq")
ROWS = ("launch", "sample_block")


@dataclass(frozen=True)
class Trouble:
    """A condition that begins at a moment of a run; it lasts that long, or until the run ends."""

    condition: Condition
    moment: str
    lasts_s: float | None = None

    def __str__(self) -> str:
        lasts = "until its end" if self.lasts_s is None else f"for {self.lasts_s} s"
        return f"{self.condition.name} at {self.moment} {lasts}"


def trouble(name: str, moment: str, lasts_s: float | None = None) -> Trouble:
    return Trouble(find_condition(name), moment, lasts_s)


def troubles_by_chance(seed: int) -> list[Trouble]:
    """One to three troubles of different kinds."""
    chance = random.Random(seed)
    chosen = chance.sample(CONDITIONS, chance.choice((1, 1, 2, 3)))
    lasts = (None, 0.5, 5.0, 20.0)
    return [Trouble(one, chance.choice(MOMENTS), chance.choice(lasts)) for one in chosen]


class Scene:
    """A board that a workplace knows, with files and settings that are not Assay's."""

    def __init__(self, place: Workplace, board: Board) -> None:
        self.place, self.board = place, board
        self.harshness = Harshness(board)
        # ssh heeds what it is told first: it looks each second, and not each five as Assay asks.
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config} -o ServerAliveInterval=1"
        place.ok("device", "add", "ssh:board", "--name", "desk")
        write_entry(place, policy={"frequency": "max", "return_wait": RETURN_WAIT})
        self.knobs = self.read_knobs()

    def write_spec(self) -> Path:
        """A run of programs that the board has never had."""
        number = len(self.runs())
        times_ns = [20_000_000 + number * PROGRAMS + i for i in range(PROGRAMS)]
        programs = [
            self.place.program(f"net{number}-{i}", execute_ns=execute_ns)
            for i, execute_ns in enumerate(times_ns)
        ]
        measure = {**FAST_MEASURE, "launches": LAUNCHES}
        return self.place.spec(*programs, devices=["desk"], measure=measure)

    def read_knobs(self) -> list[str]:
        names = itertools.product(self.board.sensors.cores, KNOBS)
        return [self.board.sensors.read(core, name) for core, name in names]

    def put_foreign_files(self) -> None:
        for name in FOREIGN:
            file = self.board.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{name}, not Assay's")

    def runs(self) -> list[str]:
        """Ids of all runs, the oldest first; none before there is a store."""
        if not self.place.launch_ids() and not self.place.store.exists():
            return []
        return [id_ for (id_,) in self.place.query("select id from run order by started_unix_ns")]

    def rows(self) -> dict[str, set[tuple[object, ...]]]:
        """All that was measured."""
        if not self.place.launch_ids():
            return {table: set() for table in ROWS}
        return {table: set(self.place.query(f"select * from {table}")) for table in ROWS}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("conditions")
    place = Workplace(folder)
    with Board(folder / "board", has_sensors=True, has_guest=True, has_relay=True) as board:
        yield Scene(place, board)
        place.clean_up()


class Run:
    """A run under troubles, and what must hold of it."""

    def __init__(self, scene: Scene, troubles: list[Trouble]) -> None:
        self.scene, self.place = scene, scene.place
        self.troubles = troubles
        self.open: list[Trouble] = []
        self.earlier = set(scene.runs())
        self.kept = scene.rows()
        self.spec = scene.write_spec()
        scene.put_foreign_files()

    def begin(self, moment: str) -> None:
        """Begins what begins now; ends what is over after its time."""
        for one in self.troubles:
            if one.moment == moment:
                self.open.append(one)
                self.scene.harshness.apply(one.condition.begins)

    def end(self, of: list[Trouble]) -> None:
        """Ends troubles, the last first."""
        for one in reversed(of):
            self.scene.harshness.apply(one.condition.ends)
            self.open.remove(one)

    def find(self) -> str | None:
        """The run's id, once it is stored."""
        return next((run for run in self.scene.runs() if run not in self.earlier), None)

    def wait_for_middle(self, process: "subprocess.Popen[str]", end: float) -> None:
        """Returns when a launch was stored, the run has ended, or the time is over."""
        known = len(self.kept["launch"])
        while process.poll() is None and time.monotonic() < end:
            if len(self.place.launch_ids()) > known:
                return
            time.sleep(0.01)

    def suffer(self) -> Finished:
        """Runs it under its troubles."""
        self.begin("before")
        process = self.place.start("run", self.spec, "--quiet")
        begun = time.monotonic()
        self.begin("start")
        self.wait_for_middle(process, begun + 10)
        if process.poll() is None:
            self.keep_rows()
            self.begin("middle")
        short = sorted((one for one in self.open if one.lasts_s), key=lambda one: one.lasts_s or 0)
        for one in short:
            while process.poll() is None and time.monotonic() < begun + (one.lasts_s or 0):
                time.sleep(0.02)
            self.end([one])
        finished = wait_for_end(process, 200)
        self.end(list(self.open))
        return finished

    def keep_rows(self) -> None:
        """Fails where something that was measured before has changed."""
        now = self.scene.rows()
        for table, rows in self.kept.items():
            assert rows <= now[table], f"{table}: {len(rows - now[table])} rows were lost"
        self.kept = now

    def complete(self, finished: Finished) -> Finished:
        """Goes on with it until it is complete, now that nothing is wrong."""
        for _ in range(3):
            if finished.code in WELL:
                return finished
            assert finished.code == COULD_NOT_RUN, finished
            self.keep_rows()
            again = ("run", "--resume", run) if (run := self.find()) else ("run", self.spec)
            finished = self.place.run(*again, "--quiet")
        return finished

    def check_told(self, finished: Finished) -> None:
        """A run that stops says why, in the words of one of its troubles."""
        if finished.code == COULD_NOT_RUN:
            told = [one.condition.told for one in self.troubles if one.condition.told]
            assert not told or any(re.search(text, finished.err) for text in told), finished
            assert len(finished.err.splitlines()) <= 12, finished

    def check_results(self, finished: Finished) -> None:
        """Each case has its launches, each once, and no verdict that the device has made."""
        assert finished.code in WELL, finished
        self.keep_rows()
        run = self.find()
        counted = self.place.query(
            "select case_key, attempt.outcome, launch.outcome, count(*) from attempt "
            "join launch on launch.attempt = attempt.id where run = ? group by 1, 2, 3",
            run,
        )
        ways = [(whole, one, count) for _, whole, one, count in counted]
        assert ways == [("completed", "completed", LAUNCHES)] * PROGRAMS, (counted, finished)

    def check_device(self) -> None:
        """Nothing of Assay runs there, and what is not Assay's is as it was."""
        board = self.scene.board
        wait_until(lambda: not board.processes("assay") and not board.processes("ld-"))
        wait_until(lambda: self.scene.read_knobs() == self.scene.knobs)
        # Whoever loses the whole home loses these, too.
        if not any(one.condition.name == "lost_power_and_home" for one in self.troubles):
            texts = {name: (board.home / name).read_text() for name in FOREIGN}
            assert texts == {name: f"{name}, not Assay's" for name in FOREIGN}
        left = board.ssh("ls /tmp").stdout.decode().split()
        assert not left, "the board's /tmp"
        own = [one for one in self.place.processes() if "/dial.py " not in one]
        assert not own, "processes of the run, beside relays of forgotten connections"


def check(scene: Scene, troubles: list[Trouble]) -> None:
    """The property that holds whatever breaks."""
    run = Run(scene, troubles)
    first = run.suffer()
    print(f"exit code {first.code}\n{first.err}")
    run.check_told(first)
    run.check_results(run.complete(first))
    run.check_device()


def ids_of(troubles: list[Trouble]) -> str:
    return ", ".join(map(str, troubles))


QUICK = (
    [trouble("full_memory_disk", "middle"), trouble("clock_ahead", "middle")],
    [trouble("folder_of_another", "middle"), trouble("killed_agent", "middle")],
    [trouble("lost_power_and_bytes", "middle"), trouble("clock_behind", "before")],
    [trouble("half_open_link", "middle"), trouble("slow_link", "middle")],
    [trouble("full_disk", "before"), trouble("clock_ahead", "middle")],
    [trouble("full_disk", "middle"), trouble("lost_power_and_home", "middle", 1.0)],
)


@pytest.mark.parametrize("troubles", QUICK, ids=ids_of)
def test_run_outlives_troubles(scene: Scene, troubles: list[Trouble]) -> None:
    check(scene, troubles)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(int(os.environ.get("ASSAY_TROUBLES", "40"))))
def test_run_outlives_troubles_by_chance(scene: Scene, seed: int) -> None:
    troubles = troubles_by_chance(seed)
    print(ids_of(troubles))
    check(scene, troubles)


def spans(place: Workplace, earlier: set[str]) -> list[tuple[int, int]]:
    """Begin and end of each launch since, by the device's clock."""
    rows = place.query("select id, conditions_before, conditions_after from launch")
    return [
        (json.loads(before)["unix_ns"], json.loads(after)["unix_ns"])
        for id_, before, after in rows
        if id_ not in earlier
    ]


def test_two_hosts_and_two_accounts_take_turns(scene: Scene, place: Workplace) -> None:
    place.env["ASSAY_SSH"] = f"ssh -F {scene.board.plain_ssh_config}"
    earlier = scene.place.launch_ids()
    often = ("--launches", "2", "--iterations", "5", "--warmup", "0", "--quiet")
    programs = [one.program("turn", execute_ns=30_000_000) for one in (scene.place, place)]
    # Another host has processes of its own, which only root can give it.
    other = ("unshare", "--pid", "--fork") if os.geteuid() == 0 else ("env",)
    commands = [
        scene.place.start("bench", programs[0], "--device", "desk", *often),
        scene.place.start("bench", programs[0], "--device", "ssh:guest", *often),
        place.start(
            *other[1:],
            *(BIN / "assay", "bench", programs[1], "--device", "ssh:board", *often),
            program=Path(other[0]),
        ),
    ]
    for command in commands:
        finished = wait_for_end(command)
        assert finished.code in WELL, finished
    launches = sorted(spans(scene.place, earlier) + spans(place, set()))
    assert len(launches) >= 6
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(launches)), launches


def test_agent_that_ends_in_a_long_pause_before_the_first_launch(scene: Scene) -> None:
    place, board = scene.place, scene.board
    earlier = set(scene.runs())
    slow = place.program("slow", execute_ns=100_000_000)
    first = place.start("bench", slow, "--device", "desk", "--launches", "100", "--quiet")
    wait_until(lambda: bool(set(scene.runs()) - earlier))
    mine = board.processes("assay-agent")
    second = place.start("bench", slow, "--device", "desk", "--launches", "1")
    assert second.stderr is not None
    told = next((line for line in iter(second.stderr.readline, "") if "waiting" in line), "")
    assert "waiting for the device" in told
    # As an agent does that nobody has asked for ten minutes.
    kill_processes(sorted(set(board.processes("assay-agent")) - set(mine)))
    first.terminate()
    assert wait_for_end(first).code == INTERRUPTED
    assert wait_for_end(second).code in WELL


@pytest.mark.long
def test_clock_of_its_own_changes_nothing(place: Workplace) -> None:
    with Machine(place.folder / "machine", clock="2040-01-01T00:00:00") as machine:
        place.env["ASSAY_SSH"] = f"ssh -F {machine.ssh_config}"
        add_fake_engine(place)
        place.ok("device", "add", "ssh:machine", "--name", "desk")
        begin_ns = time.time_ns()
        program = place.program("net", execute_ns=20_000_000)
        finished = place.run("bench", program, "--device", "desk", "--launches", "2", "--quiet")
        assert finished.code in WELL, finished
        place.ok("device", "release", "desk")
    ((started_ns, ended_ns),) = place.query("select started_unix_ns, finished_unix_ns from run")
    assert begin_ns <= started_ns <= ended_ns <= time.time_ns()
    launches = sorted(spans(place, set()))
    assert all(before <= after for before, after in launches)
    assert launches[0][0] > time.time_ns() + 10**17, "the device's own clock"
