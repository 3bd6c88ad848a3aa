#pragma once

#include <cstdint>

namespace fixedpoint {

/// Sums of weights and of their magnitudes.
struct WeightSums {
  std::int64_t plain = 0;
  std::int64_t magnitude = 0;
};

WeightSums sum_weights(const std::int8_t* weights, std::int64_t count);

}  // namespace fixedpoint
