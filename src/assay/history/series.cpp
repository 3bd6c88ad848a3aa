#include "assay/history/series.h"

#include <algorithm>

namespace assay::history {

bool Series::is_exact() const {
  const auto has_no_noise = [](const Point& point) {
    return point.has_interval && point.low == point.high;
  };
  return !points.empty() && std::ranges::all_of(points, has_no_noise);
}

}  // namespace assay::history
