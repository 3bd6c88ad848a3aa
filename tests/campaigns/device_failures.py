"""Provokes each failure of a device before a run and in its middle, and prints a Markdown table.

    python tests/campaigns/device_failures.py [--device board|phone] [--only agent_killed,reboot]

The board and the phone are those of tests/devices. A row says how the run ended, how long it took
until that was known or the next launch was stored, how many launches were lost, and how long
another command waited for the device afterwards. It ends with 1 if a launch was lost or doubled, a
failure came without a word on what to do, or the device was not free again.
"""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

from board import Board
from driver import BIN, FAST_MEASURE, ROOT, Finished, Workplace, wait_for_end, wait_until
from phone import Phone

LAUNCHES = 6
DOWN_S = 25
"""Time that a link is down in the middle of a run: longer than it takes to notice."""


@dataclasses.dataclass(frozen=True)
class Event:
    """A failure: what brings it about, what ends it, and what its message must say."""

    name: str
    starts: Callable[[], object]
    ends: Callable[[], object] = lambda: None
    advice: str = ""
    """Part of the message before a run; empty: nothing fails."""
    lasts_s: float = 0
    """Duration of a fault in the middle of a run; negative: until the run has ended."""
    middle_ends: bool = False
    """The run stops, to be resumed, for what a person must do."""
    has_middle: bool = True
    has_before: bool = True


@dataclasses.dataclass
class Row:
    """A line of the table."""

    device: str
    event: str
    when: str
    outcome: str
    known_s: float
    lost: int
    free_s: float
    fault: str = ""

    def __str__(self) -> str:
        cells = (self.device, self.event, self.when, self.outcome, f"{self.known_s:.1f}")
        return f"| {' | '.join(cells)} | {self.lost} | {self.free_s:.1f} |{self.fault}"


class Scene:
    """A workplace, its device and the program that is measured there."""

    def __init__(self, folder: Path, device: str) -> None:
        self.place = Workplace(folder)
        self.device = device
        self.name = device.partition(":")[0].replace("ssh", "board").replace("adb", "phone")
        self.assay = BIN / "assay"
        self.fault = ""

    def prepare(self) -> None:
        """Brings the agent and the engine there, so that no row waits for it."""
        self.quick = self.place.program("quick")
        self.slow = self.place.program("slow", execute_ns=100_000_000)
        self.place.ok("device", "prepare", self.device)
        assert self.use().code in (0, 6)

    def use(self) -> Finished:
        """One launch by another command."""
        once = ("--launches", "1", "--iterations", "2", "--warmup", "0", "--quiet")
        command = ("bench", self.quick, "--device", self.device, *once)
        return wait_for_end(self.place.start(*command, program=self.assay))

    def seconds_until_free(self) -> float:
        """Measures how long another command takes that finds the device free."""
        begin = time.monotonic()
        used = self.use()
        spent = time.monotonic() - begin
        if used.code not in (0, 6):
            self.fault = f" not free: {used.err.strip()[-200:]}"
        return spent

    def before(self, event: Event) -> Row:
        """A command that finds the device so."""
        stored = len(self.place.launch_ids())
        event.starts()
        begin = time.monotonic()
        told = self.use()
        known_s = time.monotonic() - begin
        event.ends()
        self.fault = ""
        if event.advice and (told.code != 3 or event.advice not in told.err):
            self.fault = f" not told: {told}"
        if not event.advice and told.code not in (0, 6):
            self.fault = f" failed: {told}"
        lost = 0 if told.code != 3 else len(self.place.launch_ids()) - stored
        outcome = f"exit code {told.code}, “{event.advice}”" if event.advice else "goes on"
        free_s = self.seconds_until_free()
        return Row(self.name, event.name, "before", outcome, known_s, lost, free_s, self.fault)

    def middle(self, event: Event) -> Row:
        """A run that has stored two launches when it comes."""
        measure = {**FAST_MEASURE, "launches": LAUNCHES}
        spec = self.place.spec(self.slow, devices=[self.device], measure=measure)
        before = self.place.launch_ids()
        process = self.place.start("run", spec, "--quiet")
        wait_until(lambda: len(self.place.launch_ids() - before) >= 2, 60)
        had = len(self.place.launch_ids())
        begin = time.monotonic()
        event.starts()
        if event.lasts_s > 0:
            time.sleep(event.lasts_s)
            event.ends()
        known_s = self.wait_until_known(process, had, begin)
        ended = wait_for_end(process, 300)
        if event.lasts_s < 0:
            event.ends()
        self.fault = ""
        outcome = self.outcome_of(event, ended)
        lost = LAUNCHES - self.completed_since(before)
        free_s = self.seconds_until_free()
        return Row(self.name, event.name, "middle", outcome, known_s, lost, free_s, self.fault)

    def wait_until_known(self, process: subprocess.Popen[str], had: int, begin: float) -> float:
        """Seconds until a launch was stored that began afterwards, or the command ended."""
        while process.poll() is None and len(self.place.launch_ids()) <= had + 1:
            time.sleep(0.02)
        return time.monotonic() - begin

    def outcome_of(self, event: Event, ended: Finished) -> str:
        """Says how the run ended; resumes it if it stopped."""
        if ended.code in (0, 6):
            return "goes on"
        said = ended.err.strip().splitlines()[-1] if ended.err.strip() else ""
        if not event.middle_ends or event.advice not in ended.err:
            self.fault = f" ended: {ended}"
        event.ends()
        (run,) = self.place.query("select id from run order by started_unix_ns desc limit 1")[0]
        resumed = self.place.run("run", "--resume", run, "--quiet", timeout_s=300)
        if resumed.code not in (0, 6):
            self.fault = f" not resumed: {resumed}"
        return f"exit code {ended.code}, “{event.advice or said}”; resumed"

    def completed_since(self, before: set[str]) -> int:
        """Completed launches of the slow program that were stored since."""
        rows = self.place.query("select id, outcome from launch")
        new = [outcome for id_, outcome in rows if id_ not in before]
        return sum(outcome == "completed" for outcome in new)

    @contextmanager
    def other_command(self, runners: Callable[[], list[int]]) -> Iterator[None]:
        """Has the device while it is open, as a command of another machine does."""
        env = {**self.place.env, "ASSAY_RUNTIME_DIR": self.place.env["ASSAY_RUNTIME_DIR"] + "-2"}
        once = ("--launches", "1", "--iterations", "60", "--warmup", "0", "--quiet")
        command = [str(self.assay), "bench", str(self.slow), "--device", self.device, *once]
        nowhere = subprocess.DEVNULL
        with subprocess.Popen(
            command, env=env, stdout=nowhere, stderr=nowhere, cwd=self.place.folder
        ):
            wait_until(lambda: bool(runners()), 60)
            yield


def measure_busy(scene: Scene, runners: Callable[[], list[int]]) -> Row:
    """A command that comes while one of another machine has the device."""
    with scene.other_command(runners):
        begin = time.monotonic()
        told = scene.use()
        known_s = time.monotonic() - begin
    scene.fault = "" if told.code in (0, 6) else f" failed: {told}"
    free_s = scene.seconds_until_free()
    return Row(scene.name, "device busy", "before", "waits", known_s, 0, free_s, scene.fault)


def full_disk(scene: Scene, device: Board | Phone) -> list[Event]:
    """No room for the agent before a run, and for anything new in its middle."""

    def fill_anew() -> None:
        scene.place.ok("device", "release", scene.device)
        device.fill_disk()

    def make_room() -> None:
        device.free_disk()
        scene.place.ok("device", "prepare", scene.device)

    full = Event("no space", fill_anew, make_room, "storage is full", has_middle=False)
    later = Event("no space", device.fill_disk, device.free_disk, "", -1, has_before=False)
    return [full, later]


def events_of_board(scene: Scene, board: Board) -> list[Event]:
    """The rows of the board."""

    def take_wrong_agent() -> None:
        wrong = scene.place.folder / "wrong"
        wrong.mkdir()
        shutil.copy(BIN / "assay", wrong)
        shutil.copy(BIN / "aarch64-linux-gnu" / "bin" / "assay-agent", wrong)
        scene.assay = wrong / "assay"

    def take_right_agent() -> None:
        scene.assay = BIN / "assay"

    def replace_key() -> None:
        board.change_host_key()

    def accept_key() -> None:
        key = (board.folder / "etc" / "ssh" / "host_key.pub").read_text()
        (board.folder / "known_hosts").write_text(f"{board.host} {key}")

    def forbid_login() -> None:
        (board.folder / "etc" / "ssh" / "authorized_keys").rename(board.folder / "keys")

    def allow_login() -> None:
        (board.folder / "keys").rename(board.folder / "etc" / "ssh" / "authorized_keys")

    return [
        Event(
            "link down", board.link_down, board.link_up, "not reachable", DOWN_S, has_before=False
        ),
        Event("link down", board.link_down, board.link_up, "does not answer", -1, True),
        Event("reboot", board.reboot),
        Event("agent killed", board.kill_agent, has_before=False),
        Event("host key changed", replace_key, accept_key, "its host key has changed", -1),
        Event("unauthorized", forbid_login, allow_login, "it refused the login", -1),
        *full_disk(scene, board),
        Event(
            "wrong ABI",
            take_wrong_agent,
            take_right_agent,
            "for another processor",
            has_middle=False,
        ),
    ]


def events_of_phone(scene: Scene, phone: Phone) -> list[Event]:
    """The rows of the phone."""

    def kill_server() -> None:
        phone.adb("kill-server")

    return [
        Event("cable pulled", phone.unplug, phone.plug_in, "not connected", 5, has_before=False),
        Event("cable pulled", phone.unplug, phone.plug_in, "not connected", -1, True),
        Event(
            "silent loss",
            phone.go_silent,
            lambda: phone.go_silent(False),
            "did not answer within",
            DOWN_S,
        ),
        Event("reboot", phone.reboot),
        Event("agent killed", phone.kill_agent, has_before=False),
        Event("adb server killed", kill_server),
        Event(
            "unauthorized",
            lambda: phone.set_unauthorized(True),
            lambda: phone.set_unauthorized(False),
            "it has not allowed this computer",
            -1,
            True,
        ),
        *full_disk(scene, phone),
    ]


def add_fake_engine(scene: Scene, folder: Path) -> None:
    """The fake engine for 64-bit Arm, as a bundle."""
    made = folder / "fake"
    command = [sys.executable, str(ROOT / "tools" / "make_device_bundle.py")]
    command += [str(BIN / "aarch64-linux-gnu" / "bin" / "assay-runner-fake"), "--out", str(made)]
    command += ["--libraries", str(ROOT / "build" / "sysroot-aarch64")]
    subprocess.run(command, check=True, capture_output=True)
    scene.place.ok("engine", "add", "fake@arm", "--device-bundle", made)


def rows_of(
    scene: Scene, events: list[Event], device: Board | Phone, only: set[str]
) -> Iterator[Row]:
    """Makes the rows, one after the other."""
    scene.prepare()
    for event in events:
        if only and event.name.replace(" ", "_") not in only:
            continue
        if event.has_before:
            yield scene.before(event)
        if event.has_middle:
            yield scene.middle(event)
    if not only or "device_busy" in only:
        yield measure_busy(scene, lambda: device.processes("ld-linux"))


def rows_of_board(folder: Path, only: set[str]) -> Iterator[Row]:
    """Rows of the board."""
    with Board(folder / "device") as board:
        scene = Scene(folder, f"ssh:{board.host}")
        scene.place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        try:
            yield from rows_of(scene, events_of_board(scene, board), board, only)
        finally:
            scene.place.clean_up()


def rows_of_phone(folder: Path, only: set[str]) -> Iterator[Row]:
    """Rows of the phone."""
    with Phone(folder / "device") as phone:
        scene = Scene(folder, f"adb:{phone.serial}")
        port = "ANDROID_ADB_SERVER_PORT"
        scene.place.env[port] = phone.environment[port]
        try:
            add_fake_engine(scene, folder)
            yield from rows_of(scene, events_of_phone(scene, phone), phone, only)
        finally:
            scene.place.clean_up()


def main() -> int:
    """Reads the command line and prints the table; 1 if something was lost or not told."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", choices=("board", "phone"))
    parser.add_argument("--only", default="", help="names of failures, with commas")
    options = parser.parse_args()
    only = set(options.only.split(",")) - {""}
    devices = {"board": rows_of_board, "phone": rows_of_phone}
    print("| device | failure | when | outcome | s until known | launches lost | s until free |")
    print("|---|---|---|---|---|---|---|")
    is_fine = True
    for name, rows in devices.items():
        if options.device in (None, name):
            with tempfile.TemporaryDirectory() as folder:
                for row in rows(Path(folder), only):
                    print(row, flush=True)
                    is_fine = is_fine and not row.fault and row.lost == 0
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
