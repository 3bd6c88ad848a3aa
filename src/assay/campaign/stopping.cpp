#include "assay/campaign/stopping.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assay/record/launch.h"
#include "assay/stats/order_statistics.h"
#include "assay/stats/quantile.h"

namespace assay {
namespace {

constexpr double kConfidence = 0.95;

bool is_look(int launches, int least) {
  int look = least;
  while (look < launches) {
    look += (look + 1) / 2;
  }
  return look == launches;
}

}  // namespace

double level_of(const Measurement& measurement) {
  const auto& times = measurement.samples.execute_ns;
  if (times.empty()) {
    return 0;
  }
  const auto half = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  return stats::median(std::vector<double>(half, times.end()));
}

double interval_ratio_of(std::span<const double> levels) {
  const auto interval = stats::median_interval(levels, kConfidence);
  return (interval.high - interval.low) / 2 / stats::median(levels);
}

bool has_enough_launches(const LaunchPlan& plan, std::span<const double> levels,
                         std::int64_t spent_ns) {
  const auto launches = static_cast<int>(levels.size());
  if (launches < plan.least) {
    return false;
  }
  if (plan.interval_ratio <= 0 || launches >= plan.most ||
      (plan.budget_ns > 0 && spent_ns >= plan.budget_ns)) {
    return true;
  }
  if (!is_look(launches, plan.least)) {
    return false;
  }
  const double ratio = interval_ratio_of(levels);
  return std::isnan(ratio) || ratio <= plan.interval_ratio;
}

}  // namespace assay
