#pragma once

#include "features/reduce/bundle.h"
#include "features/reduce/failure_groups.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/conformance.h"

namespace assay {

/// Result of reducing one group of failures.
struct ReducedFailure {
  FailureGroup group;
  std::string folder;                     ///< Its bundle, from the index.
  std::optional<ReductionReport> report;  ///< Absent: it was not reduced.
  std::string error;                      ///< Why not.
};

/// The folder of a failure's bundle, below that of the index: "executorch-portable/aten.ceil.…".
std::string folder_of_failure(const ConformResult& result);

/// A failure in one line: the case, how many are alike, and how small it became.
std::string line_of_failure(const ReducedFailure& failure);

/// Counts those that were reduced, confirmed, and shown by a script.
std::string totals_of_failures(const std::vector<ReducedFailure>& failures);

/// Schema assay/reductions/1 of docs/guide/reduce.md.
Json document_of_failures(const std::string& run, const std::vector<ReducedFailure>& failures);

/// Writes failures.json and README.md. Errors: kUnavailable.
Status write_failure_index(const std::filesystem::path& folder, const std::string& run,
                           const std::vector<ReducedFailure>& failures);

}  // namespace assay
