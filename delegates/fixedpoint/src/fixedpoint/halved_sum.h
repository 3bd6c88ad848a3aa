#pragma once

#include "fixedpoint/operations.h"

#include <cstdint>

namespace fixedpoint {

/// A sum's numbers in two halves, so that all products fit 32 bits: what lies below 15 bits, which
/// is shifted away first, and what lies above. Multipliers are pairs of 16 bits, a's and b's.
struct HalvedSum {
  static constexpr int kBits = 15;

  std::int32_t upper;
  std::int32_t lower;
  std::int32_t upper_bias;
  std::int32_t lower_bias;
  int shift;
};

/// False when the halves do not fit.
bool halve(const Add& op, HalvedSum& halves);

}  // namespace fixedpoint
