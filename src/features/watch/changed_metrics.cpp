#include "features/watch/changed_metrics.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/incident.h"

namespace assay::watch {
namespace {

constexpr const char* kChanges = "changes";
constexpr const char* kFixed = "fixed";
constexpr const char* kFixedBy = "fixed_by";

}  // namespace

std::vector<ChangedMetric> changed_metrics(const Incident& incident) {
  std::vector<ChangedMetric> changes;
  for (const auto& row : incident.attribution.value(kChanges, Json::array())) {
    changes.push_back({.case_key = row.value("case", ""),
                       .label = row.value("label", ""),
                       .metric = row.value("metric", ""),
                       .change = row.value("change", 0.0)});
  }
  if (!changes.empty()) {
    return changes;
  }
  for (const auto& key : incident.cases) {
    changes.push_back({.case_key = key,
                       .label = incident.attribution.value("label", ""),
                       .metric = incident.metric,
                       .change = incident.attribution.value("change", 0.0)});
  }
  return changes;
}

void put_changed_metrics(const std::vector<ChangedMetric>& changes, Incident& incident) {
  auto& rows = incident.attribution[kChanges] = Json::array();
  for (const auto& one : changes) {
    rows.push_back({{"case", one.case_key},
                    {"label", one.label},
                    {"metric", one.metric},
                    {"change", one.change}});
  }
}

bool is_about(const Incident& incident, std::string_view case_key, std::string_view metric) {
  // The cases are those of the changes, and cheaper to look at.
  if (std::ranges::find(incident.cases, case_key) == incident.cases.end()) {
    return false;
  }
  return std::ranges::any_of(changed_metrics(incident), [&](const ChangedMetric& one) {
    return one.case_key == case_key && one.metric == metric;
  });
}

std::map<std::string, std::string> fixed_cases(const Incident& incident) {
  return incident.attribution.value(kFixed, std::map<std::string, std::string>());
}

void put_fixed_case(const std::string& case_key, const std::string& revision, Incident& incident) {
  incident.attribution[kFixed][case_key] = revision;
  const auto fixed = fixed_cases(incident);
  if (std::ranges::all_of(incident.cases,
                          [&](const std::string& key) { return fixed.contains(key); })) {
    incident.state = IncidentState::kFixed;
    incident.attribution[kFixedBy] = revision;
  }
}

}  // namespace assay::watch
