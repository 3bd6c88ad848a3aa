#include "assay/watch/nominate.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/uuid.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/repository/repository_spec.h"
#include "assay/summary/reduction.h"
#include "assay/watch/alarms.h"
#include "assay/watch/watch_view.h"

namespace assay::watch {
namespace {

constexpr double kTakenBack = 0.5;
constexpr std::string_view kDefaultMetric = "steady_floor_ns";

/// Whether the file says which times are watched.
bool names_time(const WatchPolicy& policy) {
  return std::ranges::any_of(policy.min_effect_ratio, [](const auto& entry) {
    return compared_metrics(entry.first).front() == entry.first;
  });
}

/// Position of the last incident of the series that showed a change or may yet; 0: none.
std::int64_t last_settled(const AnalyzedSeries& series, const WatchView& view) {
  std::int64_t last = 0;
  for (const auto& incident : view.incidents) {
    const bool is_about_it =
        incident.metric == series.stored.measured.metric &&
        std::ranges::find(incident.cases, series.stored.measured.case_key) != incident.cases.end();
    const auto range = view.range_of(incident);
    const bool is_without_change =
        incident.state == IncidentState::kRejected || incident.state == IncidentState::kUndecided;
    if (is_about_it && range && !is_without_change) {
      last = std::max(last, range->first_after);
    }
  }
  return last;
}

/// Noisy metrics that fresh pairs can decide. The others are shown in the history only.
bool can_be_verified(const Alarm& alarm, const WatchPolicy& policy) {
  if (alarm.is_exact) {
    return true;
  }
  const auto& named = policy.min_effect_ratio;
  const bool is_wanted =
      named.contains(alarm.metric) || (alarm.metric == kDefaultMetric && !names_time(policy));
  return is_wanted && compared_metrics(alarm.metric).front() == alarm.metric;
}

bool is_ripe(const Alarm& alarm, const WatchView& view, int step) {
  return !view.has_open_between(alarm.last_before, alarm.first_after) ||
         (!alarm.is_exact && alarm.first_after - alarm.last_before <= step);
}

std::string title_of_group(const std::vector<Alarm>& group) {
  const auto& first = group.front();
  const auto rest = group.size() - 1;
  return fmt::format("{} {} {}{}", first.label, first.metric, text_of_change(first),
                     rest == 0 ? "" : fmt::format(" and {} more", rest));
}

Incident incident_from_group(const std::vector<Alarm>& group, const WatchView& view,
                             const RepositorySpec& spec, std::int64_t now_unix_ns) {
  const auto& first = group.front();
  Incident incident{
      .id = make_uuid7(),
      .repository = spec.repository.id(),
      .environment = view.builds.empty() ? "" : view.builds.begin()->second.environment,
      .machine = first.machine,
      .kind = first.kind,
      .metric = first.metric,
      .good = first.good,
      .bad = first.bad,
      .opened_unix_ns = now_unix_ns,
      .changed_unix_ns = now_unix_ns};
  for (const auto& alarm : group) {
    const bool is_listed =
        std::ranges::find(incident.cases, alarm.case_key) != incident.cases.end();
    if (alarm.metric == first.metric && !is_listed) {
      incident.cases.push_back(alarm.case_key);
    }
  }
  incident.attribution = {{"title", title_of_group(group)},
                          {"is_worse", first.is_worse},
                          {"change", first.change},
                          {"is_exact", first.is_exact},
                          {"label", first.label}};
  if (first.is_exact) {
    incident.state = IncidentState::kConfirmed;
    const auto candidates = std::ranges::count_if(view.revisions, [&](const Revision& revision) {
      return first.last_before < revision.position && revision.position <= first.first_after;
    });
    if (candidates == 1) {
      incident.culprit = first.bad;
    }
    incident.attribution["search"] = "measured";
  }
  return incident;
}

double change_of(const Incident& incident) { return incident.attribution.value("change", 0.0); }

/// Whether `later` may have taken the change of `incident` back: it is about the same metric of the
/// same case, comes after it, and goes the other way.
bool may_take_back(const Incident& later, const Incident& incident, const WatchView& view) {
  const bool is_about_it =
      later.metric == incident.metric && later.machine == incident.machine &&
      std::ranges::find_first_of(later.cases, incident.cases) != later.cases.end();
  const auto before = view.range_of(incident);
  const auto after = view.range_of(later);
  return is_about_it && before && after && later.state == IncidentState::kConfirmed &&
         before->first_after <= after->last_before && change_of(later) * change_of(incident) < 0;
}

bool is_open_and_worse(const Incident& incident) {
  const bool is_open =
      incident.state == IncidentState::kConfirmed || incident.state == IncidentState::kAcknowledged;
  return is_open && incident.attribution.value("is_worse", true);
}

/// The incident of which `later` leaves least; of none it leaves more than half.
const Incident* find_taken_back(const Incident& later, const WatchView& view) {
  const auto rest_of = [&later](const Incident& incident) {
    return std::abs(change_of(later) + change_of(incident));
  };
  const Incident* best = nullptr;
  for (const auto& incident : view.incidents) {
    const bool is_candidate = is_open_and_worse(incident) && may_take_back(later, incident, view) &&
                              rest_of(incident) <= kTakenBack * std::abs(change_of(incident));
    if (is_candidate && (best == nullptr || rest_of(incident) < rest_of(*best))) {
      best = &incident;
    }
  }
  return best;
}

/// Whether the improvement is known to have fixed an incident: one commit fixes one.
bool has_fixed(const Incident& later, const WatchView& view) {
  const auto name = later.culprit.empty() ? later.bad : later.culprit;
  return std::ranges::any_of(view.incidents, [&name](const Incident& incident) {
    return incident.attribution.value("fixed_by", "") == name;
  });
}

}  // namespace

std::vector<Incident> nominate_incidents(const WatchView& view, const RepositorySpec& spec,
                                         std::int64_t now_unix_ns) {
  std::vector<Alarm> alarms;
  for (const auto& series : view.series) {
    std::ranges::move(alarms_of(series, view, last_settled(series, view)),
                      std::back_inserter(alarms));
  }
  std::erase_if(alarms, [&](const Alarm& alarm) {
    return !can_be_verified(alarm, spec.policy) || !is_ripe(alarm, view, spec.policy.step);
  });
  std::vector<KnownRange> known;
  for (const auto& incident : view.incidents) {
    if (auto range = view.range_of(incident)) {
      known.push_back(*range);
    }
  }
  auto groups = group_alarms(std::move(alarms));
  std::erase_if(groups, [&](const auto& group) { return is_known(group, known); });
  // A step that is not looked at yet would look like a drift.
  const bool has_steps = std::ranges::any_of(
      groups, [](const auto& group) { return group.front().kind == IncidentKind::kStep; });
  const bool is_looked_at = !has_steps && view.state(0).incidents.empty();
  std::vector<Incident> incidents;
  for (const auto& group : groups) {
    if (is_looked_at || group.front().kind == IncidentKind::kStep) {
      incidents.push_back(incident_from_group(group, view, spec, now_unix_ns));
    }
  }
  return incidents;
}

std::vector<Incident> close_fixed(const WatchView& view, std::int64_t now_unix_ns) {
  std::vector<Incident> changed;
  for (const auto& later : view.incidents) {
    const auto* fixed = has_fixed(later, view) ? nullptr : find_taken_back(later, view);
    if (fixed != nullptr) {
      auto next = *fixed;
      next.state = IncidentState::kFixed;
      next.attribution["fixed_by"] = later.culprit.empty() ? later.bad : later.culprit;
      next.changed_unix_ns = now_unix_ns;
      changed.push_back(std::move(next));
    }
  }
  return changed;
}

}  // namespace assay::watch
