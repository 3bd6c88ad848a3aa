"""Instructions of one malloc with its free: glibc's own, and the runners' off and counting.

Usage: allocation_cost.py [BIN_FOLDER]; needs valgrind.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FEW, MANY = 10_000, 110_000
SIZES = {"100 bytes": 100, "1 MB": 1_000_000}


def instructions(program: Path, rounds: int, size: int, *, is_counting: bool) -> int:
    """Instructions that the program executes, as callgrind counts them."""
    env = {**os.environ, "ASSAY_COUNT_ALLOCATIONS": "1" if is_counting else "0"}
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", str(program)]
    result = subprocess.run(
        [*command, str(rounds), str(size)], env=env, capture_output=True, text=True, check=True
    )
    found = re.search(r"Collected : (\d+)", result.stderr)
    if found is None:
        raise SystemExit(f"callgrind tells no number: {result.stderr}")
    return int(found[1])


def main() -> int:
    """Prints a line for each kind of malloc and size of block."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release/bin")
    kinds = [("glibc", "bare", False), ("off", "counted", False), ("counting", "counted", True)]
    for text, size in SIZES.items():
        for label, program, is_counting in kinds:
            path = folder / f"{program}-allocation-loop"
            few, many = (
                instructions(path, rounds, size, is_counting=is_counting) for rounds in (FEW, MANY)
            )
            print(f"{text:>10} {label:<9} {(many - few) / (MANY - FEW):8.2f} instructions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
