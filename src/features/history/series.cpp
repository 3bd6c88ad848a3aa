#include "features/history/series.h"

#include <algorithm>
#include <string>

namespace assay::history {

bool Series::is_exact() const {
  const auto has_no_noise = [](const Point& point) {
    return point.has_interval && point.low == point.high;
  };
  return !points.empty() && std::ranges::all_of(points, has_no_noise);
}

std::string Series::full_name() const {
  return machine.empty() ? name : name + " (" + machine + ")";
}

}  // namespace assay::history
