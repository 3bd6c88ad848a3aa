"""Turns real scales into integers: multipliers, shifts, biases of the canonical requantization.

    y = clamp((acc * multiplier + bias) >> shift, low, high)

with an arithmetic (flooring) shift: in 64 bits for activations of int8, as if in unlimited integers
for those of int16. All that is real is settled here, ahead of time and in double precision or exact
rationals; nothing is left to be rounded at run time.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from fixedpoint.integer_types import INT8, IntegerType

MULTIPLIER_BITS = 31
"""Multipliers lie below 2^31; a normal one is at least 2^30."""

MAX_SHIFT = 62
_BIAS_LIMIT = 1 << 62
"""The product of an accumulator and a multiplier is below 2^62, the sum of both below 2^63; with
int16 that is so for what lies above 16 bits."""


@dataclass(frozen=True)
class Quantization:
    """Parameters of a tensor: real = (integer - zero_point) * scale."""

    scale: float
    zero_point: int
    low: int = INT8.low
    high: int = INT8.high
    type: IntegerType = INT8

    def quantize(self, value: float) -> int:
        """The integer nearest to a real value, ties to even, clamped."""
        if math.isnan(value):
            raise ValueError("NaN has no integer: the function is undefined at this input")
        position = value / self.scale
        if not math.isfinite(position):
            return self.high if position > 0 else self.low
        return max(self.low, min(self.high, round(position) + self.zero_point))


@dataclass(frozen=True)
class Requantize:
    """One requantization; `low` and `high` also carry a fused activation."""

    multiplier: int
    shift: int
    bias: int
    low: int
    high: int

    def apply(self, accumulator: int) -> int:
        """The definition itself, in Python's integers."""
        value = (accumulator * self.multiplier + self.bias) >> self.shift
        return max(self.low, min(self.high, value))


class NumberError(ValueError):
    """Scales that no integer arithmetic of this format can express."""


def split_ratio(
    ratio: float, offset: float = 0.0, bits: int = MULTIPLIER_BITS, least_shift: int = 1
) -> tuple[int, int]:
    """Multiplier below 2^bits and shift such that ratio ~ multiplier * 2^-shift.

    `offset` is the real number that the bias will carry: the shift leaves room for offset * 2^shift
    in 64 bits. The multiplier has `bits` significant bits unless that room, or a shift of at most
    62, takes some.

    Raises:
        NumberError: the ratio is not positive and finite, or so large that the shift is too small.
    """
    if not (math.isfinite(ratio) and ratio > 0):
        raise NumberError(f"a ratio of scales is positive and finite, not {ratio}")
    mantissa, exponent = math.frexp(ratio)
    shift = min(bits - exponent, MAX_SHIFT, _room_for(offset))
    multiplier = round(math.ldexp(mantissa, exponent + shift))
    if multiplier == 1 << bits:
        multiplier, shift = multiplier >> 1, shift - 1
    if shift < least_shift:
        raise NumberError(f"the ratio of scales {ratio} is too large; calibrate the output")
    return multiplier, shift


def _room_for(offset: float) -> int:
    """The largest shift that keeps |offset| * 2^shift within the bias."""
    return MAX_SHIFT if offset == 0 else 60 - max(0, math.frexp(abs(offset))[1])


def fixed_bias(offset: float, shift: int) -> int:
    """round(offset * 2^shift) plus the constant that makes the shift round half up."""
    return round(Fraction(offset) * (1 << shift)) + (1 << (shift - 1))


def check_range(
    largest_accumulator: int, multiplier: int, bias: int, kind: IntegerType = INT8
) -> None:
    """Proves that no accumulator up to the given magnitude overflows 64 bits.

    Raises:
        NumberError: one could.
    """
    if largest_accumulator >= 1 << kind.accumulator_bits:
        bits = kind.accumulator_bits + 1
        raise NumberError(f"the accumulator may leave {bits} bits; split the layer")
    if multiplier >= 1 << MULTIPLIER_BITS or abs(bias) > _BIAS_LIMIT:
        raise NumberError("the product of accumulator and multiplier may leave 64 bits")


def requantize_sum(
    ratios: Sequence[float], zero_points: Sequence[int], output: Quantization, bits: int
) -> tuple[list[int], int, int]:
    """Multipliers, common shift and bias of y = sum_i (x_i - zero_point_i) * ratio_i + zero point.

    The shift is the one of the largest ratio, so that one addition of products needs one shift.
    """
    offset = float(output.zero_point)
    _, shift = split_ratio(max(ratios), offset, bits, output.type.least_shift)
    multipliers = [round(Fraction(ratio) * (1 << shift)) for ratio in ratios]
    folded = sum(m * z for m, z in zip(multipliers, zero_points, strict=True))
    return multipliers, shift, fixed_bias(offset, shift) - folded


def float32_bits(value: float) -> int:
    """The bits of the nearest float32, as an int32: how the boundary's factors are written down."""
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits


def float32_from_bits(bits: int) -> float:
    """The float32 with these bits."""
    value: float = struct.unpack("<f", struct.pack("<i", bits))[0]
    return value


def activation_bounds(output: Quantization, low: float, high: float) -> tuple[int, int]:
    """The clamp that a fused activation with real bounds leaves of the integer range."""
    return output.quantize(low), output.quantize(high)


SOFTMAX_BITS = 30
"""Fraction bits of exponentials and of probabilities before they are requantized."""

LAYER_NORM_BITS = 23
"""Fraction bits of normalized values before they are requantized."""


def split_signed_ratio(ratio: float, offset: float, least_shift: int = 1) -> tuple[int, int]:
    """`split_ratio` of a ratio of either sign, or of none."""
    if ratio == 0:
        return 0, min(MULTIPLIER_BITS, _room_for(offset))
    multiplier, shift = split_ratio(abs(ratio), offset, least_shift=least_shift)
    return (multiplier if ratio > 0 else -multiplier), shift


_EPSILON_BITS = 16
"""An addend of so many bits is near enough to the real one."""

MAX_EPSILON_BITS = 15
_NORM_BITS = 61


def layer_norm_epsilon(
    epsilon: float, columns: int, scale: float, kind: IntegerType = INT8
) -> tuple[int, int]:
    """The addend to columns^2 times the variance of the integers, in units of 4^-bits; and bits.

    Where rows are short the addend may be a fraction, which decides about rows whose values are
    nearly equal: it has as many bits of fraction as such rows need, and 62 bits have room for.

    Raises:
        NumberError: the scale is so small that the addend leaves 62 bits.
    """
    exact = Fraction(epsilon) * columns**2 / Fraction(scale) ** 2
    bits, added = 0, max(1, round(exact))
    while added < 1 << _EPSILON_BITS and bits < MAX_EPSILON_BITS:
        finer = max(1, round(exact * 4 ** (bits + 1)))
        if not _is_epsilon(finer, bits + 1, columns, kind):
            break
        bits, added = bits + 1, finer
    check_epsilon(added, bits, columns, kind)
    return added, bits


def check_epsilon(added: int, bits: int, columns: int, kind: IntegerType) -> None:
    """Proves that a layer norm with this addend overflows nowhere.

    Raises:
        NumberError: it could.
    """
    if not _is_epsilon(added, bits, columns, kind):
        raise NumberError("the scale is too small beside the layer norm's epsilon")


def _is_epsilon(added: int, bits: int, columns: int, kind: IntegerType) -> bool:
    """True if sums stay below 2^62, and the shift to 23 bits of fraction is one to the right."""
    if not (1 <= added <= 1 << 60 and 0 <= bits <= MAX_EPSILON_BITS):
        return False
    spread = (columns * (kind.high - kind.low)) ** 2 >> 2
    least_shift = _NORM_BITS - (62 - added.bit_length()) // 2 - LAYER_NORM_BITS - bits
    return spread << (2 * bits) <= 1 << 61 and least_shift >= 1
