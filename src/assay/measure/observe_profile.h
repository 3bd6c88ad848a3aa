#pragma once

#include <cstdint>
#include <span>

#include "assay/base/result.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {

struct ProfilePlan {
  int iterations = 10;
  std::int64_t time_budget_ns = 0;  ///< Checked between profiled inferences; 0: none.
};

/// The profile pass: three inferences under the profiler that are thrown away, then `iterations`
/// that count; then as many without it, in which the kernel counts instructions, page faults and
/// the like, so that the profiler's own work is in no counter.
///
/// Spans are made relative to the first profiled inference. Whole inferences are timed as in the
/// timing pass, so that what the profiler adds can be told.
/// A session that profiles itself (SelfProfiler) makes `iterations` in one process and tells them;
/// nothing is counted then.
/// Errors: kUnsupported when the session has no profiler, or what the session returns.
Result<ProfileReport> observe_profile(Session& session, std::span<const TensorView> inputs,
                                      const ProfilePlan& plan, const StageListener& listener);

}  // namespace assay
