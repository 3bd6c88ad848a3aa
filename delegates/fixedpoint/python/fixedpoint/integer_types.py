"""Types of activations, and what each decides."""

from dataclasses import dataclass


@dataclass(frozen=True)
class IntegerType:
    """Values of activations and the arithmetic on them.

    Accumulators lie below 2^accumulator_bits, shifts of requantizations are `least_shift` or more.
    `span` is the largest distance of a value to a zero point.
    """

    name: str
    low: int
    high: int
    span: int
    accumulator_bits: int
    least_shift: int
    has_zero_points: bool

    @property
    def magnitude(self) -> int:
        """The largest magnitude of a value."""
        return -self.low


INT8 = IntegerType("int8", -128, 127, 255, 31, 1, True)

INT16 = IntegerType("int16", -32768, 32767, 32768, 47, 16, False)
"""Its products with multipliers leave 64 bits: they are taken apart where 16 bits end."""

TYPES = {known.name: known for known in (INT8, INT16)}
