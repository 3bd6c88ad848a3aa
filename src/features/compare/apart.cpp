#include "features/compare/apart.h"

#include "features/compare/pairs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <vector>

#include "assay/record/metric_scale.h"
#include "assay/stats/order_statistics.h"

namespace assay {
namespace {

constexpr double kConfidence = 0.99;

/// `floors` of one side, `tops` of the other; ln times by pair.
bool lie_above(const std::vector<double>& floors, const std::vector<double>& tops, double gate) {
  std::vector<double> margins;
  margins.reserve(floors.size());
  std::ranges::transform(floors, tops, std::back_inserter(margins), std::minus<>());
  const auto interval = stats::median_interval(margins, kConfidence);
  return interval.coverage >= kConfidence && interval.low > gate;
}

}  // namespace

bool are_apart(const Pairs& pairs, double gate_ratio) {
  const auto floors = pairs.all_sides("steady_floor_ns");
  const auto tops = pairs.all_sides("steady_p90_ns");
  if (floors.a.empty() || floors.a.size() != tops.a.size() || floors.scale != MetricScale::kRatio ||
      tops.scale != MetricScale::kRatio) {
    return false;
  }
  const double gate = std::log1p(gate_ratio);
  return lie_above(floors.b, tops.a, gate) || lie_above(floors.a, tops.b, gate);
}

}  // namespace assay
