#include "features/watch/stalls.h"

#include "features/repository/repository_spec.h"
#include "features/watch/next_steps.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/uuid.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/record/revision_build.h"

namespace assay::watch {
namespace {

Incident stall_of(IncidentKind kind, const WatchView& view, const RepositorySpec& spec,
                  std::int64_t now_unix_ns) {
  return {.id = make_uuid7(),
          .repository = spec.repository.id(),
          .environment = view.builds.begin()->second.environment,
          .kind = kind,
          .opened_unix_ns = now_unix_ns,
          .state = IncidentState::kConfirmed,
          .attribution = {{"is_worse", true}},
          .changed_unix_ns = now_unix_ns};
}

bool is_built(const WatchView& view, const Revision& revision) {
  const auto build = view.builds.find(revision.hash);
  return build != view.builds.end() && build->second.outcome == BuildOutcome::kBuilt;
}

bool is_open_stall(const Incident& incident, IncidentKind kind) {
  return incident.kind == kind && !is_closed(incident.state);
}

/// True if a broken build that begins with `first` was told of. `is_cut`: it may have begun before
/// the horizon does.
bool is_known_break(const WatchView& view, const Revision& first, bool is_cut) {
  return std::ranges::any_of(view.incidents, [&](const Incident& incident) {
    if (incident.kind != IncidentKind::kBrokenBuild) {
      return false;
    }
    const bool is_this =
        incident.bad == first.hash || (is_cut && incident.state == IncidentState::kAccepted &&
                                       view.find_revision(incident.bad) == nullptr);
    return is_this || !is_closed(incident.state);
  });
}

std::optional<Incident> find_broken_build(const WatchView& view, const RepositorySpec& spec,
                                          std::int64_t now_unix_ns) {
  auto first = view.revisions.size();
  while (first > 0 && view.has_failed(view.revisions[first - 1].hash)) {
    --first;
  }
  const auto count = static_cast<int>(view.revisions.size() - first);
  const bool is_cut = first == 0;
  const bool is_enough = spec.policy.broken_commits > 0 && count >= spec.policy.broken_commits;
  if (!is_enough || (!is_cut && !is_built(view, view.revisions[first - 1])) ||
      is_known_break(view, view.revisions[first], is_cut)) {
    return {};
  }
  const auto& bad = view.revisions[first];
  const auto& build = view.builds.at(bad.hash);
  auto incident = stall_of(IncidentKind::kBrokenBuild, view, spec, now_unix_ns);
  incident.metric = "build";
  incident.bad = bad.hash;
  if (!is_cut) {
    incident.good = view.revisions[first - 1].hash;
    incident.culprit = bad.hash;
  }
  incident.attribution.update({{"title", "broken build: " + build.reason},
                               {"subject", bad.subject},
                               {"author", bad.author},
                               {"log", build.log}});
  return incident;
}

/// Index of the last revision with a point of each case, by its key.
std::map<std::string, std::size_t> last_points(const WatchView& view) {
  std::map<std::string, std::set<std::string>> bytes_of_case;
  for (const auto& one : view.series) {
    auto& bytes = bytes_of_case[one.stored.measured.case_key];
    for (const auto& point : one.stored.series.points) {
      bytes.insert(view.bytes_of(point.commit));
    }
  }
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < view.revisions.size(); ++i) {
    const auto bytes = view.bytes_of(view.revisions[i].hash);
    for (const auto& [key, of_case] : bytes_of_case) {
      if (of_case.contains(bytes)) {
        last[key] = i;
      }
    }
  }
  return last;
}

std::string label_of_case(const WatchView& view, const std::string& key) {
  const auto found = std::ranges::find_if(
      view.series, [&key](const auto& one) { return one.stored.measured.case_key == key; });
  return found == view.series.end() ? key : found->stored.measured.label;
}

bool is_known_silence(const WatchView& view, const std::string& key, const std::string& good) {
  return std::ranges::any_of(view.incidents, [&](const Incident& incident) {
    const bool is_about_it = incident.kind == IncidentKind::kSilence &&
                             std::ranges::find(incident.cases, key) != incident.cases.end();
    return is_about_it && (incident.good == good || !is_closed(incident.state));
  });
}

bool is_silent(const Revision& last, const Revision& newest, const WatchPolicy& policy) {
  const auto commits = newest.position - last.position;
  const auto time_ns = newest.committed_unix_ns - last.committed_unix_ns;
  return (policy.silent_commits > 0 && commits >= policy.silent_commits) ||
         (policy.silent_ns > 0 && commits > 0 && time_ns >= policy.silent_ns);
}

std::vector<std::size_t> looked_at(const WatchView& view) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < view.revisions.size(); ++i) {
    if (view.progress_of(view.revisions[i]) == Progress::kMeasured) {
      indices.push_back(i);
    }
  }
  return indices;
}

std::string title_of_silence(const WatchView& view, const std::vector<std::string>& cases) {
  const auto more = cases.size() - 1;
  return fmt::format("no point of {}{}", label_of_case(view, cases.front()),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

std::vector<Incident> find_silences(const WatchView& view, const RepositorySpec& spec,
                                    std::int64_t now_unix_ns) {
  const auto seen = looked_at(view);
  if (seen.empty()) {
    return {};
  }
  std::map<std::size_t, std::vector<std::string>> silent;
  for (const auto& [key, last] : last_points(view)) {
    const auto& revision = view.revisions[last];
    if (is_silent(revision, view.revisions[seen.back()], spec.policy) &&
        !is_known_silence(view, key, revision.hash)) {
      silent[last].push_back(key);
    }
  }
  std::vector<Incident> incidents;
  for (const auto& [last, cases] : silent) {
    auto& incident =
        incidents.emplace_back(stall_of(IncidentKind::kSilence, view, spec, now_unix_ns));
    incident.metric = "points";
    incident.cases = cases;
    incident.good = view.revisions[last].hash;
    incident.bad = view.revisions[*std::ranges::upper_bound(seen, last)].hash;
    incident.attribution["title"] = title_of_silence(view, cases);
  }
  return incidents;
}

/// The first commit of or after a broken build that can be built.
const Revision* find_mend(const WatchView& view, const Incident& incident) {
  const auto* bad = view.find_revision(incident.bad);
  const auto found = std::ranges::find_if(view.revisions, [&](const Revision& revision) {
    return (bad == nullptr || revision.position >= bad->position) && is_built(view, revision);
  });
  return found == view.revisions.end() ? nullptr : &*found;
}

/// The commit by which all cases of a silence have a point again.
const Revision* find_voice(const WatchView& view, const Incident& incident,
                           const std::map<std::string, std::size_t>& last) {
  const auto* good = view.find_revision(incident.good);
  const Revision* latest = nullptr;
  for (const auto& key : incident.cases) {
    const auto found = last.find(key);
    const auto* revision = found == last.end() ? nullptr : &view.revisions[found->second];
    if (revision == nullptr || (good != nullptr && revision->position <= good->position)) {
      return nullptr;
    }
    latest = latest == nullptr || latest->position < revision->position ? revision : latest;
  }
  return latest;
}

}  // namespace

std::vector<Incident> find_stalls(const WatchView& view, const RepositorySpec& spec,
                                  std::int64_t now_unix_ns) {
  std::vector<Incident> incidents;
  if (auto broken = find_broken_build(view, spec, now_unix_ns)) {
    incidents.push_back(*std::move(broken));
  }
  std::ranges::move(find_silences(view, spec, now_unix_ns), std::back_inserter(incidents));
  return incidents;
}

std::vector<Incident> close_stalls(const WatchView& view, std::int64_t now_unix_ns) {
  const auto last = last_points(view);
  std::vector<Incident> closed;
  for (const auto& incident : view.incidents) {
    const Revision* mend = nullptr;
    if (is_open_stall(incident, IncidentKind::kBrokenBuild)) {
      mend = find_mend(view, incident);
    } else if (is_open_stall(incident, IncidentKind::kSilence)) {
      mend = find_voice(view, incident, last);
    }
    if (mend != nullptr) {
      auto& next = closed.emplace_back(incident);
      next.state = IncidentState::kFixed;
      next.attribution["fixed_by"] = mend->hash;
      next.changed_unix_ns = now_unix_ns;
    }
  }
  return closed;
}

}  // namespace assay::watch
