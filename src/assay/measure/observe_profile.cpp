#include "assay/measure/observe_profile.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/device/perf_events.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/measure/timed_inference.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr int kWarmup = 3;

/// Infers once, then until the count or the budget is reached.
Status infer_within(Session& session, std::span<const TensorView> inputs, const ProfilePlan& plan,
                    std::vector<ProfiledInference>& done) {
  const auto end_ns = monotonic_ns() + plan.time_budget_ns;
  for (int i = 0; i < plan.iterations; ++i) {
    if (i > 0 && plan.time_budget_ns > 0 && monotonic_ns() >= end_ns) {
      return {};
    }
    PhaseTimes times;
    ASSAY_ASSIGN_OR_RETURN(const auto ended_ns, time_inference(session, inputs, times));
    const auto took_ns = times.bind_ns + times.execute_ns + times.fetch_ns;
    done.push_back({.start_ns = ended_ns - took_ns, .times = times});
  }
  return {};
}

/// The profiler is stopped whatever happens, and its failure counts only when nothing came before.
Result<ProfileReport> profile_loop(Session& session, Profiler& profiler,
                                   std::span<const TensorView> inputs, const ProfilePlan& plan,
                                   std::vector<ProfiledInference>& done) {
  done.reserve(static_cast<std::size_t>(plan.iterations));
  ASSAY_RETURN_IF_ERROR(profiler.start());
  const Status ran = infer_within(session, inputs, plan, done);
  auto stopped = profiler.stop(static_cast<int>(done.size()));
  ASSAY_RETURN_IF_ERROR(ran);
  return stopped;
}

std::int64_t median_execute_ns(const std::vector<ProfiledInference>& done) {
  std::vector<std::int64_t> times;
  times.reserve(done.size());
  for (const auto& inference : done) {
    times.push_back(inference.times.execute_ns);
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// Engines tell times of the clock; a report has them since the first inference.
void make_relative(const std::vector<ProfiledInference>& done, ProfileReport& report) {
  const auto origin_ns = done.front().start_ns;
  int last = -1;
  for (auto& span : report.spans) {
    span.start_ns -= origin_ns;
    last = std::max(last, span.iteration);
  }
  const auto kept = std::min(done.size(), static_cast<std::size_t>(last + 1));
  report.inferences.assign(done.begin(), done.begin() + static_cast<std::ptrdiff_t>(kept));
  for (auto& inference : report.inferences) {
    inference.start_ns -= origin_ns;
  }
}

Status count_events(Session& session, std::span<const TensorView> inputs, ProfileReport& report) {
  for (int i = 0; i < kWarmup; ++i) {
    ASSAY_RETURN_IF_ERROR(infer_once(session, inputs));
  }
  const std::array groups = {hardware_events(), software_events()};
  auto counters = PerfCounters::open(groups);
  counters.start();
  for (int i = 0; i < report.iterations; ++i) {
    ASSAY_RETURN_IF_ERROR(infer_once(session, inputs));
  }
  report.counters = counters.stop();
  report.counted_iterations = report.iterations;
  return {};
}

/// All in one process of the session's, which tells nothing of those that are thrown away.
Result<ProfileReport> observe_self_profiled(Session& session, SelfProfiler& profiler,
                                            std::span<const TensorView> inputs,
                                            const ProfilePlan& plan,
                                            const StageListener& listener) {
  notify(listener, Stage::kFirst);
  ASSAY_RETURN_IF_ERROR(session.bind(inputs));
  notify(listener, Stage::kSteady);
  return profiler.profile_inferences(plan.iterations);
}

}  // namespace

Result<ProfileReport> observe_profile(Session& session, std::span<const TensorView> inputs,
                                      const ProfilePlan& plan, const StageListener& listener) {
  if (plan.iterations < 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} iterations: at least one is needed", plan.iterations));
  }
  if (auto* itself = find_extension<SelfProfiler>(session)) {
    return observe_self_profiled(session, *itself, inputs, plan, listener);
  }
  auto* profiler = find_extension<Profiler>(session);
  if (profiler == nullptr) {
    return fail(ErrorCode::kUnsupported, "this engine has no profiler");
  }
  notify(listener, Stage::kFirst);
  std::vector<ProfiledInference> thrown_away;
  ASSAY_RETURN_IF_ERROR(
      profile_loop(session, *profiler, inputs, {.iterations = kWarmup}, thrown_away));
  notify(listener, Stage::kSteady);
  std::vector<ProfiledInference> done;
  ASSAY_ASSIGN_OR_RETURN(auto report, profile_loop(session, *profiler, inputs, plan, done));
  report.execute_median_ns = median_execute_ns(done);
  make_relative(done, report);
  ASSAY_RETURN_IF_ERROR(count_events(session, inputs, report));
  return report;
}

}  // namespace assay
