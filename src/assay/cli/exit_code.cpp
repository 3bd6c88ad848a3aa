#include "assay/cli/exit_code.h"

#include <algorithm>

#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/summary.h"

namespace assay::cli {

ExitCode exit_code_from_error(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
      return ExitCode::kUsage;
    case ErrorCode::kInternal:
      return ExitCode::kInternal;
    case ErrorCode::kTimeout:
      return ExitCode::kTimedOut;
    case ErrorCode::kUnsupported:
    case ErrorCode::kUnavailable:
    case ErrorCode::kCrashed:
    case ErrorCode::kCorrupt:
    case ErrorCode::kConflict:
    case ErrorCode::kExhausted:
    case ErrorCode::kEngine:
      break;
  }
  return ExitCode::kUnavailable;
}

ExitCode exit_code_from_summary(const RunSummary& summary) {
  const auto has = [&summary](Verdict verdict) {
    return std::ranges::find(summary.cases, verdict, &CaseSummary::verdict) != summary.cases.end();
  };
  if (has(Verdict::kFail)) {
    return ExitCode::kFindings;
  }
  // A run without an end may lack cases that the store does not know of.
  const bool is_open = summary.run.started_unix_ns != 0 && summary.run.finished_unix_ns == 0;
  if (is_open || has(Verdict::kInconclusive)) {
    return ExitCode::kInconclusive;
  }
  return has(Verdict::kPass) || has(Verdict::kInconclusive) ? ExitCode::kOk
                                                            : ExitCode::kNothingMatched;
}

}  // namespace assay::cli
