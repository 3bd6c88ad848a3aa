#pragma once

#include <cstdint>

namespace assay {

/// The value of an IEEE 754 binary16; exact, denormals, infinities and NaN included.
double double_from_float16(std::uint16_t bits);

/// The value of a bfloat16 (the upper half of a binary32); exact.
double double_from_bfloat16(std::uint16_t bits);

/// Rounds to nearest, ties to even; beyond the range gives infinity, NaN stays NaN.
std::uint16_t float16_from_double(double value);
std::uint16_t bfloat16_from_double(double value);

}  // namespace assay
