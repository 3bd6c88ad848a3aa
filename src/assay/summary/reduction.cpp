#include "assay/summary/reduction.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/launch.h"
#include "assay/summary/timing.h"

namespace assay {
namespace {

constexpr auto kMetrics = std::to_array<std::string_view>(
    {"steady_floor_ns", "steady_ns", "steady_p90_ns", "first_ns", "load_ns"});

}  // namespace

std::optional<double> reduce_launch(const Launch& launch, std::string_view metric) {
  const auto summary = summarize_timing({launch});
  const auto found = summary.metrics.find(std::string(metric));
  return found == summary.metrics.end() ? std::nullopt : std::optional(found->second.value);
}

std::vector<std::string_view> compared_metrics(std::string_view primary) {
  std::vector<std::string_view> metrics(kMetrics.begin(), kMetrics.end());
  const auto found = std::ranges::find(metrics, primary);
  if (found != metrics.end()) {
    std::rotate(metrics.begin(), found, found + 1);
  }
  return metrics;
}

}  // namespace assay
