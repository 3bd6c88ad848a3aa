#pragma once

#include <string_view>

#include "assay/record/axes.h"
#include "assay/record/summary.h"

namespace assay {

/// Reason code of a case of which something was asked for and not done: nothing is known to have
/// failed, and it is neither a pass nor a refusal. Its verdict is inconclusive.
inline constexpr std::string_view kUnfinished = "unfinished";

inline bool is_unfinished(const CaseSummary& cell) {
  return cell.outcome == Outcome::kSkipped && cell.reason_code == kUnfinished;
}

/// The engine, the device or the machine declined, so that nothing failed.
inline bool is_refusal(Outcome outcome) {
  return outcome == Outcome::kUnsupported || outcome == Outcome::kSkipped;
}

}  // namespace assay
