"""Breaks a board and the way to it while a run measures there: nothing is lost or counted twice.

    python tests/campaigns/device_faults.py --faults 200 [--launches 500] [--seed 1]

The board is that of tests/devices/board.py. Faults come at random moments: the agent or the ssh to
it is killed, the board starts anew, its cable is out for a while, `assay` itself is killed and the
run resumed. It ends with 1 if a launch is missing, doubled or failed.
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
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

from board import Board
from driver import FAST_MEASURE, Workplace

PROGRAMS = 10


class Campaign:
    """A run on a board that is broken again and again."""

    def __init__(self, folder: Path, board: Board, options: argparse.Namespace) -> None:
        self.place = Workplace(folder)
        self.place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        self.board = board
        self.chance = random.Random(options.seed)
        self.launches = options.launches
        self.run = ""
        self.counts: Counter[str] = Counter()
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        """Begins the run, or goes on with it."""
        if self.run:
            return self.place.start("run", "--resume", self.run, "--quiet")
        programs = [self.place.program(f"net{i}", execute_ns=50_000_000) for i in range(PROGRAMS)]
        measure = {**FAST_MEASURE, "launches": self.launches // PROGRAMS}
        return self.place.start(
            "run", self.place.spec(*programs, devices=["ssh:board"], measure=measure), "--quiet"
        )

    # ---- faults

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

    def kill_assay(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.process = self.start()

    def break_something(self) -> None:
        faults: dict[Callable[[], None], int] = {
            **{self.kill_agent: 8, self.kill_ssh: 8, self.reboot: 4},
            **{self.pull_cable: 1, self.kill_assay: 2},
        }
        fault = self.chance.choices(list(faults), list(faults.values()))[0]
        fault()
        self.counts[fault.__name__] += 1

    # ---- the campaign

    def keep_running(self) -> bool:
        """Resumes a run that stopped; False once it has come to its end."""
        if self.process.poll() is None:
            return True
        if self.process.returncode in (0, 6):
            return False
        self.counts[f"stopped with {self.process.returncode}"] += 1
        self.process = self.start()
        return True

    def break_until(self, faults: int) -> None:
        """Breaks something now and then."""
        while self.keep_running() and sum(self.counts.values()) < faults:
            time.sleep(self.chance.uniform(0.3, 2.5))
            if not self.run and self.place.launch_ids():
                self.run = str(self.place.query("select id from run")[0][0])
            if self.run:
                self.break_something()
        while self.keep_running():
            time.sleep(0.2)

    def findings(self) -> list[str]:
        """Lists what is wrong with the store."""
        found = []
        outcomes = dict(self.place.query("select outcome, count(*) from launch group by 1"))
        if outcomes != {"completed": self.launches}:
            found.append(f"launches: {outcomes}, not {self.launches} completed ones")
        doubled = self.place.query(
            "select attempt, count(*) as n from launch group by attempt having n != ?",
            self.launches // PROGRAMS,
        )
        if doubled:
            found.append(f"attempts with another number of launches: {doubled}")
        if self.place.query("pragma integrity_check") != [("ok",)]:
            found.append("the store is damaged")
        left = self.place.processes()
        return found + ([f"left: {left}"] if left else [])


def main() -> int:
    """Reads the command line; 1 if something was lost, doubled or left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--launches", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Board(Path(folder) / "board") as board:
        begin = time.monotonic()
        campaign = Campaign(Path(folder), board, options)
        try:
            campaign.break_until(options.faults)
            findings = campaign.findings()
        finally:
            campaign.place.clean_up()
        print(f"{time.monotonic() - begin:.0f} s, {dict(campaign.counts)}")
        print("\n".join(findings) or "nothing lost, doubled or left")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
