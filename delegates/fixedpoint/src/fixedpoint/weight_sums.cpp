#include "fixedpoint/weight_sums.h"

#include <cstdint>

namespace fixedpoint {
namespace {

/// As many as 16 bits hold the sum of, and vectors therefore add in 16 bits.
constexpr std::int64_t kPart = 128;

template <class Count>
[[gnu::always_inline]] inline void add_part(const std::int8_t* weights, Count count,
                                            WeightSums& sums) {
  std::int16_t plain = 0;
  std::int16_t magnitude = 0;
  for (Count i = 0; i < count; ++i) {
    const auto weight = static_cast<std::int16_t>(weights[i]);
    plain = static_cast<std::int16_t>(plain + weight);
    magnitude = static_cast<std::int16_t>(magnitude + (weight < 0 ? -weight : weight));
  }
  sums.plain += plain;
  sums.magnitude += magnitude;
}

}  // namespace

WeightSums sum_weights(const std::int8_t* weights, std::int64_t count) {
  WeightSums sums;
  std::int64_t done = 0;
  for (; done + kPart <= count; done += kPart) {
    add_part(weights + done, kPart, sums);
  }
  add_part(weights + done, count - done, sums);
  return sums;
}

}  // namespace fixedpoint
