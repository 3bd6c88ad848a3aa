#include "assay/base/clock.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <string>

#include <time.h>

#include "assay/base/clock_step.h"

namespace assay {
namespace {

std::int64_t ns_from(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Uses another clock, because the raw one may not move at all.
std::int64_t coarse_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return ns_from(now);
}

}  // namespace

std::int64_t boottime_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return ns_from(now);
}

std::int64_t unix_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_from(now);
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
  constexpr std::int64_t kMostNs = 100'000'000;
  const auto elapsed_ns = [start_ns = coarse_ns()] { return coarse_ns() - start_ns; };
  const auto step_ns =
      smallest_step_ns(monotonic_ns, [&elapsed_ns] { return elapsed_ns() >= kMostNs; });
  timespec told{};
  ::clock_getres(CLOCK_MONOTONIC_RAW, &told);
  return step_ns.value_or(std::clamp<std::int64_t>(ns_from(told), 1, kMostNs));
}

}  // namespace assay
