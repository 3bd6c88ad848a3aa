#include "assay/watch/stored_series.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/history/series.h"
#include "assay/record/measured_series.h"
#include "assay/record/repository.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

constexpr double kExactLeastEffect = 1e-9;

bool is_wanted(const MeasuredSeries& series, const SeriesFilter& filter) {
  const bool has_metric = filter.metrics.empty() ||
                          std::ranges::find(filter.metrics, series.metric) != filter.metrics.end();
  const bool has_environment =
      filter.environment.empty() || filter.environment == series.environment;
  return has_metric && has_environment && series.label.contains(filter.only);
}

/// Leaves the newest point of each revision and machine; they come by position, then by time.
void keep_newest(std::vector<MeasuredPoint>& points) {
  std::vector<MeasuredPoint> kept;
  for (auto& point : points) {
    const bool is_again = !kept.empty() && kept.back().revision == point.revision &&
                          kept.back().machine == point.machine;
    if (is_again) {
      kept.back() = std::move(point);
    } else {
      kept.push_back(std::move(point));
    }
  }
  points = std::move(kept);
}

std::uint32_t index_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return static_cast<std::uint32_t>(found - names.begin());
  }
  names.push_back(name);
  return static_cast<std::uint32_t>(names.size() - 1);
}

history::Series make_series(const MeasuredSeries& measured, std::vector<MeasuredPoint> points,
                            const std::map<std::string, const Revision*>& revisions) {
  history::Series series{.name = measured.label,
                         .metric = measured.metric,
                         .unit = measured.unit,
                         .better = measured.better,
                         .is_ratio = has_log_offsets(measured)};
  series.has_reference = !points.empty() && std::ranges::all_of(points, [](const auto& point) {
    return !point.reference.empty();
  });
  for (auto& point : points) {
    series.points.push_back({.position = point.position,
                             .commit = point.revision,
                             .unix_ns = revisions.at(point.revision)->committed_unix_ns,
                             .value = point.value,
                             .offset = point.offset,
                             .low = point.low.value_or(point.offset),
                             .high = point.high.value_or(point.offset),
                             .has_interval = point.low.has_value(),
                             .environment = index_of(point.machine, series.environments),
                             .reference = index_of(point.reference, series.references),
                             .metric_version = measured.metric_version});
  }
  return series;
}

/// The first reference was measured alone; beside itself it would be at 0.
void measure_references_by_themselves(std::vector<MeasuredPoint>& points) {
  std::set<std::string> references;
  for (const auto& point : points) {
    references.insert(point.reference);
  }
  for (auto& point : points) {
    if (point.reference.empty() && references.contains(point.revision)) {
      const bool is_exact = point.low && point.low == point.high;
      point.offset = 0;
      point.low = is_exact ? std::optional(0.0) : std::nullopt;
      point.high = point.low;
      point.reference = point.revision;
    }
  }
}

}  // namespace

void join_references(std::vector<MeasuredPoint>& points) {
  measure_references_by_themselves(points);
  std::map<std::pair<std::string, std::string>, const MeasuredPoint*> measured;
  const auto original = points;
  for (const auto& point : original) {
    measured[{point.revision, point.machine}] = &point;
  }
  for (auto& point : points) {
    // A reference lies before its revision, so that this ends; a pinned one may not, hence the
    // limit.
    for (std::size_t joins = 0; joins < original.size(); ++joins) {
      const auto found = measured.find({point.reference, point.machine});
      if (found == measured.end() || found->second->position >= point.position ||
          found->second->reference.empty()) {
        break;
      }
      const auto& join = *found->second;
      point.offset += join.offset;
      if (point.low && point.high) {
        const auto shift = join.offset;
        point.low = *point.low + shift;
        point.high = *point.high + shift;
      }
      point.reference = join.reference;
    }
  }
}

Result<std::vector<StoredSeries>> read_series(ResultStore& store, const std::string& repository,
                                              const std::vector<Revision>& revisions,
                                              const SeriesFilter& filter,
                                              const std::map<std::string, double>& least_effects) {
  std::map<std::string, const Revision*> by_hash;
  for (const auto& revision : revisions) {
    by_hash.emplace(revision.hash, &revision);
  }
  ASSAY_ASSIGN_OR_RETURN(const auto all, store.series_of(repository));
  std::vector<StoredSeries> found;
  for (const auto& measured : all) {
    if (!is_wanted(measured, filter)) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(auto points, store.points_of(measured));
    std::erase_if(points, [&](const MeasuredPoint& point) {
      return point.position < filter.since_position || !by_hash.contains(point.revision);
    });
    keep_newest(points);
    join_references(points);
    auto series = make_series(measured, std::move(points), by_hash);
    if (series.points.empty()) {
      continue;
    }
    const auto least = least_effects.find(measured.metric);
    series.min_effect = least != least_effects.end() ? least->second : 0;
    if (series.is_exact() && least == least_effects.end()) {
      series.min_effect = kExactLeastEffect;
    }
    found.push_back({measured, std::move(series)});
  }
  return found;
}

}  // namespace assay::watch
