#pragma once

#include "features/conform/conform_case.h"
#include "features/reduce/failure_index.h"
#include "features/reduce/reduce_one.h"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/conformance.h"

namespace assay {

/// Which failures of a run of assay conform are reduced, and how.
struct ReduceRunRequest {
  CaseSelection selection;           ///< Cases that the run selected from.
  std::vector<std::string> recipes;  ///< Empty: all.
  std::vector<std::string> match;    ///< Patterns of operators or cases; empty: all.
  std::filesystem::path bundle;      ///< Gets the index and a folder for each failure.
  int parallel_jobs = 2;             ///< Jobs of the toolchain at a time.
  /// How one failure is reduced; its bundle is in the folder.
  std::function<Result<ReduceOneRequest>(const ConformResult&, const std::filesystem::path& folder)>
      plan;
  std::function<bool()> is_interrupted = [] { return false; };
  /// "3/7 …", after each failure.
  std::function<void(std::string_view)> on_reduced = [](std::string_view) {};
};

/// Reduces the smallest case of each group of failures in the report, one after the other, each
/// with a folder and a replay file of its own below the bundle; the index there is written after
/// each. Ends with what was done so far when it is interrupted. The failures refer to the report.
/// Errors: those of list_cases(); kUnavailable (a folder).
Result<std::vector<ReducedFailure>> reduce_run(const ConformReport& report,
                                               const ReduceRunRequest& request,
                                               const CampaignTools& tools);

}  // namespace assay
