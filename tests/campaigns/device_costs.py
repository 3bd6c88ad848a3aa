"""Measures what a launch on a device costs more than one here, and which bytes go there.

    python tests/campaigns/device_costs.py [--launches 40] [--rounds 3] [--cases 100]

The board of tests/devices/board.py is this machine behind ssh, so that the difference is the way to
it. Launches of a program that does nothing are made here and there in turn. It prints the time of
a launch on both sides, the bytes that a first and a second run send, and the same for a run of many
cases.
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

from board import Board
from driver import FAST_MEASURE, Workplace

FEW = 2


def received_bytes(board: Board) -> int:
    """Bytes that have come to the board over its network."""
    table = board.ssh("cat /proc/net/dev").stdout.decode()
    return int(
        next(line for line in table.splitlines() if "eth0:" in line).split(":")[1].split()[0]
    )


class Costs:
    """Runs of programs that do nothing."""

    def __init__(self, place: Workplace, board: Board) -> None:
        self.place = place
        self.board = board

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

    def print_launches(self, rounds: int, launches: int) -> None:
        program = self.place.program("net", execute_ns=0)
        times: dict[str, list[float]] = {"local": [], "ssh:board": []}
        for _ in range(rounds):
            for device, values in times.items():
                values.append(self.ms_of_launch(program, device, launches))
        for device, values in times.items():
            shown = ", ".join(f"{value:.1f}" for value in values)
            print(f"{device}: {statistics.median(values):.1f} ms a launch ({shown})")

    def print_bytes(self, cases: int) -> None:
        programs = [self.place.program(f"net{i}", seed=i) for i in range(cases)]
        for turn in ("first", "second"):
            before = received_bytes(self.board)
            there_s = self.seconds_of_run(programs, "ssh:board", 1)
            sent = received_bytes(self.board) - before
            here_s = self.seconds_of_run(programs, "local", 1)
            print(
                f"{turn} run of {cases} cases: {sent:,} bytes sent, "
                f"{there_s:.1f} s there, {here_s:.1f} s here",
                flush=True,
            )


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Board(Path(name) / "board") as board:
        place = Workplace(Path(name))
        place.env["ASSAY_SSH"] = f"ssh -F {board.ssh_config}"
        costs = Costs(place, board)
        try:
            costs.print_bytes(1)
            costs.print_launches(options.rounds, options.launches)
            costs.print_bytes(options.cases)
        finally:
            place.clean_up()
    return 0


if __name__ == "__main__":
    sys.exit(main())
