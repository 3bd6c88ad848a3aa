"""The place where a program executes: this machine, or a device behind ssh or adb."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay._command import EXIT_OK, error_from, run_assay
from assay._paths import find_runner


@dataclass(frozen=True)
class Place:
    """A runner that can be started, and files by their paths where it runs."""

    argv: tuple[str, ...]
    files: tuple[str, ...]
    device: str = "local"
    probe: tuple[str, ...] = ()
    """A command that succeeds as long as the device can be reached; empty: this machine."""


def place_program(device: str, engine: str, files: Sequence[Path]) -> Place:
    """Brings what a program needs to the device; nothing is sent twice.

    Raises:
        AssayError: no such engine there (not_found, unavailable), or the device cannot be reached.
    """
    if device == "local":
        return Place((str(find_runner(engine)),), tuple(map(str, files)))
    flags = [flag for file in files for flag in ("--send", file)]
    done = run_assay(["device", "prepare", device, "--engine", engine, *flags])
    if done.returncode != EXIT_OK:
        raise error_from(done)
    document = json.loads(done.stdout)
    argv = tuple(document["argv"])
    return Place(
        argv,
        tuple(document["files"][str(file)] for file in files),
        device=device,
        probe=(*argv[:-1], "true"),  # The last word is the command for the shell there.
    )
