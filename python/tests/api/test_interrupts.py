"""An interrupt of Python lets `assay` keep what it has measured."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

SLOW = """#!/bin/sh
trap 'sleep 0.6; echo kept > "$1"; exit 130' INT
sleep 1
touch "$1.begun"
while :; do sleep 0.05; done
"""
CALLER = """
import sys
from assay import _command
_command.find_program = lambda name: sys.argv[1]
_command.run_assay([sys.argv[2]])
"""


def hear_interrupts() -> None:
    """A shell lets what it starts in the background ignore them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupted_command_has_time_to_end(tmp_path: Path) -> None:
    program, kept = tmp_path / "assay", tmp_path / "kept"
    program.write_text(SLOW)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with subprocess.Popen(
        [sys.executable, "-c", CALLER, program, kept],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    ) as caller:
        try:
            while not Path(f"{kept}.begun").exists():
                assert caller.poll() is None
                time.sleep(0.05)
            os.kill(caller.pid, signal.SIGINT)
            _, error = caller.communicate(timeout=60)
        finally:
            caller.kill()
    assert kept.read_text() == "kept\n"
    assert error.rstrip().endswith("KeyboardInterrupt")
