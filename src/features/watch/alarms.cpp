#include "features/watch/alarms.h"

#include "features/history/analysis.h"
#include "features/history/segment.h"
#include "features/history/series.h"
#include "features/watch/build_levels.h"
#include "features/watch/changed_metrics.h"
#include "features/watch/next_steps.h"
#include "features/watch/run_points.h"
#include "features/watch/stored_series.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/record/incident.h"
#include "assay/record/metric.h"

namespace assay::watch {
namespace {

/// Noises by which neighbors differ that deserve fresh pairs.
constexpr double kLeastNoises = 2;
/// Alarms of one group that pairs refute until the others count as refuted with them: noise of a
/// sitting moves many cases at once.
constexpr int kMostRefuted = 3;

struct End {
  std::int64_t position = 0;
  std::string hash;
};

Alarm alarm_between(const AnalyzedSeries& from, const End& before, const End& after,
                    double change) {
  const auto& series = from.stored.series;
  const auto& measured = from.stored.measured;
  return {.case_key = measured.case_key,
          .label = measured.label,
          .metric = measured.metric,
          .last_before = before.position,
          .first_after = after.position,
          .good = before.hash,
          .bad = after.hash,
          .change = change,
          .is_worse = (measured.better == Better::kHigher) == (change < 0),
          .is_ratio = series.is_ratio,
          .nature = nature_of(from),
          .machine = series.environments[series.points.back().environment]};
}

End end_of(const history::Point& point) { return {point.position, point.commit}; }

double least_effect(const history::Series& series) {
  return history::least_effect_of(series, {.min_effect = kDefaultEffect});
}

/// Levels next to each other that differ.
std::vector<Alarm> alarms_of_neighbors(const AnalyzedSeries& from,
                                       const std::vector<BuildLevel>& levels) {
  const auto& series = from.stored.series;
  if (!from.stored.raises_alarms) {
    return {};
  }
  const double noise = series.is_exact() ? 0 : noise_of_levels(levels);
  const double least = std::max(least_effect(series), kLeastNoises * noise);
  std::vector<Alarm> alarms;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    const double change = levels[i].offset - levels[i - 1].offset;
    if (std::abs(change) >= least) {
      alarms.push_back(alarm_between(from, {levels[i - 1].last, levels[i - 1].last_hash},
                                     {levels[i].first, levels[i].first_hash}, change));
    }
  }
  return alarms;
}

/// Small changes that add up behind the last known incident.
std::optional<Alarm> find_drift(const AnalyzedSeries& from, const std::vector<BuildLevel>& levels,
                                std::int64_t settled) {
  const auto first = std::ranges::find_if(
      levels, [settled](const BuildLevel& level) { return level.last >= settled; });
  if (levels.end() - first < 3 || nature_of(from) != MetricNature::kNoisy) {
    return {};
  }
  const double change = levels.back().offset - first->offset;
  if (std::abs(change) < least_effect(from.stored.series)) {
    return {};
  }
  auto drift = alarm_between(from, {first->last, first->last_hash},
                             {levels.back().last, levels.back().last_hash}, change);
  drift.kind = IncidentKind::kDrift;
  return drift;
}

void put_largest_first(std::vector<Alarm>& alarms) {
  // Equal changes keep an order that does not depend on the sort.
  std::ranges::sort(alarms, [](const Alarm& a, const Alarm& b) {
    return std::tuple(-std::abs(a.change), a.metric, a.case_key, a.first_after) <
           std::tuple(-std::abs(b.change), b.metric, b.case_key, b.first_after);
  });
}

bool overlaps(std::int64_t a_low, std::int64_t a_high, std::int64_t b_low, std::int64_t b_high) {
  return a_low < b_high && b_low < a_high;
}

bool shares_cause(const Alarm& a, const Alarm& b) {
  return a.kind == b.kind && a.is_worse == b.is_worse && a.nature == b.nature &&
         a.machine == b.machine &&
         overlaps(a.last_before, a.first_after, b.last_before, b.first_after);
}

/// True if the incident has the direction of the alarm, or had it until pairs showed the other.
bool has_direction_of(const Incident& incident, const Alarm& alarm) {
  const bool is_worse = incident.attribution.value("is_worse", true);
  return is_worse == alarm.is_worse ||
         incident.attribution.value("nominated_is_worse", is_worse) == alarm.is_worse;
}

bool is_without_change(const Incident& incident) {
  return incident.state == IncidentState::kRejected || incident.state == IncidentState::kUndecided;
}

bool is_alike(const Incident& incident, const Alarm& alarm) {
  return incident.kind == alarm.kind && incident.machine == alarm.machine &&
         has_direction_of(incident, alarm);
}

}  // namespace

std::string text_of_change(double change, bool is_ratio) {
  return is_ratio ? fmt::format("{:+.3g} %", 100 * std::expm1(change))
                  : fmt::format("{:+.3g}", change);
}

MetricNature nature_of(const AnalyzedSeries& series) {
  if (series.stored.measured.metric == kFailsMetric) {
    return MetricNature::kFailure;
  }
  if (is_error_of_outputs(series.stored.measured.metric)) {
    return MetricNature::kAccuracy;
  }
  return series.stored.series.is_exact() ? MetricNature::kExact : MetricNature::kNoisy;
}

std::vector<Alarm> alarms_of_neighbors(const AnalyzedSeries& series, const WatchView& view) {
  return alarms_of_neighbors(series, levels_of(series.stored, view));
}

std::vector<Alarm> alarms_of(const AnalyzedSeries& series, const WatchView& view,
                             std::int64_t settled) {
  const auto levels = levels_of(series.stored, view);
  auto alarms = alarms_of_neighbors(series, levels);
  const auto& points = series.stored.series.points;
  for (const auto& step : series.analysis.steps) {
    if (series.stored.raises_alarms && step.is_counted && !step.is_gradual) {
      alarms.push_back(alarm_between(series, end_of(points[step.last_before]),
                                     end_of(points[step.first_after]), step.shift.estimate));
    }
  }
  if (auto drift = find_drift(series, levels, settled)) {
    alarms.push_back(*std::move(drift));
  }
  return alarms;
}

std::vector<Suspicion> suspicions_of(const WatchView& view) {
  std::vector<Alarm> alarms;
  for (const auto& series : view.series) {
    std::ranges::move(alarms_of_neighbors(series, view), std::back_inserter(alarms));
  }
  put_largest_first(alarms);
  std::vector<Suspicion> suspicions;
  suspicions.reserve(alarms.size());
  for (const auto& alarm : alarms) {
    suspicions.push_back({.last_before = alarm.last_before,
                          .first_after = alarm.first_after,
                          .reason = fmt::format("{} {} {}", alarm.label, alarm.metric,
                                                text_of_change(alarm.change, alarm.is_ratio))});
  }
  return suspicions;
}

std::vector<std::vector<Alarm>> group_alarms(std::vector<Alarm> alarms) {
  put_largest_first(alarms);
  std::vector<std::vector<Alarm>> groups;
  for (auto& alarm : alarms) {
    const auto group = std::ranges::find_if(
        groups, [&](const auto& known) { return shares_cause(known.front(), alarm); });
    if (group == groups.end()) {
      groups.push_back({std::move(alarm)});
    } else {
      group->push_back(std::move(alarm));
    }
  }
  return groups;
}

bool is_known(const std::vector<Alarm>& group, const std::vector<KnownRange>& known) {
  const auto& alarm = group.front();
  return std::ranges::any_of(known, [&](const KnownRange& range) {
    const auto& incident = *range.incident;
    const bool is_about_group = !is_without_change(incident) && is_alike(incident, alarm) &&
                                std::ranges::any_of(group, [&](const Alarm& one) {
                                  return is_about(incident, one.case_key, one.metric);
                                });
    if (!is_about_group) {
      return false;
    }
    return alarm.kind == IncidentKind::kDrift ? !is_closed(incident.state)
                                              : overlaps(range.last_before, range.first_after,
                                                         alarm.last_before, alarm.first_after);
  });
}

bool is_refuted(const Alarm& alarm, const std::vector<KnownRange>& known) {
  int others = 0;
  for (const auto& range : known) {
    const auto& incident = *range.incident;
    const bool is_about_it = is_without_change(incident) &&
                             range.last_before <= alarm.last_before &&
                             alarm.first_after <= range.first_after && is_alike(incident, alarm) &&
                             is_about(incident, alarm.case_key, alarm.metric);
    if (is_about_it && incident.metric == alarm.metric &&
        incident.cases.front() == alarm.case_key) {
      return true;
    }
    others += is_about_it ? 1 : 0;
  }
  return others >= kMostRefuted;
}

}  // namespace assay::watch
