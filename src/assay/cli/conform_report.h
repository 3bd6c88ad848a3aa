#pragma once

#include <vector>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// kNothingMatched when nothing was judged; kFindings when a failure is new, or a listed one
/// passes; else kOk.
ExitCode exit_code_from_conformance(const ConformReport& report);

/// Writes the report to all targets.
Status write_conformance_report(const ReportFlags& flags, const ConformReport& report);

/// Writes how many cases each operator has to all targets.
Status write_coverage_report(const ReportFlags& flags,
                             const std::vector<OperatorCoverage>& coverage);

/// The report of a stored run again. Errors: kNotFound when the run never came to one.
Result<ExitCode> show_stored_conformance(const ReportFlags& flags, ResultStore& store,
                                         const Run& run);

}  // namespace assay::cli
