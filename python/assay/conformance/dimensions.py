"""Sizes that a case leaves open: their bounds, and those that its samples have.

A case is exported once and executed at the lower bound, in between, at the upper bound, and at the
lower one again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from assay.conformance.calls import TensorSpec
from assay.toolchain.errors import RequestError, reading
from assay.toolchain.sampled_model import OpenDimension

Ranges = Mapping[str, tuple[int, int]]
"""The least and the greatest size of each open dimension, by name."""

ROUND = 4
"""Samples of all sizes, and of the first one again."""

LEAST = 2
"""torch.export takes a size of one for a size that is always one."""


@reading("the open dimensions")
def ranges_from_json(document: Mapping[str, Any], specs: Sequence[TensorSpec]) -> Ranges:
    """Reads {"n": [2, 9]}.

    Raises:
        RequestError: bounds that are none, or a tensor that leaves open what has no bounds.
    """
    ranges = {str(name): (int(low), int(high)) for name, (low, high) in document.items()}
    for name, (low, high) in ranges.items():
        if not LEAST <= low < high:
            raise RequestError(
                f"the dimension '{name}' goes from {low} to {high}; it needs two sizes, the lower "
                f"one at least {LEAST}"
            )
    named = {name for spec in specs for name in spec.open.values()}
    if named != set(ranges):
        wrong = ", ".join(sorted(named ^ set(ranges)))
        raise RequestError(f'"dimensions" and what tensors leave open differ by {wrong}')
    return ranges


def sizes_from_ranges(ranges: Ranges, sample: int) -> dict[str, int]:
    """The sizes in a sample: the least, one in between, the greatest, the least again."""
    place = sample % (ROUND - 1)
    return {name: (low, (low + high) // 2, high)[place] for name, (low, high) in ranges.items()}


def sizes_beyond(ranges: Ranges) -> dict[str, int]:
    """Sizes that the program was not made for."""
    return {name: high + 1 for name, (_, high) in ranges.items()}


def open_dimensions(spec: TensorSpec, ranges: Ranges) -> dict[int, OpenDimension]:
    """The open dimensions of one tensor, by place."""
    return {place: OpenDimension(name, *ranges[name]) for place, name in spec.open.items()}
