#include "features/history/epochs.h"

#include "features/history/segment.h"
#include "features/history/series.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace assay::history {
namespace {

std::optional<SegmentCause> cause_between(const Point& before, const Point& after) {
  if (before.environment != after.environment) {
    return SegmentCause::kEnvironment;
  }
  if (before.metric_version != after.metric_version) {
    return SegmentCause::kMetric;
  }
  return before.reference != after.reference ? std::optional(SegmentCause::kReference)
                                             : std::nullopt;
}

}  // namespace

std::vector<Epoch> epochs_of(const Series& series) {
  std::vector<Epoch> epochs;
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    if (i == 0) {
      epochs.push_back({.first = 0, .end = 0, .cause = SegmentCause::kStart});
    } else if (const auto cause = cause_between(series.points[i - 1], series.points[i])) {
      epochs.back().end = i;
      epochs.push_back({.first = i, .end = i, .cause = *cause});
    }
  }
  if (!epochs.empty()) {
    epochs.back().end = series.points.size();
  }
  return epochs;
}

std::vector<Series> divided_by_environment(Series series) {
  const auto changes =
      std::ranges::count(epochs_of(series), SegmentCause::kEnvironment, &Epoch::cause);
  std::vector<Series> parts;
  if (static_cast<std::size_t>(changes) < std::max<std::size_t>(series.environments.size(), 1)) {
    parts.push_back(std::move(series));
    return parts;
  }
  auto points = std::move(series.points);
  series.points.clear();
  for (const auto& environment : series.environments) {
    auto& part = parts.emplace_back(series);
    part.machine = environment;
    part.environments = {environment};
  }
  for (auto& point : points) {
    auto& part = parts[point.environment];
    part.points.push_back(std::move(point));
    part.points.back().environment = 0;
  }
  return parts;
}

}  // namespace assay::history
