#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/summary.h"

namespace assay {

/// Where a launch's steady iterations begin, and how that is known.
struct SteadyPart {
  WarmupFinding finding = WarmupFinding::kGiven;
  std::size_t first = 0;  ///< Index into the samples; those before it are warm-up.
};

/// Splits the samples of a launch: the one place where warm-up ends.
///
/// A sustained launch is steady in the last third of its time, whatever its times do there. A plan
/// with a given warm-up is taken at its word. Otherwise stats::find_steady_state on the
/// execute times decides; a launch that never becomes steady is split in its middle, where that
/// function takes its level from, and so is one that has too few iterations to tell, whose warm-up
/// is at most ten of them. Pure; O(n log n).
SteadyPart find_steady_part(const Measurement& measurement);

/// The values of one column from the first steady iteration on.
std::vector<double> steady_values(const SteadyPart& part, const std::vector<std::int64_t>& column);

/// How far the level still moves within the steady part: the medians of its halves apart, over the
/// median; 0 where that is 0, or of fewer than two values.
double drift_ratio_of(const std::vector<double>& steady);

}  // namespace assay
