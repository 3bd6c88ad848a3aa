"""Prints how far interpolated tables of int16 lie from their functions.

Usage: python delegates/fixedpoint/tools/table_errors.py

For each function and each largest input the largest distance over all inputs, in steps of the
result: 2^-15 for sigmoid and tanh, for others the largest result / 32767.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from fixedpoint import reference
from fixedpoint.functions import make_table
from fixedpoint.integer_types import INT16
from fixedpoint.numbers import Quantization

_LARGEST = (4.0, 5.3, 8.0, 11.0, 16.0, 32.0)
_UNITS = (torch.sigmoid, torch.tanh)
_FUNCTIONS = (
    *_UNITS, functional.silu, functional.gelu, functional.elu, torch.exp, torch.abs,
    functional.leaky_relu, functional.hardswish,
)  # fmt: skip
_CODES = torch.arange(-32767, 32768)


def largest_distance(function: Callable[[torch.Tensor], torch.Tensor], largest: float) -> float:
    """The errors in steps of the result, for inputs up to `largest`."""
    scale = largest / 32767
    exact = function(_CODES.double() * scale)
    step = 2.0**-15 if function in _UNITS else float(exact.abs().max()) / 32767
    source, result = (Quantization(s, 0, -32767, 32767, INT16) for s in (scale, step))
    table = torch.from_numpy(make_table(function, source, result))
    found = reference.table(_CODES.to(torch.int16), table)
    return float((found - exact / step).abs().max())


def main() -> int:
    """A row for each function."""
    print(f"{'':12}" + "".join(f"{largest:8}" for largest in _LARGEST))
    for function in _FUNCTIONS:
        distances = (largest_distance(function, largest) for largest in _LARGEST)
        print(f"{function.__name__:12}" + "".join(f"{distance:8.2f}" for distance in distances))
    return 0


if __name__ == "__main__":
    sys.exit(main())
