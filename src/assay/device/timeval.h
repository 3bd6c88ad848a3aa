#pragma once

#include <cstdint>

#include <sys/time.h>

namespace assay {

/// A time of getrusage or wait4 in nanoseconds; whole microseconds.
inline std::int64_t ns_from_timeval(const timeval& time) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  constexpr std::int64_t kNsPerUs = 1'000;
  return time.tv_sec * kNsPerSecond + time.tv_usec * kNsPerUs;
}

}  // namespace assay
