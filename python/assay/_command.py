"""Runs the `assay` program."""

import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from assay._errors import AssayError
from assay._literals import ErrorCode
from assay._paths import child_environment, find_program

INTERRUPT_WAIT_S = 30.0
EXIT_OK = 0
EXIT_INTERRUPTED = 130
EXITS_WITH_ANSWER = (EXIT_OK, 1, 5, 6)
"""Exit codes of an answer: all well, findings, nothing matched, cannot tell."""

_CODES: dict[int, ErrorCode] = {
    2: "invalid_argument",
    3: "unavailable",
    4: "internal",
    5: "not_found",
    6: "unavailable",
    124: "timeout",
}


def run_assay(arguments: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
    """Runs `assay ARGUMENTS` to its end. Its exit code is the caller's to judge.

    Raises:
        AssayError: the program is not installed.
        KeyboardInterrupt: it was interrupted.
    """
    argv = [str(find_program("assay")), *(str(argument) for argument in arguments)]
    with subprocess.Popen(
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=child_environment(),
        start_new_session=True,  # So that an interrupt reaches it once: from here.
    ) as child:
        try:
            out, err = child.communicate()
        except KeyboardInterrupt:
            _interrupt(child)
            raise
    if child.returncode == EXIT_INTERRUPTED:
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(argv, child.returncode, out, err)


def _interrupt(child: subprocess.Popen[str]) -> None:
    """Lets `assay` end what it has begun, so that its run can be resumed.

    It is killed after a while, or when it is interrupted again.
    """
    child.send_signal(signal.SIGINT)
    try:
        child.communicate(timeout=INTERRUPT_WAIT_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        child.kill()


def error_from(done: subprocess.CompletedProcess[str]) -> AssayError:
    """The failure that a finished `assay` wrote to stderr."""
    prefix = "error: "
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]
    text = "\n".join(errors or lines[-3:]) or f"assay ended with exit code {done.returncode}"
    if done.returncode < 0:
        return AssayError(f"assay died of signal {-done.returncode}: {text}", code="crashed")
    code = _CODES.get(done.returncode, "internal")
    return AssayError(text, code=code, exit_code=done.returncode)


def messages_from(done: subprocess.CompletedProcess[str]) -> tuple[str, ...]:
    """Warnings and errors that a finished `assay` wrote to stderr."""
    lines = (line.strip() for line in done.stderr.splitlines())
    return tuple(line for line in lines if line.startswith(("warning: ", "error: ")))
