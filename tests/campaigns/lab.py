"""A whole laboratory under random faults: what was lost, what was told, and after how long.

    python tests/campaigns/lab.py --minutes 60 --faults 20 [--seed 1] [--parts board,phone,fleet]

Its parts work at the same time: a board behind ssh, an emulated phone behind adb, a fleet of three
workers over PostgreSQL, and a watched repository. A part that has done its work gets more, until
the time is over: another run, or the next commits. Each gets its share of the faults at random
moments of the time. Then they come to their ends, and what each has stored is compared with what
it had to store. Needs root, for the cables of the fleet. It ends with 1 if something is lost,
doubled, wrong or left running, or a part does not come to its end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "devices"))

from device_faults import start_campaign
from lab_parts import LONGEST_END_S, DevicePart, Part, WatchPart, started_fleet
from lab_records import LOOK_S, table_of

LONGEST_FAULT_S = 120
"""A fault and its repair, which may begin last."""

LONGEST_FINISH_S = 600
"""Until a part has found out what is wrong with its results."""


def left_behind(folder: Path) -> list[str]:
    """Processes that were started for a folder, and cables, after all has ended."""
    left = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            if str(folder).encode() in command + (entry / "environ").read_bytes():
                left.append(f"left: {command.replace(bytes(1), b' ').decode()}")
    return left + [f"left: cable {one.name}" for one in Path("/sys/class/net").glob("fleet*")]


def main() -> int:
    """Reads the command line; 1 if something was lost, doubled, wrong or left."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--faults", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parts", default="board,phone,fleet,watch")
    parser.add_argument("--launches", type=int, default=300, help="of the board and of the phone")
    parser.add_argument("--cases", type=int, default=150, help="of the fleet")
    parser.add_argument("--case-s", type=float, default=1.0, help="time of a case")
    parser.add_argument("--commits", type=int, default=64, help="of a watched repository")
    options = parser.parse_args()
    if "fleet" in options.parts and os.geteuid() != 0:
        parser.error("the fleet needs root, to make cables between namespaces")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        with contextlib.ExitStack() as stack:
            findings = run_lab(Path(name), stack, options)
        findings += left_behind(Path(name))
    print("\n".join(findings) or "nothing lost, doubled, wrong or left")
    return 1 if findings else 0


def make_parts(
    folder: Path, stack: contextlib.ExitStack, options: argparse.Namespace
) -> list[Part]:
    parts: list[Part] = []
    for name in options.parts.split(","):
        where = folder / name
        if name in ("board", "phone"):
            where.mkdir()
            of_device = argparse.Namespace(**{**vars(options), "device": name})
            parts.append(DevicePart(stack.enter_context(start_campaign(where, of_device))))
        elif name == "fleet":
            parts.append(stack.enter_context(started_fleet(where, options)))
        else:
            watch = WatchPart(where, options)
            stack.callback(watch.end)
            parts.append(watch)
    return parts


def run_in_time(part: Part, work: Callable[[], object], limit_s: float, what: str) -> None:
    """Does some work of a part; that it fails or does not end is a trouble of the part."""

    def run() -> None:
        try:
            work()
        except Exception:
            part.troubles.append(f"{what} failed: {traceback.format_exc()}")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit_s)
    if thread.is_alive():
        part.troubles.append(f"{what} did not end in {limit_s:.0f} s")


def attend(part: Part, chance: random.Random, count: int, minutes: float) -> None:
    """Lets a part work and come to its findings, each within its limit."""
    limit_s = minutes * 60 + LONGEST_END_S + LONGEST_FAULT_S
    run_in_time(part, lambda: part.work(chance, count, minutes), limit_s, "its work")
    part.look_up()
    part.note_results()
    run_in_time(part, lambda: part.troubles.extend(part.findings()), LONGEST_FINISH_S, "its finish")
    print(f"{time.strftime('%H:%M:%S')} {part.name}: {part.rounds} rounds", flush=True)


def run_lab(folder: Path, stack: contextlib.ExitStack, options: argparse.Namespace) -> list[str]:
    """Lets the parts work; prints what followed the faults, and returns the findings."""
    begin = time.monotonic()
    parts = make_parts(folder, stack, options)
    threads = []
    for number, part in enumerate(parts):
        chance = random.Random(options.seed * 100 + number)
        count = options.faults // len(parts) + (number < options.faults % len(parts))
        arguments = (part, chance, count, options.minutes)
        threads.append(threading.Thread(target=attend, args=arguments, daemon=True))
        threads[-1].start()
    while any(thread.is_alive() for thread in threads):
        for part in parts:
            part.note_results()
        time.sleep(LOOK_S)
    faults = [one for part in parts for one in part.faults]
    print(table_of(faults))
    stored = {part.name: part.results[-1][1] if part.results else 0 for part in parts}
    print(f"{time.monotonic() - begin:.0f} s, {len(faults)} faults, results stored: {stored}")
    missing = [f"{part.name}: stored no result" for part in parts if not part.results]
    return missing + [f"{part.name}: {text}" for part in parts for text in part.troubles]


if __name__ == "__main__":
    sys.exit(main())
