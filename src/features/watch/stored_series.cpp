#include "features/watch/stored_series.h"

#include "features/history/epochs.h"
#include "features/history/series.h"
#include "features/watch/error_tolerances.h"
#include "features/watch/run_points.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/measured_series.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

bool is_wanted(const MeasuredSeries& series, const SeriesFilter& filter) {
  const bool has_metric = filter.metrics.empty() ||
                          std::ranges::find(filter.metrics, series.metric) != filter.metrics.end();
  const bool has_environment =
      filter.environment.empty() || filter.environment == series.environment;
  return has_metric && has_environment && series.label.contains(filter.only);
}

bool is_exact_point(const MeasuredPoint& point) { return point.low && point.low == point.high; }

/// Sets the least change that matters, as the file, or the tolerance of an error, says.
Status set_least_effect(const std::map<std::string, double>& least_effects, const std::string& run,
                        ErrorTolerances& tolerances, StoredSeries& found) {
  auto& [measured, series, raises_alarms] = found;
  if (const auto least = least_effects.find(measured.metric); least != least_effects.end()) {
    series.min_effect = least->second;
    return {};
  }
  if (is_error_of_outputs(measured.metric)) {
    ASSAY_ASSIGN_OR_RETURN(const auto noticed, tolerances.least_change(measured, run));
    series.min_effect = std::max(noticed.value_or(0), kExactLeastEffect);
    raises_alarms = noticed.has_value();
  } else if (series.is_exact()) {
    series.min_effect = kExactLeastEffect;
  }
  return {};
}

/// Machines that measured side by side have a series each: between their points nothing is a step.
std::vector<StoredSeries> divided_by_machine(std::vector<StoredSeries> all) {
  std::vector<StoredSeries> divided;
  for (auto& one : all) {
    for (auto& part : history::divided_by_environment(std::move(one.series))) {
      one.series = std::move(part);
      divided.push_back(one);
    }
  }
  return divided;
}

std::uint32_t index_of(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return static_cast<std::uint32_t>(found - names.begin());
  }
  names.push_back(name);
  return static_cast<std::uint32_t>(names.size() - 1);
}

/// Gives the points the positions that their revisions have now.
void place(std::vector<MeasuredPoint>& points,
           const std::map<std::string, const Revision*>& revisions) {
  for (auto& point : points) {
    point.position = revisions.at(point.revision)->position;
  }
  std::ranges::sort(points, {}, [](const MeasuredPoint& point) {
    return std::pair(point.position, point.measured_unix_ns);
  });
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
  const bool is_distance = measured.metric == kOutputsMetric;
  for (auto& point : points) {
    series.points.push_back({.position = point.position,
                             .commit = point.revision,
                             .unix_ns = revisions.at(point.revision)->committed_unix_ns,
                             .value = is_distance ? point.offset : point.value,
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
void measure_references_by_themselves(std::vector<MeasuredPoint>& points, const BytesOf& bytes_of) {
  std::set<std::string> references;
  for (const auto& point : points) {
    references.insert(bytes_of(point.reference));
  }
  for (auto& point : points) {
    if (point.reference.empty() && references.contains(bytes_of(point.revision))) {
      const bool is_exact = is_exact_point(point);
      point.offset = 0;
      point.low = is_exact ? std::optional(0.0) : std::nullopt;
      point.high = point.low;
      point.reference = point.revision;
    }
  }
}

void move_by(double shift, MeasuredPoint& point) {
  point.offset += shift;
  if (point.low && point.high) {
    point.low = *point.low + shift;
    point.high = *point.high + shift;
  }
}

/// Where the chain of references leads from the reference of a point.
struct Root {
  double shift = 0;
  std::string reference;
};

/// Follows references. Each one is followed once, as a long history has a long chain of them.
class References {
 public:
  References(const std::vector<MeasuredPoint>& points, const BytesOf& bytes_of)
      : bytes_of_(bytes_of) {
    for (const auto& point : points) {
      measured_.try_emplace({bytes_of(point.revision), point.machine}, point);
    }
  }

  Root root_of(const std::string& reference, const std::string& machine) {
    Root root{.reference = reference};
    std::vector<std::pair<Key, double>> path;
    std::set<Key> passed;
    bool is_circle = false;
    for (;;) {
      const Key key{bytes_of_(root.reference), machine};
      if (const auto known = roots_.find(key); known != roots_.end()) {
        root = known->second;
        break;
      }
      is_circle = !passed.insert(key).second;
      const auto* next = is_circle ? nullptr : find_next(key);
      if (next == nullptr) {
        break;
      }
      path.emplace_back(key, next->offset);
      root.reference = next->reference;
    }
    for (const auto& [key, offset] : std::views::reverse(path)) {
      root.shift += offset;
      if (!is_circle) {  // In a circle the root depends on the start.
        roots_[key] = root;
      }
    }
    return root;
  }

  /// One name stands for all revisions of the same bytes.
  [[nodiscard]] std::string name_of_bytes(const std::string& revision,
                                          const std::string& machine) const {
    const auto found = measured_.find({bytes_of_(revision), machine});
    return found == measured_.end() ? revision : found->second.revision;
  }

 private:
  using Key = std::pair<std::string, std::string>;  ///< Bytes, machine.

  /// The point of the reference; nullptr where the chain ends.
  [[nodiscard]] const MeasuredPoint* find_next(const Key& key) const {
    const auto found = measured_.find(key);
    const bool is_end = found == measured_.end() || found->second.reference.empty() ||
                        bytes_of_(found->second.reference) == key.first;
    return is_end ? nullptr : &found->second;
  }

  const BytesOf& bytes_of_;
  std::map<Key, MeasuredPoint> measured_;
  std::map<Key, Root> roots_;
};

BytesOf bytes_of_builds(const std::vector<RevisionBuild>& builds, const std::string& environment) {
  std::map<std::string, std::string> digests;
  for (const auto& build : builds) {
    if ((environment.empty() || build.environment == environment) && !build.output_digest.empty()) {
      digests.try_emplace(build.revision, build.output_digest);
    }
  }
  return [digests = std::move(digests)](const std::string& revision) {
    const auto found = digests.find(revision);
    return found == digests.end() ? revision : found->second;
  };
}

}  // namespace

void combine_looks(std::vector<MeasuredPoint>& points) {
  std::vector<MeasuredPoint> combined;
  std::vector<int> looks;
  for (auto& point : points) {
    auto at = combined.size();
    while (at > 0 && combined[at - 1].revision == point.revision &&
           combined[at - 1].machine != point.machine) {
      --at;
    }
    if (at == 0 || combined[at - 1].revision != point.revision) {
      combined.push_back(std::move(point));
      looks.push_back(1);
      continue;
    }
    auto& known = combined[at - 1];
    auto& count = looks[at - 1];
    if (known.reference != point.reference || is_exact_point(point)) {
      known = std::move(point);
      count = 1;
      continue;
    }
    ++count;
    known.value += (point.value - known.value) / count;
    known.offset += (point.offset - known.offset) / count;
    known.low.reset();  // A mean of sittings has no interval.
    known.high.reset();
    known.run = point.run;
    known.measured_unix_ns = point.measured_unix_ns;
  }
  points = std::move(combined);
}

void join_references(std::vector<MeasuredPoint>& points, const BytesOf& bytes_of) {
  measure_references_by_themselves(points, bytes_of);
  References references(points, bytes_of);
  for (auto& point : points) {
    const auto root = references.root_of(point.reference, point.machine);
    move_by(root.shift, point);
    point.reference = references.name_of_bytes(root.reference, point.machine);
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
  ASSAY_ASSIGN_OR_RETURN(const auto builds, store.engine_builds_of(repository));
  const auto bytes_of = bytes_of_builds(builds, filter.environment);
  ErrorTolerances tolerances(store);
  std::vector<StoredSeries> found;
  for (const auto& measured : all) {
    if (!is_wanted(measured, filter)) {
      continue;
    }
    ASSAY_ASSIGN_OR_RETURN(auto points, store.points_of(measured));
    std::erase_if(points,
                  [&](const MeasuredPoint& point) { return !by_hash.contains(point.revision); });
    place(points, by_hash);
    std::erase_if(
        points, [&](const MeasuredPoint& point) { return point.position < filter.since_position; });
    combine_looks(points);
    if (points.empty()) {
      continue;
    }
    join_references(points, bytes_of);
    const auto newest_run = points.back().run;
    auto& one = found.emplace_back(measured, make_series(measured, std::move(points), by_hash));
    ASSAY_RETURN_IF_ERROR(set_least_effect(least_effects, newest_run, tolerances, one));
  }
  return divided_by_machine(std::move(found));
}

}  // namespace assay::watch
