#include "assay/cli/conform_report.h"

#include "features/conform/conform.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/cli/common_flags.h"
#include "assay/cli/exit_code.h"
#include "assay/record/conformance.h"
#include "assay/record/run.h"
#include "assay/report/conformance.h"
#include "assay/report/coverage.h"
#include "assay/report/writer.h"
#include "assay/store/result_store.h"
#include "assay/store/stored_conformance.h"

namespace assay::cli {

ExitCode exit_code_from_conformance(const ConformReport& report) {
  const auto is_finding = [](const ConformResult& result) {
    return result.known == KnownGap::kNewFailure || result.known == KnownGap::kUnexpectedPass;
  };
  const auto is_judged = [](const ConformResult& result) {
    return result.verdict != ConformVerdict::kNotRun;
  };
  const auto is_unavailable = [](const ConformResult& result) {
    return result.reason_code == kRecipeUnavailable;
  };
  if (std::ranges::any_of(report.results, is_finding) || !report.stale.empty()) {
    return ExitCode::kFindings;
  }
  if (std::ranges::any_of(report.results, is_unavailable)) {
    return ExitCode::kUnavailable;
  }
  return std::ranges::any_of(report.results, is_judged) ? ExitCode::kOk : ExitCode::kNothingMatched;
}

Status write_conformance_report(const ReportFlags& flags, const ConformReport& report) {
  return flags.write(
      [&report](std::string_view format, const ReportStyle& style, std::ostream& target) {
        return write_conformance(format, report, style, target);
      },
      {});
}

Status write_coverage_report(const ReportFlags& flags,
                             const std::vector<OperatorCoverage>& coverage) {
  return flags.write(
      [&coverage](std::string_view format, const ReportStyle& style, std::ostream& target) {
        return write_coverage(format, coverage, style, target);
      },
      {});
}

Result<ExitCode> show_stored_conformance(const ReportFlags& flags, ResultStore& store,
                                         const Run& run) {
  ASSAY_ASSIGN_OR_RETURN(const auto report, read_conform_report(store, run));
  ASSAY_RETURN_IF_ERROR(write_conformance_report(flags, report));
  return exit_code_from_conformance(report);
}

}  // namespace assay::cli
