#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/record/axes.h"

namespace assay {

/// One launch to come.
struct ScheduledLaunch {
  std::size_t cell = 0;  ///< Index into the campaign's cases.
  Pass pass = Pass::kTiming;
  int index = 0;  ///< Number of the launch in its attempt.
};

/// The order of all launches: first the passes that are not timed, then timing round robin over the
/// cases, so that machine noise does not favor one case. Each round has a new seeded order.
std::vector<ScheduledLaunch> schedule_launches(std::size_t cases, const std::vector<Pass>& passes,
                                               int timing_launches, std::uint64_t seed);

}  // namespace assay
