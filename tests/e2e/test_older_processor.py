"""The library that has this processor taken for an older one."""

import subprocess
import sys
from pathlib import Path

import pytest
from driver import BIN

LIBRARY = BIN.parent / "lib" / "libolder-processor.so"
CPUINFO = Path("/proc/cpuinfo")
FLAGS = set(CPUINFO.read_text().split())

pytestmark = pytest.mark.skipif(
    not LIBRARY.exists() or "cpuid_fault" not in FLAGS or "avx512f" not in FLAGS,
    reason="needs a processor with AVX-512 whose CPUID can be made to fault",
)
_TELL = """
import sys, torch
flags = set(open("/proc/cpuinfo").read().split())
print(torch.backends.cpu.get_cpu_capability(), "avx2" in flags, "avx512f" in flags,
      any(flag.startswith("amx") for flag in flags))
"""


def run_as(processor: str, *command: str) -> subprocess.CompletedProcess[str]:
    """A command that takes this processor for an older one."""
    words = ["env", f"LD_PRELOAD={LIBRARY}", f"OLDER_PROCESSOR={processor}", *command]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("processor", "told"),
    [("avx2", "AVX2 True False False"), ("avx512vnni", "AVX512 True True False")],
)
def test_cpuid_and_cpuinfo_hide_what_is_newer(processor: str, told: str) -> None:
    done = run_as(processor, sys.executable, "-c", _TELL)
    assert done.stdout.split() == told.split(), done.stderr


def test_a_fault_of_the_program_still_kills_it_and_its_own_handler_is_called() -> None:
    crash = "import ctypes; ctypes.string_at(0)"
    assert run_as("avx2", sys.executable, "-c", crash).returncode == -11
    done = run_as("avx2", sys.executable, "-X", "faulthandler", "-c", crash)
    assert (done.returncode, "Segmentation fault" in done.stderr) == (-11, True)
