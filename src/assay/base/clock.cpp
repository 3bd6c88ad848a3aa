#include "assay/base/clock.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <limits>
#include <string>

#include <time.h>

namespace assay {

std::int64_t boottime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::int64_t unix_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string iso8601_from_unix_ns(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::int64_t measure_clock_resolution_ns() {
  constexpr int kReadings = 2000;
  auto smallest = std::numeric_limits<std::int64_t>::max();
  auto last = monotonic_ns();
  for (int i = 0; i < kReadings; ++i) {
    const auto now = monotonic_ns();
    if (now > last) {
      smallest = std::min(smallest, now - last);
    }
    last = now;
  }
  return smallest;
}

}  // namespace assay
