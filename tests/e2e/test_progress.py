"""Progress on stderr: one unit a phase, no count beyond its total, one line a phase in a log."""

import os
import pty
import re
import subprocess
from pathlib import Path

from driver import BIN, Workplace

MILLISECOND = 1_000_000
COMPARE = ["--most-pairs", "10", "--iterations", "3", "--warmup", "1"]


def shown_on_terminal(place: Workplace, *arguments: str | Path) -> str:
    """Everything that a terminal gets on stderr; stdout goes nowhere."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(BIN / "assay"), *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=place.env,
        cwd=place.folder,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # The other end is closed.
            break
        if not part:
            break
        shown += part
    os.close(ours)
    process.wait(timeout=120)
    return shown.decode(errors="replace")


def counts(shown: str, phase: str) -> list[tuple[int, int]]:
    """Every "done/total" that a phase showed."""
    found = re.findall(rf"{phase} [^\r\n]*?(\d+)/(\d+)", shown)
    return [(int(done), int(total)) for done, total in found]


def test_a_comparison_counts_pairs_and_never_passes_its_total(place: Workplace) -> None:
    a = place.program("old", execute_ns=MILLISECOND)
    b = place.program("new", execute_ns=2 * MILLISECOND)
    shown = shown_on_terminal(place, "compare", a, b, *COMPARE, "--budget", "60s")
    confirmation = counts(shown, "confirmation")
    assert confirmation[-1] == (20, 20)
    assert all(done <= total == 20 for done, total in confirmation), confirmation
    assert re.search(r"search +\d+ pairs, \d+ s left", shown), shown
    assert not counts(shown, "search"), "its budget or a look ends a search, so it has no total"


def test_a_log_gets_one_line_for_each_phase(place: Workplace) -> None:
    finished = place.ok("bench", place.program("net", execute_ns=MILLISECOND), "--launches", "5")
    assert finished.err.splitlines() == ["memory: 1 launch", "timing: 5 launches"]


def test_a_failure_of_a_case_is_told_once(place: Workplace) -> None:
    program = place.program("net", misbehave={"at": "first", "do": "segfault"})
    finished = place.run("bench", program, "--launches", "2")
    assert finished.code == 1, finished
    failed = [line for line in finished.err.splitlines() if "crashed" in line]
    assert len(failed) == 1, finished
    assert failed[0].startswith("memory: net"), finished
    assert (finished.err + finished.out).count("SIGSEGV)") == 1, finished


def test_a_log_says_why_where_no_report_for_people_follows(place: Workplace) -> None:
    program = place.program("net", misbehave={"at": "first", "do": "segfault"})
    finished = place.run("bench", program, "--launches", "2", "--format", "csv")
    failed = [line for line in finished.err.splitlines() if "crashed" in line]
    assert len(failed) == 1, finished
    assert "SIGSEGV" in failed[0], finished
