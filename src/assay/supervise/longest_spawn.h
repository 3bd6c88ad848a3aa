#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "assay/record/spawn.h"

namespace assay {

/// How long an agent may work on a request: until the device is cool, the files are in the state
/// that is asked for, the companions are at work and the process has ended, without the way of the
/// answer.
inline std::int64_t longest_spawn_ns(const SpawnRequest& request) {
  constexpr std::int64_t kMinuteNs = 60'000'000'000;  // As companions.h gives each.
  constexpr std::int64_t kMostNs = std::numeric_limits<std::int64_t>::max() / 4;
  const auto& around = request.surroundings;
  const std::int64_t cooling_ns = around.cool_below_celsius > 0
                                      ? std::clamp<std::int64_t>(around.cool_timeout_ns, 0, kMostNs)
                                      : 0;
  const std::int64_t files_ns = around.page_cache.empty() ? 0 : kMinuteNs;
  const auto companions = static_cast<std::int64_t>(around.companions.size());
  const std::int64_t companions_ns = std::min(kMostNs / kMinuteNs, companions) * kMinuteNs;
  return std::clamp<std::int64_t>(request.limits.wall_ns, 0, kMostNs) + cooling_ns + files_ns +
         companions_ns;
}

}  // namespace assay
