#include "features/watch/verified_changes.h"

#include "features/history/verified_change.h"
#include "features/watch/watch_text.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"

namespace assay::watch {
namespace {

std::vector<std::string> details_of(const Incident& incident) {
  const auto& attribution = incident.attribution;
  auto details = lines_of_operators(attribution.value("operators", Json::array()));
  if (const auto files = attribution.value("files", std::vector<std::string>()); !files.empty()) {
    details.push_back(fmt::format("changed {}", fmt::join(files, ", ")));
  }
  if (const auto fix = attribution.value("fixed_by", ""); !fix.empty()) {
    details.push_back("fixed by " + short_hash(fix));
  }
  if (!incident.note.empty()) {
    details.push_back(incident.note);
  }
  return details;
}

std::string with_kind(std::string effect, const Incident& incident) {
  return incident.kind == IncidentKind::kDrift ? "a drift of " + std::move(effect) : effect;
}

history::VerifiedChange change_from(const Incident& incident, const Revision& revision) {
  const auto effect = text_of_effect(incident);
  return {.series = incident.attribution.value("label", ""),
          .metric = incident.metric,
          .machine = incident.machine,
          .state = std::string(name_of(incident.state)),
          .is_worse = incident.attribution.value("is_worse", true),
          .commit = incident.culprit,
          .subject = incident.culprit.empty() ? std::string() : revision.subject,
          .position = revision.position,
          .unix_ns = revision.committed_unix_ns,
          .last_before = incident.good,
          .first_after = incident.bad,
          .effect = with_kind(effect.empty() ? title_of(incident) : effect, incident),
          .details = details_of(incident),
          .command = incident.attribution.value("command", "")};
}

}  // namespace

std::vector<history::VerifiedChange> verified_changes(const std::vector<Incident>& incidents,
                                                      const std::vector<Revision>& revisions) {
  std::vector<history::VerifiedChange> changes;
  for (const auto& incident : incidents) {
    const auto& hash = incident.culprit.empty() ? incident.bad : incident.culprit;
    const auto revision = std::ranges::find(revisions, hash, &Revision::hash);
    if (revision != revisions.end() && !incident.metric.empty()) {
      changes.push_back(change_from(incident, *revision));
    }
  }
  std::ranges::sort(changes, {}, [](const history::VerifiedChange& change) {
    return std::tuple(-change.position, change.series, change.metric, change.effect);
  });
  return changes;
}

}  // namespace assay::watch
