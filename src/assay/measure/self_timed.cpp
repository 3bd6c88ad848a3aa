#include "assay/measure/self_timed.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <span>
#include <utility>

#include <sys/resource.h>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/device/timeval.h"
#include "assay/engine/session.h"
#include "assay/measure/measure.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

/// CPU time of all processes that this one has waited for.
std::int64_t cpu_ns_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  return ns_from_timeval(usage.ru_utime) + ns_from_timeval(usage.ru_stime);
}

}  // namespace

Result<Measurement> measure_self_timed(Session& session, SelfTimer& timer,
                                       std::span<const TensorView> inputs, const MeasurePlan& plan,
                                       const StageListener& listener) {
  if (plan.gap_ns > 0 || plan.streams > 1) {
    return fail(ErrorCode::kUnsupported,
                "this engine times itself: it takes neither a gap nor streams");
  }
  if (listener) {
    listener(Stage::kFirst);
  }
  ASSAY_RETURN_IF_ERROR(session.bind(inputs));
  const int count = 1 + plan.warmup_iterations + plan.iterations;
  const auto cpu_before = cpu_ns_of_children();
  const auto start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(auto told, timer.time_inferences(count));
  auto& times = told.ns;
  if (times.size() != static_cast<std::size_t>(count)) {
    return fail(ErrorCode::kEngine, fmt::format("{} times of {} inferences", times.size(), count));
  }
  Measurement result{.first = {.execute_ns = times.front()},
                     .warmup_iterations = plan.warmup_iterations,
                     .iterations = plan.iterations,
                     .detects_warmup = plan.detects_warmup,
                     .stopped_by = "count",
                     .clock_resolution_ns = told.clock_resolution_ns};
  times.erase(times.begin());
  result.wall_ns = monotonic_ns() - start_ns;
  result.cpu_ns = cpu_ns_of_children() - cpu_before;
  result.inferences = count - 1;
  result.inferences_ns = result.wall_ns;
  result.samples.bind_ns.assign(times.size(), 0);
  result.samples.fetch_ns.assign(times.size(), 0);
  result.samples.execute_ns = std::move(times);
  return result;
}

}  // namespace assay
