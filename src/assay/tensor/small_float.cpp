#include "assay/tensor/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay {
namespace {

/// A sign bit, then the exponent, then the fraction; 16 bits in all.
struct Layout {
  int fraction_bits;
  int smallest_exponent;  ///< Exponent of normal numbers, and of denormals, too.
  int largest_exponent;
};

constexpr Layout kFloat16Layout{10, -14, 15};
constexpr Layout kBFloat16Layout{7, -126, 127};

std::uint16_t bits_from_double(double value, Layout layout) {
  const std::uint32_t sign = std::signbit(value) ? 0x8000U : 0U;
  const std::uint32_t infinity =
      static_cast<std::uint32_t>(layout.largest_exponent - layout.smallest_exponent + 2)
      << layout.fraction_bits;
  if (std::isnan(value)) {
    return static_cast<std::uint16_t>(sign | infinity | 1U << (layout.fraction_bits - 1));
  }
  if (value == 0 || std::isinf(value)) {
    return static_cast<std::uint16_t>(sign | (value == 0 ? 0U : infinity));
  }
  const int exponent = std::max(std::ilogb(value), layout.smallest_exponent);
  if (exponent > layout.largest_exponent) {
    return static_cast<std::uint16_t>(sign | infinity);
  }
  // The unit is the last place; adding it to the exponent field lets a carry out of the fraction
  // (and the hidden bit of a normal number) move the exponent up, to infinity at the end.
  const auto units = static_cast<std::uint32_t>(
      std::nearbyint(std::ldexp(std::abs(value), layout.fraction_bits - exponent)));
  const auto field = static_cast<std::uint32_t>(exponent - layout.smallest_exponent)
                     << layout.fraction_bits;
  return static_cast<std::uint16_t>(sign | (field + units));
}

}  // namespace

double double_from_float16(std::uint16_t bits) {
  constexpr int kFractionBits = 10;
  constexpr int kBias = 15;
  const int exponent = (bits >> kFractionBits) & 0x1f;
  const int fraction = bits & 0x3ff;
  double magnitude = 0;
  if (exponent == 0x1f) {
    magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, 1 - kBias - kFractionBits);
  } else {
    magnitude = std::ldexp(fraction + 0x400, exponent - kBias - kFractionBits);
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double double_from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t float16_from_double(double value) { return bits_from_double(value, kFloat16Layout); }

std::uint16_t bfloat16_from_double(double value) {
  return bits_from_double(value, kBFloat16Layout);
}

}  // namespace assay
