#pragma once

#include "features/history/segment.h"
#include "features/history/series.h"

#include <cstddef>
#include <vector>

namespace assay::history {

/// Points [first, end) that can be compared with each other, and what ended the ones before.
struct Epoch {
  std::size_t first = 0;
  std::size_t end = 0;
  SegmentCause cause = SegmentCause::kStart;
};

/// Divides a series where environment, metric version or reference change. None is empty.
std::vector<Epoch> epochs_of(const Series& series);

/// A series for each environment if one comes back after another: they were used side by side, and
/// points that alternate would leave no level of two points.
std::vector<Series> divided_by_environment(Series series);

}  // namespace assay::history
