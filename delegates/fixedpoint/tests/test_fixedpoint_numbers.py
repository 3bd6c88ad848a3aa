import random
from fractions import Fraction

import pytest

from fixedpoint import numbers
from fixedpoint.numbers import NumberError, Quantization, Requantize


def test_a_ratio_is_kept_to_31_bits():
    draw = random.Random(1)
    for _ in range(2000):
        ratio = 2.0 ** draw.uniform(-25, 5)
        multiplier, shift = numbers.split_ratio(ratio)
        assert 1 << 30 <= multiplier < 1 << 31
        error = abs(Fraction(multiplier, 1 << shift) / Fraction(ratio) - 1)
        assert error <= Fraction(1, 1 << 31)


def test_a_large_offset_takes_bits_of_the_shift_and_never_overflows():
    for offset in (0.0, -300.0, 1e6, -1e12):
        multiplier, shift = numbers.split_ratio(2.0**-20, offset)
        bias = numbers.fixed_bias(offset, shift)
        numbers.check_range((1 << 31) - 1, multiplier, bias)


def test_ratios_that_no_shift_expresses_are_refused():
    for ratio in (0.0, -1.0, float("nan"), float("inf"), 2.0**31):
        with pytest.raises(NumberError):
            numbers.split_ratio(ratio)


def test_rounds_half_up_as_the_exact_rational_says():
    draw = random.Random(2)
    output = Quantization(0.05, 7)
    for _ in range(2000):
        ratio, real = 2.0 ** draw.uniform(-12, -1), draw.uniform(-5, 5)
        offset = real / output.scale + output.zero_point
        multiplier, shift = numbers.split_ratio(ratio, offset)
        requantize = Requantize(multiplier, shift, numbers.fixed_bias(offset, shift), -128, 127)
        accumulator = draw.randrange(-(1 << 15), 1 << 15)
        exact = Fraction(accumulator) * Fraction(ratio) + Fraction(offset)
        expected = max(-128, min(127, (exact + Fraction(1, 2)).__floor__()))
        found = requantize.apply(accumulator)
        tie = abs(exact - exact.__floor__() - Fraction(1, 2)) < Fraction(1, 1 << 15)
        assert found == expected or (tie and abs(found - expected) == 1)


def test_a_bias_of_32_bits_gives_the_single_rounding_of_other_runtimes():
    # (x * m + 2^(30 - e)) >> (31 - e), then the zero point: single rounding as it is published.
    draw = random.Random(3)
    for _ in range(2000):
        multiplier, shift = numbers.split_ratio(2.0 ** draw.uniform(-12, -1))
        zero_point, bias = draw.randrange(-128, 128), draw.randrange(-(1 << 20), 1 << 20)
        fixed = numbers.fixed_bias(float(zero_point), shift) + bias * multiplier
        accumulator = draw.randrange(-(1 << 20), 1 << 20)
        value = accumulator + bias
        expected = ((value * multiplier + (1 << (shift - 1))) >> shift) + zero_point
        found = Requantize(multiplier, shift, fixed, -(1 << 40), 1 << 40).apply(accumulator)
        assert found == expected


def test_accumulators_that_could_overflow_are_refused():
    numbers.check_range((1 << 31) - 1, (1 << 31) - 1, 1 << 62)
    with pytest.raises(NumberError, match="32 bits"):
        numbers.check_range(1 << 31, 1, 0)
    with pytest.raises(NumberError, match="64 bits"):
        numbers.check_range(1, 1, (1 << 62) + 1)
