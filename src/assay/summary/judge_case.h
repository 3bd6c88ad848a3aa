#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/summary.h"
#include "assay/summary/case_rows.h"

namespace assay {

/// Demands that a case is judged by, apart from what was measured.
struct CaseDemands {
  Json require = Json::object();         ///< Bounds by metric.
  std::vector<std::string> given_kinds;  ///< CaseRows::given_kinds
  bool has_reference = false;
  bool lacks_comparison = false;  ///< One was asked for, and nothing came of it.
  bool lacks_time = false;        ///< Launches that were to tell one are not there, or have none.
};

CaseDemands demands_of(const CaseRows& rows);

/// Adds the gates and the verdict of a case, all of whose metrics are there. Errors:
/// kInvalidArgument for a gate that cannot be read.
Status judge_case(const CaseDemands& demands, CaseSummary& summary);

}  // namespace assay
