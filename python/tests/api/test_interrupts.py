"""An interrupt of Python lets `assay` keep what it has measured."""

import os
import signal
import stat
import subprocess
import sys
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


def test_an_interrupted_command_has_time_to_end(tmp_path: Path) -> None:
    program, kept = tmp_path / "assay", tmp_path / "kept"
    program.write_text(SLOW)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    with subprocess.Popen(
        [sys.executable, "-c", CALLER, program, kept], stderr=subprocess.PIPE, text=True
    ) as caller:
        while not Path(f"{kept}.begun").exists():
            assert caller.poll() is None
        os.kill(caller.pid, signal.SIGINT)
        _, error = caller.communicate(timeout=60)
    assert kept.read_text() == "kept\n"
    assert error.rstrip().endswith("KeyboardInterrupt")
