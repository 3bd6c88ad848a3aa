#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "assay/record/launch.h"

namespace assay {

/// When each sample of the timed series ended, in ns since the series began: the samples of the
/// iterations after a given warm-up, or of all of them. A sample stands for `stride` inferences and
/// their pauses; what the loop itself took is spread over them, so that the last one ends with the
/// series (wall_ns).
std::vector<double> end_times_of(const Measurement& measurement);

/// Index into the samples of the first one that begins at or after a share of the series' time.
/// `ends`: end_times_of(measurement), for those who ask more than once. O(log n) with it.
std::size_t first_sample_at(const Measurement& measurement, double share);
std::size_t first_sample_at(const Measurement& measurement, std::span<const double> ends,
                            double share);

}  // namespace assay
