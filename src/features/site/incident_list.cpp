#include "features/site/incident_list.h"

#include "features/site/markup.h"
#include "features/site/page_parts.h"
#include "features/site/run_index.h"
#include "features/watch/watch_text.h"

#include <algorithm>
#include <cstddef>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/result.h"
#include "assay/record/incident.h"
#include "assay/record/repository.h"
#include "assay/store/result_store.h"

namespace assay::site {
namespace {

Result<Markup> cases_of(RunIndex& index, const Incident& incident, const std::string& root) {
  if (incident.cases.empty()) {
    return Markup();
  }
  ASSAY_ASSIGN_OR_RETURN(const auto results,
                         index.results_of_case(incident.cases.front(), /*limit=*/1));
  const auto label =
      incident.attribution.is_object() ? incident.attribution.value("label", "") : "";
  auto first = !results.empty() ? case_link(root, results.front().summary)
                                : text(label.empty() ? short_hash(incident.cases.front()) : label);
  const auto more = incident.cases.size() - 1;
  return more == 0
             ? first
             : first + element("span", {{"class", "detail"}}, fmt::format("and {} more", more));
}

Result<std::string> newest_run(RunIndex& index, const Incident& incident) {
  for (const auto& comparison : incident.comparisons | std::views::reverse) {
    ASSAY_ASSIGN_OR_RETURN(auto run, index.run_of_comparison(comparison));
    if (!run.empty()) {
      return run;
    }
  }
  return std::string();
}

std::string what_of(const Incident& incident) {
  std::string kind(name_of(incident.kind));
  std::ranges::replace(kind, '_', ' ');
  return incident.metric.empty() ? kind : kind + " of " + incident.metric;
}

/// Titles of the commits that caused incidents. A repository may have very many others, so they are
/// read only where one is known.
Result<std::map<std::string, std::string>> subjects_of(ResultStore& store,
                                                       const Repository& repository,
                                                       const std::vector<Incident>& incidents) {
  std::map<std::string, std::string> subjects;
  for (const auto& incident : incidents) {
    if (!incident.culprit.empty()) {
      subjects[incident.culprit];
    }
  }
  if (subjects.empty()) {
    return subjects;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto revisions, store.revisions_of(repository.id()));
  for (const auto& revision : revisions) {
    if (const auto found = subjects.find(revision.hash); found != subjects.end()) {
      found->second = revision.subject;
    }
  }
  return subjects;
}

}  // namespace

Result<IncidentList> incidents_of(ResultStore& store, RunIndex& index, const Repository& repository,
                                  const std::string& root, IncidentScope scope, std::size_t most) {
  ASSAY_ASSIGN_OR_RETURN(auto incidents, store.incidents_of(repository.id()));
  const auto is_open = [](const Incident& incident) { return !is_closed(incident.state); };
  IncidentList list{.all = incidents.size(),
                    .open = static_cast<std::size_t>(std::ranges::count_if(incidents, is_open))};
  if (scope == IncidentScope::kOpen) {
    std::erase_if(incidents, std::not_fn(is_open));
  }
  std::ranges::sort(incidents, std::ranges::greater{}, &Incident::opened_unix_ns);
  incidents.resize(std::min(incidents.size(), most));
  ASSAY_ASSIGN_OR_RETURN(const auto subjects, subjects_of(store, repository, incidents));
  for (auto& incident : incidents) {
    ASSAY_ASSIGN_OR_RETURN(auto cases, cases_of(index, incident, root));
    ASSAY_ASSIGN_OR_RETURN(auto run, newest_run(index, incident));
    const auto subject = subjects.find(incident.culprit);
    list.rows.push_back({.incident = incident,
                         .what = what_of(incident),
                         .effect = watch::text_of_effect(incident),
                         .subject = subject == subjects.end() ? std::string() : subject->second,
                         .cases = std::move(cases),
                         .run = std::move(run)});
  }
  return list;
}

std::string short_name_of_url(const std::string& url) {
  auto path = url.substr(0, url.find_last_not_of('/') + 1);
  if (path.ends_with(".git")) {
    path.resize(path.size() - 4);
  }
  const auto name = path.substr(path.find_last_of("/:") + 1);
  return name.empty() ? url : name;
}

}  // namespace assay::site
