#include "features/watch/build_levels.h"

#include "features/watch/stored_series.h"
#include "features/watch/watch_view.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "assay/record/repository.h"
#include "assay/stats/quantile.h"

namespace assay::watch {
namespace {

constexpr std::size_t kLeastLevelsOfNoise = 30;
constexpr double kMadToSigma = 1.4826;

std::map<std::string, double> offsets_by_bytes(const StoredSeries& stored, const WatchView& view) {
  std::map<std::string, std::vector<double>> offsets;
  const auto& points = stored.series.points;
  for (const auto& point : points) {
    const bool is_comparable = point.environment == points.back().environment &&
                               point.reference == points.back().reference;
    if (is_comparable) {
      offsets[view.bytes_of(point.commit)].push_back(point.offset);
    }
  }
  std::map<std::string, double> medians;
  for (const auto& [bytes, values] : offsets) {
    medians[bytes] = stats::median(values);
  }
  return medians;
}

}  // namespace

std::vector<BuildLevel> levels_of(const StoredSeries& stored, const WatchView& view) {
  std::vector<BuildLevel> levels;
  if (stored.series.points.empty()) {
    return levels;
  }
  const auto offsets = offsets_by_bytes(stored, view);
  std::string last_bytes;
  for (const auto& revision : view.revisions) {
    const auto bytes = view.bytes_of(revision.hash);
    const auto offset = offsets.find(bytes);
    if (view.has_failed(revision.hash) || offset == offsets.end()) {
      continue;
    }
    if (bytes != last_bytes) {
      levels.push_back(
          {.first = revision.position, .first_hash = revision.hash, .offset = offset->second});
      last_bytes = bytes;
    }
    levels.back().last = revision.position;
    levels.back().last_hash = revision.hash;
  }
  return levels;
}

double noise_of_levels(const std::vector<BuildLevel>& levels) {
  if (levels.size() < kLeastLevelsOfNoise) {
    return 0;
  }
  std::vector<double> steps;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    steps.push_back(std::abs(levels[i].offset - levels[i - 1].offset));
  }
  return kMadToSigma * stats::median(steps) / std::sqrt(2.0);
}

}  // namespace assay::watch
