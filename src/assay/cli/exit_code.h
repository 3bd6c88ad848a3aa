#pragma once

#include <cstdint>

#include "assay/base/result.h"
#include "assay/record/summary.h"

namespace assay::cli {

/// Exit codes that a script can rely on; README.md has the list.
enum class ExitCode : std::uint8_t {
  kOk = 0,
  kFindings = 1,  ///< Done, and something failed or a gate broke.
  kUsage = 2,
  kUnavailable = 3,  ///< Engine, device, store or file could not be used.
  kInternal = 4,
  kNothingMatched = 5,
  kInconclusive = 6,
  kTimedOut = 124,
  kInterrupted = 130,
};

ExitCode exit_code_from_error(ErrorCode code);

/// kFindings when a case failed; else kInconclusive when an accuracy or a gate that was asked for
/// has no answer, a case is unfinished or the run has no end; kNothingMatched without cases or when
/// all were skipped; else kOk. A time that is not steady is shown and is no finding.
ExitCode exit_code_from_summary(const RunSummary& summary);

}  // namespace assay::cli
