"""Models how many cycles a MAC takes in the inner loops of the kernels for 64-bit Arm.

Usage: python delegates/fixedpoint/tools/model_neon.py BUILD_FOLDER

BUILD_FOLDER is what check_aarch64.sh built. For each kernel it takes the innermost loop with the
most multiplications out of the disassembly and has llvm-mca schedule it (LLVM_MCA names another
one). The figures are a model's: no caches, no memory, and each processor as LLVM describes it.
Prints a row of a table for each. Exit code 3: something is not installed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OBJDUMP = "aarch64-linux-gnu-objdump"
MCA = os.environ.get("LLVM_MCA", "llvm-mca")
PROCESSORS = ("cortex-a55", "cortex-a76")
ITERATIONS = 200
KERNELS = {
    "neon, 4 x 16, int8 widened": r"fixedpoint::neon::.*multiply_rows<signed char, 4>",
    "neon, 4 x 16, sums (int16, Winograd)": r"fixedpoint::neon::.*sum_up_rows<4>",
    "neondot, 4 x 16": r"fixedpoint::neon_dot::.*multiply_rows<4>",
    "neondot, depthwise": r"fixedpoint::neon_dot::.*convolve",
}
MACS = {"smlal": 4, "smlal2": 4, "sdot": 16}
"""Products that an instruction adds in vectors of 128 bits."""

FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>.*)>:$")
INSTRUCTION = re.compile(r"^\s*(?P<place>[0-9a-f]+):\t(?P<text>.*)$")
BRANCH = re.compile(r"^(?:b\.\w+|cbn?z|tbn?z)\b.*\b(?P<target>[0-9a-f]+) <")


@dataclass(frozen=True)
class Loop:
    """Instructions between a branch and where it goes back to."""

    lines: list[str]

    @property
    def macs(self) -> int:
        """Returns the number that one iteration adds."""
        return sum(MACS.get(line.split()[0], 0) for line in self.lines)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    options = parser.parse_args()
    missing = [tool for tool in (OBJDUMP, MCA) if shutil.which(tool) is None]
    if missing:
        print(f"model_neon: install {' '.join(missing)}", file=sys.stderr)
        return 3
    functions = dict(disassemble(options.build))
    print(f"| kernel | MACs and instructions of an iteration | {' | '.join(PROCESSORS)} |")
    print("|---" * (2 + len(PROCESSORS)) + "|")
    for kernel, pattern in KERNELS.items():
        found = [lines for name, lines in functions.items() if re.search(pattern, name)]
        loop = max((one for lines in found for one in loops(lines)), key=lambda one: one.macs)
        cycles = [model(loop, processor) / loop.macs for processor in PROCESSORS]
        modelled = " | ".join(f"{1 / one:.1f} MACs a cycle" for one in cycles)
        print(f"| {kernel} | {loop.macs}, {len(loop.lines)} | {modelled} |")
    return 0


def disassemble(build: Path) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Functions of the library with their instructions by address."""
    (library,) = build.rglob("libfixedpoint_runtime.a")
    command = [OBJDUMP, "-d", "--demangle", "--no-show-raw-insn", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    name, lines = "", list[tuple[int, str]]()
    for line in text.splitlines():
        if found := FUNCTION.match(line):
            yield name, lines
            name, lines = found["name"], []
        elif found := INSTRUCTION.match(line):
            lines.append((int(found["place"], 16), found["text"].partition("//")[0].strip()))
    yield name, lines


def loops(lines: list[tuple[int, str]]) -> Iterator[Loop]:
    """Loops that hold no other one."""
    begin = 0
    for place, text in lines:
        found = BRANCH.match(text)
        target = int(found["target"], 16) if found else place + 1
        if begin <= target < place:
            body = [one for at, one in lines if target <= at < place]
            yield Loop(body)
            begin = place


def model(loop: Loop, processor: str) -> float:
    """Cycles of an iteration; branches are left out, for their targets are addresses."""
    straight = [line for line in loop.lines if not BRANCH.match(line) and not line.startswith("b ")]
    command = [
        MCA, "-mtriple=aarch64-linux-gnu", f"-mcpu={processor}", "-mattr=+dotprod",
        f"-iterations={ITERATIONS}", "-resource-pressure=false", "-instruction-info=false",
    ]  # fmt: skip
    text = subprocess.run(
        command, input="\n".join(straight) + "\n", capture_output=True, text=True, check=True
    ).stdout
    total = re.search(r"Total Cycles:\s+(\d+)", text)
    if total is None:
        raise ValueError(f"llvm-mca printed no cycles for {processor}")
    return int(total[1]) / ITERATIONS


if __name__ == "__main__":
    sys.exit(main())
