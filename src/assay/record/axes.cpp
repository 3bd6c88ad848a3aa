#include "assay/record/axes.h"

#include "assay/base/result.h"
#include "assay/record/unfinished.h"

namespace assay {

Verdict roll_up(Outcome outcome, Accuracy accuracy, Timing timing, bool has_broken_gate) {
  const bool is_refused = is_refusal(outcome);
  const bool is_wrong =
      accuracy == Accuracy::kFailNumeric || accuracy == Accuracy::kFailNondeterministic;
  if ((outcome != Outcome::kCompleted && !is_refused) || is_wrong || has_broken_gate) {
    return Verdict::kFail;
  }
  if (accuracy == Accuracy::kVacuous) {
    return Verdict::kInconclusive;
  }
  if (is_refused) {
    return Verdict::kSkipped;
  }
  const bool is_undecided = timing == Timing::kUnsteady || timing == Timing::kInconclusive;
  return is_undecided ? Verdict::kInconclusive : Verdict::kPass;
}

Outcome outcome_from_error(ErrorCode code, Stage stage) {
  switch (code) {
    case ErrorCode::kUnsupported:
      return Outcome::kUnsupported;
    case ErrorCode::kTimeout:
      return Outcome::kTimedOut;
    case ErrorCode::kCrashed:
      return Outcome::kCrashed;
    case ErrorCode::kExhausted:
      return Outcome::kOutOfMemory;
    case ErrorCode::kInternal:
      return Outcome::kHarnessError;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kUnavailable:
    case ErrorCode::kCorrupt:
    case ErrorCode::kConflict:
    case ErrorCode::kEngine:
      break;
  }
  if (stage < Stage::kPush) {
    return Outcome::kAotError;
  }
  return stage <= Stage::kLoad ? Outcome::kLoadError : Outcome::kRunError;
}

}  // namespace assay
