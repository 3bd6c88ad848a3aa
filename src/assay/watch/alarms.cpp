#include "assay/watch/alarms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "assay/history/analysis.h"
#include "assay/history/segment.h"
#include "assay/history/series.h"
#include "assay/record/incident.h"
#include "assay/watch/next_steps.h"
#include "assay/watch/stored_series.h"

namespace assay::watch {
namespace {

/// A scan finds a step with five points on either side at the earliest.
constexpr std::size_t kScannedPoints = 10;
constexpr double kSuspiciousEffects = 2;

Alarm alarm_between(const AnalyzedSeries& from, std::size_t before, std::size_t after,
                    double change) {
  const auto& series = from.stored.series;
  const auto& measured = from.stored.measured;
  const auto& low = series.points[before];
  const auto& high = series.points[after];
  return {.case_key = measured.case_key,
          .label = measured.label,
          .metric = measured.metric,
          .last_before = low.position,
          .first_after = high.position,
          .good = low.commit,
          .bad = high.commit,
          .change = change,
          .is_worse = (measured.better == Better::kHigher) == (change < 0),
          .is_ratio = series.is_ratio,
          .is_exact = series.is_exact(),
          .machine = series.environments[high.environment]};
}

double least_effect(const history::Series& series, double default_effect) {
  return series.min_effect > 0 ? series.min_effect : default_effect;
}

/// Neighbors within the newest part of a series that is too short for a scan.
std::vector<Alarm> alarms_of_neighbors(const AnalyzedSeries& from, double default_effect,
                                       std::size_t most_points) {
  const auto& series = from.stored.series;
  std::vector<Alarm> alarms;
  const double least =
      least_effect(series, default_effect) * (series.is_exact() ? 1 : kSuspiciousEffects);
  std::size_t first = series.points.empty() ? 0 : series.points.size() - 1;
  const auto is_joined = [&](std::size_t i) {
    const auto& a = series.points[i - 1];
    const auto& b = series.points[i];
    return a.environment == b.environment && a.reference == b.reference &&
           a.metric_version == b.metric_version;
  };
  while (first > 0 && is_joined(first)) {
    --first;
  }
  if (series.points.size() - first >= most_points) {
    return alarms;
  }
  for (auto i = first + 1; i < series.points.size(); ++i) {
    const auto change = series.points[i].offset - series.points[i - 1].offset;
    if (std::abs(change) >= least) {
      alarms.push_back(alarm_between(from, i - 1, i, change));
    }
  }
  return alarms;
}

bool overlaps(std::int64_t a_low, std::int64_t a_high, std::int64_t b_low, std::int64_t b_high) {
  return a_low < b_high && b_low < a_high;
}

bool shares_cause(const Alarm& a, const Alarm& b) {
  return a.kind == b.kind && a.is_worse == b.is_worse && a.machine == b.machine &&
         overlaps(a.last_before, a.first_after, b.last_before, b.first_after);
}

}  // namespace

std::string text_of_change(const Alarm& alarm) {
  return alarm.is_ratio ? fmt::format("{:+.3g} %", 100 * std::expm1(alarm.change))
                        : fmt::format("{:+.3g}", alarm.change);
}

std::vector<Alarm> alarms_of(const AnalyzedSeries& series, double default_effect) {
  const auto& analysis = series.analysis;
  std::vector<Alarm> alarms;
  for (const auto& step : analysis.steps) {
    if (step.is_counted && !step.is_gradual) {
      alarms.push_back(
          alarm_between(series, step.last_before, step.first_after, step.shift.estimate));
    }
  }
  if (const auto& nomination = analysis.nomination) {
    alarms.push_back(
        alarm_between(series, nomination->last_before, nomination->point, nomination->change));
  }
  if (analysis.drift) {
    auto drift = alarm_between(series, analysis.drift->first,
                               series.stored.series.points.size() - 1, analysis.drift->change);
    drift.kind = IncidentKind::kDrift;
    alarms.push_back(std::move(drift));
  }
  std::ranges::move(alarms_of_neighbors(series, default_effect, kScannedPoints),
                    std::back_inserter(alarms));
  return alarms;
}

std::vector<Suspicion> suspicions_of(const std::vector<AnalyzedSeries>& all,
                                     double default_effect) {
  std::vector<Alarm> alarms;
  for (const auto& series : all) {
    std::ranges::move(alarms_of_neighbors(series, default_effect, series.stored.series.points.size() + 1),
                      std::back_inserter(alarms));
  }
  std::ranges::stable_sort(
      alarms, [](const Alarm& a, const Alarm& b) { return std::abs(a.change) > std::abs(b.change); });
  std::vector<Suspicion> suspicions;
  for (const auto& alarm : alarms) {
    suspicions.push_back(
        {.last_before = alarm.last_before,
         .first_after = alarm.first_after,
         .reason = fmt::format("{} {} {}", alarm.label, alarm.metric, text_of_change(alarm))});
  }
  return suspicions;
}

std::vector<std::vector<Alarm>> group_alarms(std::vector<Alarm> alarms) {
  std::ranges::stable_sort(
      alarms, [](const Alarm& a, const Alarm& b) { return std::abs(a.change) > std::abs(b.change); });
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
    const bool is_about_it = incident.kind == alarm.kind && incident.machine == alarm.machine &&
                             incident.attribution.value("is_worse", true) == alarm.is_worse &&
                             std::ranges::any_of(group, [&](const Alarm& one) {
                               return one.metric == incident.metric &&
                                      std::ranges::find(incident.cases, one.case_key) !=
                                          incident.cases.end();
                             });
    if (!is_about_it) {
      return false;
    }
    if (alarm.kind == IncidentKind::kDrift) {
      return !is_closed(incident.state);
    }
    const bool is_without_change = incident.state == IncidentState::kRejected ||
                                   incident.state == IncidentState::kUndecided;
    return is_without_change
               ? range.last_before <= alarm.last_before && alarm.first_after <= range.first_after
               : overlaps(range.last_before, range.first_after, alarm.last_before,
                          alarm.first_after);
  });
}

}  // namespace assay::watch
