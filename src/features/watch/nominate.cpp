#include "features/watch/nominate.h"

#include "features/repository/repository_spec.h"
#include "features/watch/alarms.h"
#include "features/watch/changed_metrics.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/uuid.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/summary/reduction.h"

namespace assay::watch {
namespace {

constexpr double kTakenBack = 0.5;
constexpr std::string_view kDefaultMetric = "steady_floor_ns";

/// True if the file says which times are watched.
bool names_time(const WatchPolicy& policy) {
  return std::ranges::any_of(policy.min_effect_ratio, [](const auto& entry) {
    return compared_metrics(entry.first).front() == entry.first;
  });
}

/// Position of the last incident of the series that showed a change or may yet; 0: none.
std::int64_t last_settled(const AnalyzedSeries& series, const WatchView& view) {
  std::int64_t last = 0;
  for (const auto& incident : view.incidents) {
    const bool is_without_change =
        incident.state == IncidentState::kRejected || incident.state == IncidentState::kUndecided;
    const auto& measured = series.stored.measured;
    if (is_without_change || !is_about(incident, measured.case_key, measured.metric)) {
      continue;
    }
    if (const auto range = view.range_of(incident)) {
      last = std::max(last, range->first_after);
    }
  }
  return last;
}

/// Noisy metrics that fresh pairs can decide. The others are shown in the history only.
bool can_be_verified(const Alarm& alarm, const WatchPolicy& policy) {
  return alarm.is_exact() || is_watched_by_pairs(alarm.metric, policy);
}

/// True if nothing more is to be measured of the alarm.
bool is_ripe(const Alarm& alarm, const WatchView& view, int step) {
  if (view.is_doubtful(alarm)) {
    return false;
  }
  return !view.has_open_between(alarm.last_before, alarm.first_after) ||
         (!alarm.is_exact() && alarm.first_after - alarm.last_before <= step);
}

std::string title_of_group(const std::vector<Alarm>& group) {
  const auto& first = group.front();
  const auto rest = group.size() - 1;
  return fmt::format("{} {} {}{}", first.label, first.metric,
                     text_of_change(first.change, first.is_ratio),
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
  std::vector<ChangedMetric> changes;
  for (const auto& alarm : group) {
    changes.push_back({alarm.case_key, alarm.label, alarm.metric, alarm.change});
    if (std::ranges::find(incident.cases, alarm.case_key) == incident.cases.end()) {
      incident.cases.push_back(alarm.case_key);
    }
  }
  incident.attribution = {{"title", title_of_group(group)},
                          {"is_worse", first.is_worse},
                          {"change", first.change},
                          {"is_exact", first.is_exact()},
                          {"label", first.label}};
  put_changed_metrics(changes, incident);
  if (first.is_exact()) {
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

bool is_open_and_worse(const Incident& incident) {
  const bool is_open =
      incident.state == IncidentState::kConfirmed || incident.state == IncidentState::kAcknowledged;
  return is_open && incident.attribution.value("is_worse", true);
}

/// True if `later` comes after the incident, on the same machine.
bool comes_after(const Incident& later, const Incident& incident, const WatchView& view) {
  const auto before = view.range_of(incident);
  const auto after = view.range_of(later);
  return later.machine == incident.machine && before && after &&
         before->first_after <= after->last_before;
}

/// How much of the incident's change is left after another change of the same metric of the same
/// case; nullopt: it is not about it, it goes the same way, or more than half is left.
std::optional<double> rest_after(const ChangedMetric& later, const Incident& incident) {
  for (const auto& one : changed_metrics(incident)) {
    const double rest = std::abs(one.change + later.change);
    if (one.case_key == later.case_key && one.metric == later.metric &&
        one.change * later.change < 0 && rest <= kTakenBack * std::abs(one.change)) {
      return rest;
    }
  }
  return std::nullopt;
}

std::string revision_of(const Incident& incident) {
  return incident.culprit.empty() ? incident.bad : incident.culprit;
}

/// Incidents with the cases that later changes took back: at first those of the view.
class TakenBack {
 public:
  TakenBack(const WatchView& view, std::int64_t now_unix_ns)
      : view_(view), now_unix_ns_(now_unix_ns), incidents_(view.incidents) {}

  /// A change takes that of the incident back of which it leaves least. A commit does so once for
  /// each case.
  void take(const Incident& later, const ChangedMetric& change) {
    const auto name = revision_of(later);
    if (has_fixed(name, change.case_key)) {
      return;
    }
    Incident* best = nullptr;
    double least = std::numeric_limits<double>::infinity();
    for (auto& incident : incidents_) {
      const auto rest = is_open_and_worse(incident) &&
                                !fixed_cases(incident).contains(change.case_key) &&
                                comes_after(later, incident, view_)
                            ? rest_after(change, incident)
                            : std::nullopt;
      if (rest && *rest < least) {
        least = *rest;
        best = &incident;
      }
    }
    if (best != nullptr) {
      put_fixed_case(change.case_key, name, *best);
      best->changed_unix_ns = now_unix_ns_;
      changed_.insert(best->id);
    }
  }

  [[nodiscard]] std::vector<Incident> changed() const {
    std::vector<Incident> found;
    std::ranges::copy_if(incidents_, std::back_inserter(found),
                         [this](const Incident& one) { return changed_.contains(one.id); });
    return found;
  }

 private:
  [[nodiscard]] bool has_fixed(const std::string& revision, const std::string& case_key) const {
    return std::ranges::any_of(incidents_, [&](const Incident& incident) {
      const auto fixed = fixed_cases(incident);
      const auto found = fixed.find(case_key);
      return found != fixed.end() && found->second == revision;
    });
  }

  const WatchView& view_;
  std::int64_t now_unix_ns_;
  std::vector<Incident> incidents_;
  std::set<std::string> changed_;
};

}  // namespace

bool is_watched_by_pairs(std::string_view metric, const WatchPolicy& policy) {
  const bool is_named = policy.min_effect_ratio.contains(std::string(metric));
  return compared_metrics(metric).front() == metric &&
         (is_named || (metric == kDefaultMetric && !names_time(policy)));
}

std::vector<Incident> nominate_incidents(const WatchView& view, const RepositorySpec& spec,
                                         std::int64_t now_unix_ns) {
  std::vector<Alarm> alarms;
  for (const auto& series : view.series) {
    std::ranges::move(alarms_of(series, view, last_settled(series, view)),
                      std::back_inserter(alarms));
  }
  std::vector<KnownRange> known;
  for (const auto& incident : view.incidents) {
    if (auto range = view.range_of(incident)) {
      known.push_back(*range);
    }
  }
  std::erase_if(alarms, [&](const Alarm& alarm) {
    return !can_be_verified(alarm, spec.policy) || is_refuted(alarm, known) ||
           !is_ripe(alarm, view, spec.policy.step);
  });
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
  TakenBack taken_back(view, now_unix_ns);
  for (const auto& later : view.incidents) {
    if (later.state != IncidentState::kConfirmed) {
      continue;
    }
    for (const auto& change : changed_metrics(later)) {
      taken_back.take(later, change);
    }
  }
  return taken_back.changed();
}

}  // namespace assay::watch
