#include "features/watch/watcher.h"

#include "features/repository/repository_spec.h"
#include "features/watch/delivery.h"
#include "features/watch/events.h"
#include "features/watch/find_culprit.h"
#include "features/watch/incident_by_hand.h"
#include "features/watch/next_steps.h"
#include "features/watch/nominate.h"
#include "features/watch/reference.h"
#include "features/watch/run_points.h"
#include "features/watch/stalls.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cstddef>
#include <expected>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"

namespace assay::watch {
namespace {

constexpr int kRoundsOfReference = 4;

Json event_of(std::string_view kind, const Revision& revision) {
  return {{"event", kind},
          {"revision", revision.hash},
          {"position", revision.position},
          {"subject", revision.subject}};
}

}  // namespace

Result<Watcher> Watcher::make(Parts parts, std::vector<Revision> revisions) {
  ASSAY_ASSIGN_OR_RETURN(auto policy, reference_policy_from_text(parts.spec.policy.reference));
  if (policy.kind == ReferencePolicy::Kind::kPinned) {
    policy.pinned = parts.pinned;
  }
  return Watcher(std::move(parts), std::move(policy), std::move(revisions));
}

Result<WatchView> Watcher::read() {
  return read_view(parts_.store, parts_.spec, parts_.environment, revisions_, parts_.filter);
}

double Watcher::verification_share() const {
  return all_ns_ == 0 ? 0 : static_cast<double>(verification_ns_) / static_cast<double>(all_ns_);
}

Result<bool> Watcher::take_step() {
  ASSAY_RETURN_IF_ERROR(recover_points());
  ASSAY_ASSIGN_OR_RETURN(auto view, read());
  ASSAY_RETURN_IF_ERROR(update_incidents(view));
  ASSAY_ASSIGN_OR_RETURN(view, read());
  ASSAY_RETURN_IF_ERROR(send_messages(view));
  const auto& policy = parts_.spec.policy;
  const auto steps =
      plan_steps(view.state(verification_share()), policy.step, policy.share_of_verification, 1);
  if (steps.empty()) {
    return false;
  }
  const auto& step = steps.front();
  parts_.listener.on_event({{"event", "step"},
                            {"kind", name_of(step.kind)},
                            {"revision", step.revision},
                            {"incident", step.incident},
                            {"reason", step.reason}});
  const auto begin_ns = monotonic_ns();
  const bool is_measurement = step.kind == StepKind::kMeasure;
  ASSAY_RETURN_IF_ERROR(is_measurement ? measure(view, step) : work_on_incident(view, step));
  const auto took_ns = monotonic_ns() - begin_ns;
  all_ns_ += took_ns;
  verification_ns_ += is_measurement ? 0 : took_ns;
  return true;
}

void Watcher::tell(const Incident& incident) {
  parts_.listener.on_event({{"event", "incident"},
                            {"id", incident.id},
                            {"state", name_of(incident.state)},
                            {"title", title_of(incident)},
                            {"good", incident.good},
                            {"bad", incident.bad},
                            {"culprit", incident.culprit},
                            {"attribution", incident.attribution}});
}

Status Watcher::update_incidents(const WatchView& view) {
  const IncidentTools tools{parts_.spec, parts_.store, parts_.runner, parts_.now_unix_ns};
  for (auto& incident : nominate_incidents(view, parts_.spec, parts_.now_unix_ns())) {
    if (incident.state == IncidentState::kConfirmed && !incident.culprit.empty()) {
      ASSAY_RETURN_IF_ERROR(explain_culprit(view, incident, tools));
    }
    ASSAY_RETURN_IF_ERROR(parts_.store.add_incident(incident));
    tell(incident);
  }
  for (const auto& incident : find_stalls(view, parts_.spec, parts_.now_unix_ns())) {
    ASSAY_RETURN_IF_ERROR(parts_.store.add_incident(incident));
    tell(incident);
  }
  auto closed = close_fixed(view, parts_.now_unix_ns());
  std::ranges::move(close_stalls(view, parts_.now_unix_ns()), std::back_inserter(closed));
  for (const auto& incident : closed) {
    ASSAY_RETURN_IF_ERROR(close(incident));
  }
  return {};
}

Status Watcher::close(const Incident& incident) {
  bool is_changed = false;
  const auto change = [&](Incident& stored) {
    is_changed = !is_closed(stored.state);  // Somebody may have accepted it meanwhile.
    if (is_changed) {
      stored.state = is_closed(incident.state) ? incident.state : stored.state;
      stored.attribution.update(incident.attribution);
      stored.changed_unix_ns = incident.changed_unix_ns;
    }
    return is_changed;
  };
  ASSAY_ASSIGN_OR_RETURN(const auto stored, change_stored(parts_.store, incident, change));
  if (is_changed) {
    tell(stored);
  }
  return {};
}

Status Watcher::send_messages(const WatchView& view) {
  auto incidents = view.incidents;
  for (const auto& notification : parts_.spec.notify) {
    for (const auto& message : pending_messages(parts_.spec, notification, incidents)) {
      if (auto sent = deliver(notification, message.document.dump() + "\n"); !sent) {
        log_line(LogLevel::kWarning, sent.error().message);
        continue;
      }
      for (const auto& id : message.ids) {
        auto& incident = *std::ranges::find(incidents, id, &Incident::id);
        const auto state = incident.state;
        const auto note = [&](Incident& stored) {
          note_told(notification, state, stored);
          return true;
        };
        ASSAY_ASSIGN_OR_RETURN(incident, change_stored(parts_.store, incident, note));
      }
    }
  }
  return {};
}

Result<std::optional<RevisionBuild>> Watcher::build_reference(const WatchView& view,
                                                              const Revision& revision) {
  auto unusable = view.failed();
  const auto index = static_cast<std::size_t>(&revision - view.revisions.data());
  while (const auto at = find_reference(policy_, view.revisions, unusable, index)) {
    const auto& reference = view.revisions[*at];
    ASSAY_ASSIGN_OR_RETURN(auto build, parts_.runner.build(reference));
    if (build.outcome == BuildOutcome::kBuilt) {
      return build;
    }
    if (policy_.kind == ReferencePolicy::Kind::kPinned) {
      return fail(ErrorCode::kUnavailable, "the pinned reference cannot be built: " + build.reason +
                                               "; its log: " + build.log);
    }
    unusable.insert(reference.hash);
  }
  return std::optional<RevisionBuild>();
}

Status Watcher::keep_points(const Run& run, const Sitting& sitting) {
  ASSAY_ASSIGN_OR_RETURN(const auto points, points_from_run(parts_.store, run, sitting));
  if (points.empty()) {
    return parts_.store.tag_run(run.id, {{kPointsLabel, kNoPoints}}, {});
  }
  for (const auto& [series, point] : points) {
    ASSAY_RETURN_IF_ERROR(parts_.store.add_points(series, {&point, 1}));
  }
  return {};
}

Status Watcher::recover_points() {
  if (std::exchange(has_recovered_, true)) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto runs,
      parts_.store.list_runs({.limit = 1,
                              .purpose = std::string(kWatchPurpose),
                              .labels = {{"engine", parts_.spec.repository.engine},
                                         {"environment", parts_.environment.name}}}));
  if (runs.empty() || runs.front().run.finished_unix_ns == 0) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto view, read());
  const auto& run = runs.front().run;
  const auto commit = run.labels.find("commit");
  const auto* revision = commit == run.labels.end() ? nullptr : view.find_revision(commit->second);
  const auto build =
      commit == run.labels.end() ? view.builds.end() : view.builds.find(commit->second);
  if (revision == nullptr || build == view.builds.end()) {
    return {};
  }
  Sitting sitting{.revision = *revision, .build = build->second, .reference = {}};
  if (const auto label = run.labels.find("reference"); label != run.labels.end()) {
    const auto reference = view.builds.find(label->second);
    if (reference == view.builds.end()) {
      return {};
    }
    sitting.reference = reference->second;
  }
  return keep_points(run, sitting);
}

Status Watcher::measure_sitting(const Sitting& sitting, int rounds) {
  ASSAY_ASSIGN_OR_RETURN(const auto run, parts_.runner.measure(sitting, kWatchPurpose, rounds));
  ASSAY_RETURN_IF_ERROR(keep_points(run, sitting));
  auto event = event_of("measured", sitting.revision);
  event["run"] = run.id;
  parts_.listener.on_event(event);
  return {};
}

Status Watcher::measure(const WatchView& view, const WatchStep& step) {
  const auto* revision = view.find_revision(step.revision);
  ASSAY_ASSIGN_OR_RETURN(auto build, parts_.runner.build(*revision));
  if (build.outcome == BuildOutcome::kFailed) {
    auto event = event_of("failed", *revision);
    event["reason"] = build.reason;
    event["log"] = build.log;
    parts_.listener.on_event(event);
    return {};
  }
  const bool is_second_look =
      view.measured_once.contains(revision->hash) || view.is_doubtful(revision->hash);
  if (const auto twin = view.find_measured_twin(build); twin && !is_second_look) {
    auto event = event_of("equal", *revision);
    event["same_as"] = *twin;
    parts_.listener.on_event(event);
    return {};
  }
  return measure_build(view, *revision, std::move(build), parts_.spec.policy.rounds);
}

const Revision* Watcher::find_unjoined(const WatchView& view,
                                       const RevisionBuild& reference) const {
  if (view.joined.contains(reference.output_digest)) {
    return nullptr;
  }
  const auto* revision = view.find_revision(reference.revision);
  if (revision == nullptr) {
    return nullptr;
  }
  auto index = static_cast<std::size_t>(revision - view.revisions.data());
  while (const auto before = find_reference(policy_, view.revisions, view.failed(), index)) {
    const auto& hash = view.revisions[index].hash;
    if (view.bytes_of(view.revisions[*before].hash) != view.bytes_of(hash)) {
      return view.pointless.contains(hash) ? nullptr : &view.revisions[index];
    }
    index = *before;
  }
  return nullptr;
}

Status Watcher::measure_build(const WatchView& view, const Revision& revision, RevisionBuild build,
                              int rounds) {
  ASSAY_ASSIGN_OR_RETURN(auto reference, build_reference(view, revision));
  if (reference && policy_.kind == ReferencePolicy::Kind::kWeek) {
    const auto* unjoined = find_unjoined(view, *reference);
    if (unjoined != nullptr && unjoined->hash != revision.hash) {
      ASSAY_ASSIGN_OR_RETURN(auto joining, parts_.runner.build(*unjoined));
      // All points against this reference are as wrong as its own.
      return measure_build(view, *unjoined, std::move(joining),
                           kRoundsOfReference * parts_.spec.policy.rounds);
    }
  }
  return measure_sitting(
      {.revision = revision, .build = std::move(build), .reference = std::move(reference)}, rounds);
}

Status Watcher::work_on_incident(const WatchView& view, const WatchStep& step) {
  const auto found = std::ranges::find(view.incidents, step.incident, &Incident::id);
  const IncidentTools tools{parts_.spec, parts_.store, parts_.runner, parts_.now_unix_ns};
  ASSAY_ASSIGN_OR_RETURN(const auto incident, step.kind == StepKind::kBisect
                                                  ? find_culprit(view, *found, tools)
                                                  : verify_incident(view, *found, tools));
  tell(incident);
  return {};
}

}  // namespace assay::watch
