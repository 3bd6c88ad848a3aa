"""The binaries have what cmake/AssayModule.cmake asks of compiler, libc and linker."""

import re
import shutil
import subprocess

import pytest
from driver import BIN

EXECUTABLES = ["assay", "assay-agent", "assay-runner-fake"]
DYNAMIC = [name for name in EXECUTABLES if name != "assay-agent"]

pytestmark = pytest.mark.skipif(
    not (shutil.which("readelf") and shutil.which("objdump")), reason="binutils are not installed"
)


def read_binary(name: str, *command: str) -> str:
    """Runs readelf or objdump on one executable."""
    return subprocess.run(
        [*command, str(BIN / name)], capture_output=True, text=True, check=True
    ).stdout


def read_elf(name: str, *flags: str) -> str:
    """Runs readelf on one executable."""
    return read_binary(name, "readelf", "--wide", *flags)


def is_fortified_by_choice(name: str) -> bool:
    """True if the build asks for FORTIFY: sanitizers check more than it."""
    return "__asan_init" not in read_elf(name, "--symbols")


@pytest.mark.parametrize("name", EXECUTABLES)
def test_no_address_is_known_and_no_table_of_the_linker_can_be_written(name: str) -> None:
    assert re.search(r"Type:\s+DYN\b", read_elf(name, "--file-header")), "no PIE"
    segments = read_elf(name, "--program-headers")
    assert "GNU_RELRO" in segments
    stack = next(line for line in segments.splitlines() if "GNU_STACK" in line)
    assert "RWE" not in stack
    flags = read_elf(name, "--dynamic")
    assert re.search(r"\(FLAGS_1\).*\bNOW\b", flags), flags
    assert re.search(r"\(FLAGS_1\).*\bPIE\b", flags), flags


@pytest.mark.parametrize("name", DYNAMIC)
def test_stacks_calls_of_libc_and_bounds_are_checked(name: str) -> None:
    """Libraries are linked dynamically: what an executable takes from them, its own code calls."""
    taken = set(re.findall(r"\b(\w+_chk(?:_fail)?)@", read_elf(name, "--dyn-syms")))
    assert "__stack_chk_fail" in taken
    assert "__glibcxx_assert_fail" in read_elf(name, "--dyn-syms")
    if is_fortified_by_choice(name):
        assert taken - {"__stack_chk_fail"}, taken


def test_the_agent_checks_its_stacks_and_its_calls_of_libc() -> None:
    """It has a libc of its own, which has such calls anyway: those of Assay's functions count."""
    called: dict[str, set[str]] = {}
    function = ""
    for line in read_binary("assay-agent", "objdump", "-dC", "--no-show-raw-insn").splitlines():
        if begin := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            function = begin[1]
        elif function.startswith("assay::") and (call := re.search(r"call.*<(__\w+_chk\w*)", line)):
            called.setdefault(call[1], set()).add(function)
    assert len(called["__stack_chk_fail"]) > 100
    if is_fortified_by_choice("assay-agent"):
        assert set(called) - {"__stack_chk_fail"}, called
