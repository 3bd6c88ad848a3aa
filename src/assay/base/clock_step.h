#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace assay {

/// The smallest positive step between two readings of a clock: of two thousand readings, and of so
/// many more that the clock has moved three times, as one that ticks each 10 ms does not within two
/// thousand. Absent where it never moves before `is_over`.
///
/// `now`: reads the clock, in ns. `is_over`: asked between readings, after the two thousand.
template <class Clock, class IsOver>
std::optional<std::int64_t> smallest_step_ns(Clock now, IsOver is_over) {
  constexpr int kReadings = 2000;
  constexpr int kSteps = 3;
  std::optional<std::int64_t> smallest;
  int steps = 0;
  std::int64_t last = now();
  for (int i = 0; i < kReadings || (steps < kSteps && !is_over()); i = std::min(i + 1, kReadings)) {
    const std::int64_t reading = now();
    if (reading > last) {
      ++steps;
      smallest = std::min(smallest.value_or(reading - last), reading - last);
    }
    last = reading;
  }
  return smallest;
}

}  // namespace assay
