"""Measures what a launch on a device costs more than one here, and which bytes go there.

    python tests/campaigns/device_costs.py [--launches 40] [--rounds 3] [--cases 100]
    python tests/campaigns/device_costs.py --device phone

The board of tests/devices/board.py is this machine behind ssh, so that the difference is the way to
it. Launches of a program that does nothing are made here and there in turn. It prints the time of
a launch on both sides, and how much of it the runner's process takes, which for the phone is an
emulator's. For the board it prints the bytes that a first and a second run send, too, and the same
for a run of many cases.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

from arm_programs import add_fake_engine
from board import Board
from driver import FAST_MEASURE, Workplace
from phone import Phone

FEW = 2


def received_bytes(board: Board) -> int:
    """Bytes that have come to the board over its network."""
    table = board.ssh("cat /proc/net/dev").stdout.decode()
    return int(
        next(line for line in table.splitlines() if "eth0:" in line).split(":")[1].split()[0]
    )


class Costs:
    """Runs of programs that do nothing."""

    def __init__(self, place: Workplace, device: str) -> None:
        self.place = place
        self.device = device

    def seconds_of_run(self, programs: Iterable[Path], device: str, launches: int) -> float:
        """The wall time of a run; `launches`: of each program."""
        measure = {**FAST_MEASURE, "launches": launches}
        spec = self.place.spec(*programs, devices=[device], measure=measure)
        begin = time.monotonic()
        finished = self.place.run("run", spec, "--quiet", timeout_s=3600)
        assert finished.code in (0, 6), finished
        return time.monotonic() - begin

    def ms_of_launch(self, program: Path, device: str, launches: int) -> float:
        """The time that one more launch takes: what a run does once is in both runs."""
        many = self.seconds_of_run([program], device, launches + FEW)
        few = self.seconds_of_run([program], device, FEW)
        return (many - few) / launches * 1000

    def ms_of_process(self) -> float:
        """The median time of the runner's process in the newest run."""
        newest = "SELECT wall_ns FROM launch WHERE attempt IN (SELECT id FROM attempt WHERE run = "
        rows = self.place.query(newest + "(SELECT id FROM run ORDER BY order_ns DESC LIMIT 1))")
        return statistics.median(wall_ns for (wall_ns,) in rows) / 1e6

    def print_launches(self, rounds: int, launches: int) -> None:
        program = self.place.program("net", execute_ns=0)
        times: dict[str, list[float]] = {"local": [], self.device: []}
        processes: dict[str, list[float]] = {device: [] for device in times}
        for _ in range(rounds):
            for device, values in times.items():
                values.append(self.ms_of_launch(program, device, launches))
                processes[device].append(self.ms_of_process())
        for device, values in times.items():
            shown = ", ".join(f"{value:.1f}" for value in values)
            process = statistics.median(processes[device])
            median = statistics.median(values)
            print(f"{device}: {median:.1f} ms a launch ({shown}), its process {process:.1f} ms")

    def print_bytes(self, board: Board, cases: int) -> None:
        programs = [self.place.program(f"net{i}", seed=i) for i in range(cases)]
        for turn in ("first", "second"):
            before = received_bytes(board)
            there_s = self.seconds_of_run(programs, self.device, 1)
            sent = received_bytes(board) - before
            here_s = self.seconds_of_run(programs, "local", 1)
            print(
                f"{turn} run of {cases} cases: {sent:,} bytes sent, "
                f"{there_s:.1f} s there, {here_s:.1f} s here",
                flush=True,
            )


def costs_of_board(place: Workplace, options: argparse.Namespace) -> None:
    with Board(place.folder / "board") as board:
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        costs = Costs(place, "ssh:board")
        costs.print_bytes(board, 1)
        costs.print_launches(options.rounds, options.launches)
        costs.print_bytes(board, options.cases)


def costs_of_phone(place: Workplace, options: argparse.Namespace) -> None:
    with Phone(place.folder / "phone") as phone:
        place.env["ANDROID_ADB_SERVER_PORT"] = phone.environment["ANDROID_ADB_SERVER_PORT"]
        add_fake_engine(place)
        Costs(place, f"adb:{phone.serial}").print_launches(options.rounds, options.launches)


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--device", choices=("board", "phone"), default="board")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Workplace(Path(name))
        try:
            if options.device == "phone":
                costs_of_phone(place, options)
            else:
                costs_of_board(place, options)
        finally:
            place.clean_up()
    return 0


if __name__ == "__main__":
    sys.exit(main())
