#include "features/watch/find_culprit.h"

#include "features/compare/bisection_evidence.h"
#include "features/compare/verdict.h"
#include "features/repository/repository_spec.h"
#include "features/watch/culprit_search.h"
#include "features/watch/incident_by_hand.h"
#include "features/watch/revision_runner.h"
#include "features/watch/run_points.h"
#include "features/watch/verify.h"
#include "features/watch/watch_view.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <expected>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/comparison.h"
#include "assay/record/incident.h"
#include "assay/record/revision_build.h"
#include "assay/store/result_store.h"

namespace assay::watch {
namespace {

/// Comparisons of suspects until one convicts.
constexpr int kMostSandwiches = 3;
/// The least part of the change that is searched for when a culprit leaves it.
constexpr double kLeastRest = 0.25;

/// Two differences of outputs may cancel out or hide each other.
bool has_additive_changes(const std::string& metric) { return metric != kOutputsMetric; }

/// A revision that made a part of the change.
struct Culprit {
  std::string revision;
  double change = 0;
  std::string comparison;
};

/// All that the searches for one incident found.
struct Findings {
  std::vector<Culprit> culprits;
  std::deque<Incident> open;  ///< Parts of the range that are still to be searched.
  double change = 0;          ///< Between the ends.
  int pairs = 0;
  Json search;  ///< How the first search ended.
};

bool is_exact(const Incident& incident) { return incident.attribution.value("is_exact", false); }

/// The part of the change that the culprit leaves, and the least that is searched for.
std::vector<BisectionRange> open_ranges(const CulpritSearch& search, const Conviction& conviction,
                                        const Incident& incident, const RepositorySpec& spec) {
  const auto suspects = search.suspects();
  const bool adds_up = has_additive_changes(incident.metric);
  const double rest =
      adds_up ? search.change() - conviction.change : std::numeric_limits<double>::infinity();
  const double matters = min_effect_of(spec, incident.metric);
  const double least = is_exact(incident)
                           ? std::numeric_limits<double>::min()
                           : std::max(has_log_offsets(incident) ? std::log1p(matters) : matters,
                                      kLeastRest * std::abs(search.change()));
  return remaining_ranges(search.size(), suspects.first, suspects.last, rest, least);
}

/// Notes convicted suspects, and what remains on both sides of them.
void note_conviction(const CulpritSearch& search, const Conviction& conviction,
                     const Incident& incident, const RepositorySpec& spec, Findings& findings) {
  const auto suspects = search.suspects();
  if (suspects.first != suspects.last) {
    return;
  }
  findings.culprits.push_back({.revision = search.candidate(suspects.first).hash,
                               .change = conviction.change,
                               .comparison = conviction.comparison});
  if (conviction.change == 0) {
    return;
  }
  for (const auto& range : open_ranges(search, conviction, incident, spec)) {
    if (auto part = search.part(range)) {
      findings.open.push_back(*std::move(part));
    }
  }
}

Json describe_search(const CulpritSearch& search, bool is_convicted) {
  const auto suspects = search.suspects();
  Json names = Json::array();
  for (auto i = suspects.first; i <= suspects.last; ++i) {
    names.push_back(search.candidate(i).hash);
  }
  return {{"pairs", search.pairs()},
          {"probability", suspects.probability},
          {"suspects", names},
          {"is_convicted", is_convicted}};
}

/// Searches for one culprit between the ends of `about`.
Status search_part(const WatchView& view, const Incident& about, const IncidentTools& tools,
                   const SearchPlan& plan, Findings& findings, Incident& incident) {
  const bool is_first = findings.search.is_null();
  CulpritSearch search(view, about, tools, plan);
  ASSAY_RETURN_IF_ERROR(search.prepare());
  if (is_first) {
    findings.search = {{"reason", search.reason()}};
    findings.change = search.change();
    if (search.can_search() && plan.tell) {
      plan.tell(search.forecast());
    }
  }
  for (int i = 0; search.can_search() && i < kMostSandwiches; ++i) {
    ASSAY_RETURN_IF_ERROR(search.search());
    ASSAY_ASSIGN_OR_RETURN(const auto conviction, search.convict());
    if (!conviction.comparison.empty()) {
      incident.comparisons.push_back(conviction.comparison);
    }
    if (is_first) {
      findings.search = describe_search(search, conviction.is_convicted);
    }
    if (conviction.is_convicted) {
      note_conviction(search, conviction, about, tools.spec, findings);
    }
    if (conviction.is_convicted || !search.has_pairs_left()) {
      break;
    }
  }
  findings.pairs += search.pairs();
  return {};
}

/// True if a part of the range has a change of its own; nullopt: the pairs cannot tell. One launch
/// tells of an exact metric, and the search makes it.
Result<std::optional<bool>> has_change(const WatchView& view, const Incident& part,
                                       const IncidentTools& tools, Incident& incident) {
  if (is_exact(part)) {
    return true;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto a, tools.runner.build(*view.find_revision(part.good)));
  ASSAY_ASSIGN_OR_RETURN(const auto b, tools.runner.build(*view.find_revision(part.bad)));
  if (a.outcome == BuildOutcome::kFailed || b.outcome == BuildOutcome::kFailed) {
    return false;
  }
  ASSAY_ASSIGN_OR_RETURN(
      const auto comparison,
      compare_until_decided(
          {.a = a, .b = b, .case_key = part.cases.front(), .incident = part.id, .attempt = "part"},
          tools, incident));
  if (comparison.verdict == ComparisonVerdict::kInconclusive) {
    return std::nullopt;
  }
  return is_change(comparison.verdict);
}

/// Describes one of several culprits as the incident would, were it alone.
Result<Json> describe_culprit(const WatchView& view, const Culprit& culprit,
                              const Incident& incident, const Findings& findings,
                              const IncidentTools& tools) {
  auto alone = incident;
  alone.culprit = culprit.revision;
  alone.attribution = {{"unit", incident.attribution.value("unit", "")}};
  ASSAY_RETURN_IF_ERROR(explain_culprit(view, alone, tools));
  Json described = std::move(alone.attribution);
  described["revision"] = culprit.revision;
  described["change"] = culprit.change;
  if (findings.change != 0 && has_additive_changes(incident.metric)) {
    described["share"] = culprit.change / findings.change;
  }
  return described;
}

/// The largest change names the incident; all of them are described where there are several.
Status note_culprits(const WatchView& view, Findings& findings, const IncidentTools& tools,
                     Incident& incident) {
  std::ranges::sort(findings.culprits, std::ranges::greater{},
                    [](const Culprit& culprit) { return std::abs(culprit.change); });
  incident.culprit = findings.culprits.front().revision;
  if (findings.culprits.size() == 1) {
    return explain_culprit(view, incident, tools);
  }
  Json described = Json::array();
  for (const auto& culprit : findings.culprits) {
    ASSAY_ASSIGN_OR_RETURN(auto one, describe_culprit(view, culprit, incident, findings, tools));
    described.push_back(std::move(one));
  }
  auto first = described.front();
  for (const char* key : {"revision", "change", "share"}) {
    first.erase(key);
  }
  incident.attribution.update(first);
  incident.attribution["culprits"] = std::move(described);
  return {};
}

/// Searches the range of the incident, and then the parts of it that a culprit leaves open.
Status search_all(const WatchView& view, const IncidentTools& tools, const SearchPlan& plan,
                  Findings& findings, Incident& incident) {
  ASSAY_RETURN_IF_ERROR(search_part(view, Incident(incident), tools, plan, findings, incident));
  while (!findings.open.empty() && findings.pairs < plan.most_pairs &&
         std::cmp_less(findings.culprits.size(), plan.most_culprits)) {
    const auto part = std::move(findings.open.front());
    findings.open.pop_front();
    ASSAY_ASSIGN_OR_RETURN(const auto has_own, has_change(view, part, tools, incident));
    if (!has_own) {
      findings.search["undecided"].push_back({{"good", part.good}, {"bad", part.bad}});
    }
    if (has_own.value_or(false)) {
      auto rest = plan;
      rest.most_pairs = plan.most_pairs - findings.pairs;
      ASSAY_RETURN_IF_ERROR(search_part(view, part, tools, rest, findings, incident));
    }
  }
  return {};
}

}  // namespace

Result<Incident> find_culprit(const WatchView& view, Incident incident, const IncidentTools& tools,
                              const SearchPlan& plan) {
  const auto known = incident;
  Findings findings;
  if (auto searched = search_all(view, tools, plan, findings, incident); !searched) {
    if (searched.error().code != ErrorCode::kUnsupported) {
      return std::unexpected(searched.error());
    }
    findings.search = {{"reason", searched.error().message}};
  }
  findings.search["pairs"] = findings.pairs;
  incident.attribution["search"] = std::move(findings.search);
  if (!findings.culprits.empty()) {
    ASSAY_RETURN_IF_ERROR(note_culprits(view, findings, tools, incident));
  }
  incident.changed_unix_ns = std::max(incident.changed_unix_ns, tools.now_unix_ns());
  return store_outcome(tools.store, known, std::move(incident));
}

}  // namespace assay::watch
