#include "features/watch/watch_view.h"

#include "features/history/analysis.h"
#include "features/repository/repository_spec.h"
#include "features/watch/alarms.h"
#include "features/watch/next_steps.h"
#include "features/watch/stored_series.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

bool is_confirmed(const Incident& incident) {
  return incident.state == IncidentState::kConfirmed ||
         incident.state == IncidentState::kAcknowledged;
}

bool waits(const Incident& incident, const WatchView& view) {
  if (incident.state == IncidentState::kNominated || incident.state == IncidentState::kVerifying) {
    return view.verifies;
  }
  return view.bisects && is_confirmed(incident) && incident.culprit.empty() &&
         incident.kind == IncidentKind::kStep && !incident.attribution.contains("search");
}

void analyze(WatchView& view) {
  const history::Now now{.position = view.revisions.back().position,
                         .unix_ns = view.revisions.back().committed_unix_ns};
  for (auto& one : view.series) {
    one.analysis = history::analyze_series(one.stored.series, {.min_effect = kDefaultEffect}, now);
  }
}

/// True if a run with these labels has all cases that the view is about.
bool is_whole(const Run& run, const WatchFilter& filter) {
  const auto only = run.labels.find(kOnlyLabel);
  return only == run.labels.end() || only->second == filter.only;
}

Result<std::vector<Run>> runs_with_label(ResultStore& store, const RepositorySpec& spec,
                                         const std::string& environment, const std::string& label,
                                         const std::string& value) {
  ASSAY_ASSIGN_OR_RETURN(const auto listings,
                         store.list_runs({.limit = -1,
                                          .purpose = std::string(kWatchPurpose),
                                          .labels = {{"engine", spec.repository.engine},
                                                     {"environment", environment},
                                                     {label, value}},
                                          .has_details = false}));
  std::vector<Run> runs;
  std::ranges::transform(listings, std::back_inserter(runs), &RunListing::run);
  return runs;
}

/// Revisions that were measured without a point, which no series has.
Status read_pointless(ResultStore& store, const RepositorySpec& spec, WatchView& view,
                      const std::string& environment) {
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         runs_with_label(store, spec, environment, kPointsLabel, kNoPoints));
  for (const auto& run : runs) {
    const auto commit = run.labels.find("commit");
    if (commit != run.labels.end() && is_whole(run, view.filter)) {
      view.pointless.insert(commit->second);
    }
  }
  view.measured.insert(view.pointless.begin(), view.pointless.end());
  return {};
}

/// Runs that lack cases which the view is about: they say nothing of how far the watcher is.
Result<std::set<std::string>> read_partial_runs(ResultStore& store, const RepositorySpec& spec,
                                                const WatchView& view,
                                                const std::string& environment) {
  std::set<std::string> ids;
  if (!view.filter.only.empty()) {
    return ids;  // Their points are of the wanted cases, by whichever run.
  }
  ASSAY_ASSIGN_OR_RETURN(const auto runs,
                         runs_with_label(store, spec, environment, kOnlyLabel, ""));
  std::ranges::transform(runs, std::inserter(ids, ids.end()), &Run::id);
  return ids;
}

/// Which revisions are measured, once or again, and which builds are known together with others.
Status read_looks(ResultStore& store, const std::set<std::string>& partial_runs, WatchView& view) {
  std::set<std::string> known;
  std::ranges::transform(view.revisions, std::inserter(known, known.end()), &Revision::hash);
  std::map<std::string, std::set<std::string>> runs;
  for (const auto& one : view.series) {
    ASSAY_ASSIGN_OR_RETURN(const auto points, store.points_of(one.stored.measured));
    const bool has_noise = !one.stored.series.is_exact();
    for (const auto& point : points) {
      view.newest_unix_ns = std::max(view.newest_unix_ns, point.measured_unix_ns);
      if (!known.contains(point.revision) && point.position >= view.revisions.front().position) {
        view.replaced.insert(point.revision);
      }
      if (known.contains(point.revision) && !partial_runs.contains(point.run)) {
        view.measured.insert(point.revision);
      }
      if (has_noise && !point.reference.empty()) {
        runs[point.revision].insert(point.run);
      }
      const auto bytes = view.bytes_of(point.revision);
      if (!point.reference.empty() && view.bytes_of(point.reference) != bytes) {
        view.joined.insert(bytes);
      }
    }
  }
  for (const auto& [revision, of_revision] : runs) {
    if (of_revision.size() == 1) {
      view.measured_once.insert(revision);
    }
  }
  return {};
}

/// Runs of builds with the same bytes.
struct Looks {
  std::size_t runs = 0;
  std::string revision;  ///< The first that has them and may be measured again; may be empty.
};

/// The looks at all measured revisions, by their bytes, from one query.
Result<std::map<std::string, Looks>> count_looks(ResultStore& store, const RepositorySpec& spec,
                                                 const std::string& environment,
                                                 const WatchView& view) {
  ASSAY_ASSIGN_OR_RETURN(const auto runs, runs_with_label(store, spec, environment, "commit", ""));
  std::map<std::string, std::size_t> of_revision;
  for (const auto& run : runs) {
    if (run.finished_unix_ns != 0 && is_whole(run, view.filter)) {
      ++of_revision[run.labels.at("commit")];
    }
  }
  std::map<std::string, Looks> looks;
  for (const auto& revision : view.revisions) {
    if (!view.measured.contains(revision.hash)) {
      continue;
    }
    auto& of_bytes = looks[view.bytes_of(revision.hash)];
    of_bytes.runs += of_revision[revision.hash];
    if (of_bytes.revision.empty() && revision.position > view.filter.since_position) {
      of_bytes.revision = revision.hash;
    }
  }
  return looks;
}

/// A case may fail by chance, and outputs may differ from one execution to the next: both ends of
/// such a change are measured twice before it is believed.
Status find_doubtful(ResultStore& store, const RepositorySpec& spec, const std::string& environment,
                     WatchView& view) {
  std::set<std::string> ends;
  for (const auto& one : view.series) {
    const auto nature = nature_of(one);
    if (nature != MetricNature::kFailure && nature != MetricNature::kAccuracy) {
      continue;
    }
    for (const auto& alarm : alarms_of_neighbors(one, view)) {
      ends.insert({view.bytes_of(alarm.good), view.bytes_of(alarm.bad)});
    }
  }
  if (ends.empty()) {
    return {};
  }
  ASSAY_ASSIGN_OR_RETURN(auto looks, count_looks(store, spec, environment, view));
  for (const auto& bytes : ends) {
    if (const auto& seen = looks[bytes]; seen.runs <= 1 && !seen.revision.empty()) {
      view.doubtful.emplace(bytes, seen.revision);
    }
  }
  return {};
}

/// True if an incident is about a case of the view. Those without cases are about the builds.
bool is_wanted_incident(const Incident& incident, const WatchView& view) {
  return view.filter.only.empty() || incident.cases.empty() ||
         std::ranges::any_of(view.series, [&incident](const AnalyzedSeries& one) {
           return std::ranges::find(incident.cases, one.stored.measured.case_key) !=
                  incident.cases.end();
         });
}

}  // namespace

void WatchView::make_index() {
  for (std::size_t i = 0; i < revisions.size(); ++i) {
    places.emplace(revisions[i].hash, i);
  }
  for (const auto& [hash, build] : builds) {
    if (!build.output_digest.empty() && measured.contains(hash)) {
      twins.emplace(build.output_digest, hash);
    }
  }
}

bool WatchView::is_doubtful(const Alarm& alarm) const {
  const bool can_be =
      alarm.nature == MetricNature::kFailure || alarm.nature == MetricNature::kAccuracy;
  return can_be &&
         (doubtful.contains(bytes_of(alarm.good)) || doubtful.contains(bytes_of(alarm.bad)));
}

bool WatchView::is_doubtful(const std::string& hash) const {
  const auto found = doubtful.find(bytes_of(hash));
  return found != doubtful.end() && found->second == hash;
}

const Revision* WatchView::find_revision(const std::string& hash) const {
  if (!places.empty()) {
    const auto place = places.find(hash);
    return place == places.end() ? nullptr : &revisions[place->second];
  }
  const auto found = std::ranges::find(revisions, hash, &Revision::hash);
  return found == revisions.end() ? nullptr : &*found;
}

const Revision* WatchView::find_parent(const Revision& revision) const {
  const auto* parent = revision.parents.empty() ? nullptr : find_revision(revision.parents.front());
  if (parent != nullptr) {
    return parent;
  }
  const auto at = std::ranges::find(revisions, revision.hash, &Revision::hash);
  return at == revisions.end() || at == revisions.begin() ? nullptr : &*std::prev(at);
}

bool WatchView::has_failed(const std::string& hash) const {
  const auto build = builds.find(hash);
  return build != builds.end() && build->second.outcome == BuildOutcome::kFailed;
}

std::set<std::string> WatchView::failed() const {
  std::set<std::string> hashes;
  for (const auto& [hash, build] : builds) {
    if (build.outcome == BuildOutcome::kFailed) {
      hashes.insert(hash);
    }
  }
  return hashes;
}

std::string WatchView::bytes_of(const std::string& hash) const {
  const auto build = builds.find(hash);
  return build == builds.end() || build->second.output_digest.empty() ? hash
                                                                      : build->second.output_digest;
}

std::optional<std::string> WatchView::find_measured_twin(const RevisionBuild& build) const {
  if (build.output_digest.empty()) {
    return {};
  }
  if (!places.empty()) {
    const auto twin = twins.find(build.output_digest);
    return twin == twins.end() ? std::nullopt : std::optional(twin->second);
  }
  for (const auto& [hash, other] : builds) {
    if (other.output_digest == build.output_digest && measured.contains(hash)) {
      return hash;
    }
  }
  return {};
}

Progress WatchView::progress_of(const Revision& revision) const {
  if (measured.contains(revision.hash)) {
    return Progress::kMeasured;
  }
  const auto build = builds.find(revision.hash);
  if (build == builds.end()) {
    return Progress::kOpen;
  }
  if (build->second.outcome == BuildOutcome::kFailed) {
    return Progress::kFailed;
  }
  return find_measured_twin(build->second) ? Progress::kMeasured : Progress::kOpen;
}

bool WatchView::has_open_between(std::int64_t low, std::int64_t high) const {
  return std::ranges::any_of(revisions, [&](const Revision& revision) {
    return low < revision.position && revision.position < high &&
           progress_of(revision) == Progress::kOpen;
  });
}

std::optional<KnownRange> WatchView::range_of(const Incident& incident) const {
  if (!incident.culprit.empty()) {
    const auto* culprit = find_revision(incident.culprit);
    return culprit == nullptr
               ? std::nullopt
               : std::optional(KnownRange{&incident, culprit->position - 1, culprit->position});
  }
  const auto* good = find_revision(incident.good);
  const auto* bad = find_revision(incident.bad);
  if (good == nullptr || bad == nullptr) {
    return {};
  }
  return KnownRange{&incident, good->position, bad->position};
}

WatchState WatchView::state(double verification_share) const {
  WatchState state{.verification_share = verification_share};
  for (const auto& revision : revisions) {
    if (revision.position <= filter.since_position) {
      continue;
    }
    state.revisions.push_back({.hash = revision.hash,
                               .position = revision.position,
                               .progress = progress_of(revision),
                               .needs_second_look = measured_once.contains(revision.hash),
                               .is_doubtful = is_doubtful(revision.hash)});
  }
  for (const auto& incident : incidents) {
    const auto range = range_of(incident);
    if (waits(incident, *this) && range && range->first_after > filter.since_position) {
      state.incidents.push_back({.id = incident.id,
                                 .reason = title_of(incident),
                                 .is_confirmed = is_confirmed(incident)});
    }
  }
  state.suspicions = suspicions_of(*this);
  return state;
}

Result<WatchView> read_view(ResultStore& store, const RepositorySpec& spec,
                            const BuildEnvironment& environment, std::vector<Revision> revisions,
                            WatchFilter filter) {
  WatchView view{.verifies = spec.policy.verifies,
                 .bisects = spec.policy.bisects,
                 .filter = std::move(filter),
                 .noun = std::string(noun_of_revisions(spec)),
                 .revisions = std::move(revisions)};
  std::ranges::reverse(view.revisions);
  if (view.revisions.empty()) {
    return fail(ErrorCode::kNotFound, spec.origin + ": the branch has no commit");
  }
  const auto repository = spec.repository.id();
  ASSAY_ASSIGN_OR_RETURN(const auto builds, store.engine_builds_of(repository));
  for (const auto& build : builds) {
    if (build.environment == environment.name) {
      view.builds.try_emplace(build.revision, build);  // The last built comes first.
      view.newest_unix_ns = std::max(view.newest_unix_ns, build.built_unix_ns);
    }
  }
  ASSAY_ASSIGN_OR_RETURN(auto series,
                         read_series(store, repository, view.revisions,
                                     {.only = view.filter.only, .environment = environment.name},
                                     spec.policy.min_effect_ratio));
  for (auto& one : series) {
    view.series.push_back({.stored = std::move(one), .analysis = {}});
  }
  analyze(view);
  ASSAY_RETURN_IF_ERROR(read_pointless(store, spec, view, environment.name));
  ASSAY_ASSIGN_OR_RETURN(const auto partial,
                         read_partial_runs(store, spec, view, environment.name));
  ASSAY_RETURN_IF_ERROR(read_looks(store, partial, view));
  view.make_index();
  ASSAY_RETURN_IF_ERROR(find_doubtful(store, spec, environment.name, view));
  ASSAY_ASSIGN_OR_RETURN(view.incidents, store.incidents_of(repository));
  std::erase_if(view.incidents, [&](const Incident& incident) {
    return incident.environment != environment.name || !is_wanted_incident(incident, view);
  });
  return view;
}

std::string title_of(const Incident& incident) {
  return incident.attribution.value("title", incident.metric);
}

}  // namespace assay::watch
