#include "assay/summary/reduction.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/summary/timing.h"

namespace assay {
namespace {

constexpr auto kMetrics = std::to_array<std::string_view>(
    {"steady_floor_ns", "steady_ns", "steady_p90_ns", "first_ns", "load_ns"});

}  // namespace

ReducedLaunch reduce_launch(const Launch& launch) {
  const auto summary = summarize_timing({launch});
  ReducedLaunch reduced;
  for (const auto& [metric, estimate] : summary.metrics) {
    reduced.emplace(metric, estimate.value);
  }
  return reduced;
}

std::vector<std::string_view> compared_metrics(std::string_view primary) {
  std::vector<std::string_view> metrics(kMetrics.begin(), kMetrics.end());
  const auto found = std::ranges::find(metrics, primary);
  if (primary.starts_with(kProgramPrefix)) {
    metrics.insert(metrics.begin(), primary);
  } else if (found != metrics.end()) {
    std::rotate(metrics.begin(), found, found + 1);
  }
  return metrics;
}

}  // namespace assay
