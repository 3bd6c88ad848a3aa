"""Features of the processor that tests of int8 need.

Without VNNI, ONNX Runtime and OpenVINO add products of 8 bits in 16 bits, which saturate: their
answers are off by more than rounding, and no fault of what made the program.
"""

from pathlib import Path

import pytest

HAS_VNNI = "vnni" in Path("/proc/cpuinfo").read_text(encoding="utf-8")
NEEDS_VNNI = pytest.mark.skipif(not HAS_VNNI, reason="this processor's int8 products saturate")
