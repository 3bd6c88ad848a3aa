#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/record/incident.h"

namespace assay::watch {

/// A metric of one case that an incident is about.
struct ChangedMetric {
  std::string case_key;
  std::string label;  ///< The label of the case.
  std::string metric;
  double change = 0;  ///< Difference of the offsets.
};

/// All metrics of all cases that the cause changed, the largest change first: under "changes" in
/// the attribution, or else the incident's metric of each of its cases.
std::vector<ChangedMetric> changed_metrics(const Incident& incident);

/// Replaces what changed_metrics() returns.
void put_changed_metrics(const std::vector<ChangedMetric>& changes, Incident& incident);

/// True if the incident is about this metric of this case.
bool is_about(const Incident& incident, std::string_view case_key, std::string_view metric);

/// The cases whose change was taken back, by key, each with the revision that did: under "fixed".
std::map<std::string, std::string> fixed_cases(const Incident& incident);

/// Notes that the revision took the change of the case back. Once no case is left, the incident is
/// fixed by it.
void put_fixed_case(const std::string& case_key, const std::string& revision, Incident& incident);

}  // namespace assay::watch
