"""Times a program's blob on each instruction set, interleaved, without ExecuTorch.

Usage: python delegates/fixedpoint/tools/time_blob.py --library LIB [--load] PROGRAM.blob...

Prints medians and minima in milliseconds of the processor's time, which what else runs disturbs
least, and how many times as fast the first is: the median of the rounds' ratios and its quartiles.
One thread. With --load it times opening and closing a program instead of executing it.
"""

import argparse
import statistics
import struct
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from fixedpoint.runtime import Library

_TENSORS_AT, _TENSOR_BYTES, _BYTES_AT = 64, 64, 16


def main() -> int:
    """Prints a line for each program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--load", action="store_true", help="time loading")
    parser.add_argument("--isa", help="instruction sets, by commas; the default is all")
    parser.add_argument("blobs", type=Path, nargs="+")
    options = parser.parse_args()
    library = Library(options.library)
    given = options.isa.split(",") if options.isa else library.isa_names()
    names = [isa for isa in given if isa != "scalar"]
    for path in options.blobs:
        blob = path.read_bytes()
        works = loads(library, blob, names) if options.load else executions(library, blob, names)
        times: dict[str, list[float]] = {isa: [] for isa in works}
        for _ in range(options.rounds):
            for isa, work in works.items():
                work()
                started = time.thread_time()
                work()
                times[isa].append(1e3 * (time.thread_time() - started))
        fastest = next(iter(times.values()))
        shown = {isa: f"{describe(t)} {describe_ratios(t, fastest)}" for isa, t in times.items()}
        print(path.stem, shown, flush=True)
    return 0


def loads(library: Library, blob: bytes, names: list[str]) -> dict[str, Callable[[], None]]:
    """Calls that open and close the program, one for each instruction set."""
    return {isa: partial(library.check, blob, isa) for isa in names}


def executions(library: Library, blob: bytes, names: list[str]) -> dict[str, Callable[[], None]]:
    """Calls that execute the program, one for each instruction set."""
    inputs, outputs = ([np.zeros(n, np.uint8) for n in sizes] for sizes in boundary_bytes(blob))
    return {isa: partial(library.open(blob, isa).execute, inputs, outputs) for isa in names}


def describe(times: list[float]) -> str:
    """The median and the minimum."""
    return f"{statistics.median(times):.3f} (min {min(times):.3f})"


def describe_ratios(times: list[float], fastest: list[float]) -> str:
    """Round by round, how many times as long."""
    low, middle, high = statistics.quantiles(
        (time / least for time, least in zip(times, fastest, strict=True)), n=4
    )
    return f"x{middle:.2f} [{low:.2f}, {high:.2f}]"


def boundary_bytes(blob: bytes) -> tuple[list[int], list[int]]:
    """Sizes of the program's inputs and of its outputs, in their order."""
    tensors, operations, indices, inputs, outputs = struct.unpack_from("<5I", blob, 40)
    places = align(_TENSORS_AT + tensors * _TENSOR_BYTES)
    places = align(align(places + 128 * operations) + 4 * indices)
    numbers = struct.unpack_from(f"<{inputs + outputs}I", blob, places)
    at = (_TENSORS_AT + number * _TENSOR_BYTES + _BYTES_AT for number in numbers)
    sizes = [struct.unpack_from("<Q", blob, place)[0] for place in at]
    return sizes[:inputs], sizes[inputs:]


def align(value: int) -> int:
    """Sections begin at multiples of 64."""
    return -(-value // 64) * 64


if __name__ == "__main__":
    sys.exit(main())
