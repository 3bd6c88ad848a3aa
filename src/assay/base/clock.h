#pragma once

#include <cstdint>
#include <string>

#include <time.h>

namespace assay {

/// CLOCK_MONOTONIC_RAW in nanoseconds: not slewed by NTP. About 25 ns a call through the vDSO.
inline std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// CLOCK_BOOTTIME in nanoseconds: since the system started, time in suspension included; the same
/// for all processes.
std::int64_t boottime_ns();

/// Wall-clock time, nanoseconds since 1970-01-01 UTC.
std::int64_t unix_time_ns();

/// "2026-01-31T09:05:00Z", whole seconds, UTC.
std::string iso8601_from_unix_ns(std::int64_t unix_ns);

/// The smallest positive step seen between two readings of monotonic_ns().
std::int64_t measure_clock_resolution_ns();

}  // namespace assay
