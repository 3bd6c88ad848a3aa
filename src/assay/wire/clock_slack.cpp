#include "assay/wire/clock_slack.h"

#include <algorithm>
#include <cstdint>

namespace assay::wire {
namespace {

constexpr std::int64_t kLeastSlackNs = 1'000'000;
constexpr std::int64_t kWallShare = 100;
constexpr std::int64_t kCoarsestStepNs = 20'000'000;

}  // namespace

std::int64_t clock_slack_ns(std::int64_t wall_ns, std::int64_t readings,
                            std::int64_t clock_resolution_ns) {
  const auto step_ns = std::clamp<std::int64_t>(clock_resolution_ns, 0, kCoarsestStepNs);
  return kLeastSlackNs + wall_ns / kWallShare + readings * step_ns;
}

}  // namespace assay::wire
