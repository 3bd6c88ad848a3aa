"""Fixed-point deployment of quantized PyTorch models: integers only, with a bit-exact model.

The ahead-of-time half of a delegate for ExecuTorch. Quantize with `FixedPointQuantizer`, lower with
`FixedPointPartitioner`; the C++ half executes the program, `fixedpoint.reference` computes the same
bits in plain integer arithmetic. docs/contracts/fixedpoint.md has the semantics and the format.
"""

__version__ = "0.1.0"

SEMANTICS_VERSION = 1
"""Raised when the same program would give other bits."""
