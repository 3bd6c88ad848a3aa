"""Breaks a device and the way to it while a run measures there: nothing is lost or counted twice.

    python tests/campaigns/device_faults.py --faults 200 [--launches 500] [--seed 1]
    python tests/campaigns/device_faults.py --device phone --faults 50 --launches 150

The devices are those of tests/devices. Faults come at random moments: the agent, the ssh to it or
the adb server is killed, the device starts anew, its cable is out for a while, `assay` itself is
killed and the run resumed. It ends with 1 if a launch is missing, doubled or failed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

from arm_programs import add_fake_engine
from board import Board
from driver import FAST_MEASURE, Workplace
from phone import Phone

PROGRAMS = 10


class Campaign(ABC):
    """A run on a device that is broken again and again."""

    def __init__(self, place: Workplace, address: str, options: argparse.Namespace) -> None:
        self.place = place
        self.address = address
        self.chance = random.Random(options.seed)
        self.launches = options.launches
        self.run = ""
        self.runs = 1
        self.counts: Counter[str] = Counter()
        self.stops: Counter[int] = Counter()
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        """Begins the run, or goes on with it."""
        if self.run:
            return self.place.start("run", "--resume", self.run, "--quiet")
        programs = [self.place.program(f"net{i}", execute_ns=50_000_000) for i in range(PROGRAMS)]
        measure = {**FAST_MEASURE, "launches": self.launches // PROGRAMS}
        return self.place.start(
            "run", self.place.spec(*programs, devices=[self.address], measure=measure), "--quiet"
        )

    def begin_run(self) -> None:
        """Begins one more run, once one has come to its end."""
        self.runs += 1
        self.run = ""
        self.process = self.start()

    def go_on(self) -> None:
        """Starts it again after its end."""
        self.find_run()
        self.process = self.start()

    def find_run(self) -> None:
        """Looks up the id of the newest run, once it is stored."""
        if not self.run and self.place.launch_ids():
            ids = self.place.query("select id from run order by started_unix_ns")
            self.run = str(ids[-1][0]) if len(ids) == self.runs else ""

    # ---- faults

    @abstractmethod
    def faults(self) -> dict[Callable[[], object], int]:
        """Ways to break the device and the way to it, with how often each is chosen."""

    def kill_assay(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.go_on()

    def break_something(self) -> None:
        faults = {**self.faults(), self.kill_assay: 2}
        fault = self.chance.choices(list(faults), list(faults.values()))[0]
        fault()
        self.counts[fault.__name__] += 1

    # ---- the campaign

    def keep_running(self) -> bool:
        """Resumes a run that stopped; False once it has come to its end."""
        if self.process.poll() is None:
            return True
        if self.process.returncode in (0, 1, 6):
            return False  # At its end; findings() tells what a 1 stands for.
        self.stops[self.process.returncode] += 1
        self.go_on()
        return True

    def break_until(self, faults: int) -> None:
        """Breaks something now and then."""
        while self.keep_running() and sum(self.counts.values()) < faults:
            time.sleep(self.chance.uniform(0.3, 2.5))
            self.find_run()
            if self.run:
                self.break_something()
        while self.keep_running():
            time.sleep(0.2)

    def findings(self) -> list[str]:
        """Lists what is wrong with the store."""
        found = []
        outcomes = dict(self.place.query("select outcome, count(*) from launch group by 1"))
        if outcomes != {"completed": self.launches * self.runs}:
            found.append(f"launches: {outcomes}, not {self.launches * self.runs} completed ones")
        doubled = self.place.query(
            "select attempt, count(*) as n from launch group by attempt having n != ?",
            self.launches // PROGRAMS,
        )
        if doubled:
            found.append(f"attempts with another number of launches: {doubled}")
        if self.place.query("pragma integrity_check") != [("ok",)]:
            found.append("the store is damaged")
        # A server of adb that a command had to start belongs to the phone.
        left = [one for one in self.place.processes() if " fork-server " not in one]
        return found + ([f"left: {left}"] if left else [])


class BoardCampaign(Campaign):
    """A board behind ssh."""

    def __init__(self, place: Workplace, board: Board, options: argparse.Namespace) -> None:
        self.board = board
        super().__init__(place, "ssh:board", options)

    def faults(self) -> dict[Callable[[], object], int]:
        return {self.kill_agent: 8, self.kill_ssh: 8, self.reboot: 4, self.pull_cable: 1}

    def kill_agent(self) -> None:
        self.board.kill_agent()

    def kill_ssh(self) -> None:
        for pid, command in list(self.place._processes()):
            if command.startswith("ssh "):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def reboot(self) -> None:
        self.board.reboot(down_s=self.chance.uniform(0, 2))

    def pull_cable(self) -> None:
        self.board.link_down()
        time.sleep(self.chance.choice((0.2, 1, 3, 20)))
        self.board.link_up()


class PhoneCampaign(Campaign):
    """A phone behind adb, with the fake engine for 64-bit Arm."""

    def __init__(self, place: Workplace, phone: Phone, options: argparse.Namespace) -> None:
        self.phone = phone
        super().__init__(place, f"adb:{phone.serial}", options)

    def faults(self) -> dict[Callable[[], object], int]:
        return {self.kill_agent: 8, self.kill_server: 6, self.reboot: 4, self.pull_cable: 6}

    def kill_agent(self) -> None:
        self.phone.kill_agent()

    def kill_server(self) -> None:
        self.phone.adb("kill-server")

    def reboot(self) -> None:
        self.phone.reboot(down_s=self.chance.uniform(0, 2))

    def pull_cable(self) -> None:
        self.phone.unplug()
        time.sleep(self.chance.choice((0, 1, 3, 20)))
        self.phone.plug_in()


@contextlib.contextmanager
def start_campaign(folder: Path, options: argparse.Namespace) -> Iterator[Campaign]:
    """A campaign on the device of the options, and its end."""
    place = Workplace(folder)
    with contextlib.ExitStack() as stack:
        if options.device == "board":
            board = stack.enter_context(Board(folder / "board"))
            place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
            stack.callback(place.clean_up)
            yield BoardCampaign(place, board, options)
        else:
            phone = stack.enter_context(Phone(folder / "phone"))
            place.env["ANDROID_ADB_SERVER_PORT"] = phone.environment["ANDROID_ADB_SERVER_PORT"]
            stack.callback(place.clean_up)
            add_fake_engine(place)
            yield PhoneCampaign(place, phone, options)


def main() -> int:
    """Reads the command line; 1 if something was lost, doubled or left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("board", "phone"), default="board")
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--launches", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        start_campaign(Path(folder), options) as campaign,
    ):
        campaign.break_until(options.faults)
        findings = campaign.findings()
        print(f"{time.monotonic() - begin:.0f} s, {dict(campaign.counts)}")
        print(f"resumed after exit codes {dict(campaign.stops)}")
        print("\n".join(findings) or "nothing lost, doubled or left")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
