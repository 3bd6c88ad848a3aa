#include "assay/measure/self_timed.h"

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <numeric>
#include <span>
#include <utility>

#include <sys/resource.h>

#include "assay/base/clock.h"
#include "assay/base/enum_names.h"
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

/// Checks the promises of SelfTimer::Times.
Status check_count(const SelfTimer::Times& times, const SelfTimer::Row& row) {
  const auto count = times.ns.size();
  const bool is_right = times.told == TimesTold::kAll
                            ? count == static_cast<std::size_t>(row.count())
                            : (count > 0) == (times.told == TimesTold::kSteady);
  return is_right ? Status()
                  : fail(ErrorCode::kEngine,
                         fmt::format("{} times of {} inferences, of which {} are told", count,
                                     row.count(), name_of(times.told)));
}

void put_samples(SelfTimer::Times times, Measurement& result) {
  if (times.told == TimesTold::kAll) {
    result.first.execute_ns = times.ns.front();
    times.ns.erase(times.ns.begin());
  } else if (times.told == TimesTold::kSteady) {
    result.warmup_iterations = 0;
    result.iterations = static_cast<int>(times.ns.size());
  }
  result.samples.bind_ns.assign(times.ns.size(), 0);
  result.samples.fetch_ns.assign(times.ns.size(), 0);
  result.samples.execute_ns = std::move(times.ns);
}

}  // namespace

Result<Measurement> measure_self_timed(Session& session, SelfTimer& timer,
                                       std::span<const TensorView> inputs, const MeasurePlan& plan,
                                       const StageListener& listener) {
  if (plan.gap_ns > 0 || plan.streams > 1 || plan.duration_ns > 0) {
    return fail(ErrorCode::kUnsupported,
                "this engine times itself: it takes no gap, no streams and no duration");
  }
  notify(listener, Stage::kFirst);
  ASSAY_RETURN_IF_ERROR(session.bind(inputs));
  // Nobody hears when the first inference of the row ends, and the others follow at once.
  notify(listener, Stage::kSteady);
  const SelfTimer::Row row{.warmup = plan.warmup_iterations, .iterations = plan.iterations};
  const auto cpu_before = cpu_ns_of_children();
  const auto start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(auto times, timer.time_inferences(row));
  ASSAY_RETURN_IF_ERROR(check_count(times, row));
  Measurement result{.warmup_iterations = plan.warmup_iterations,
                     .iterations = plan.iterations,
                     .detects_warmup = plan.detects_warmup,
                     .stopped_by = "count",
                     .clock_resolution_ns = times.clock_resolution_ns,
                     .times = times.told,
                     .metrics = std::move(times.metrics)};
  put_samples(std::move(times), result);
  result.wall_ns = monotonic_ns() - start_ns;
  result.cpu_ns = cpu_ns_of_children() - cpu_before;
  result.inferences = static_cast<std::int64_t>(result.warmup_iterations) + result.iterations;
  // Its start, its loading and its pauses are no inference.
  result.inferences_ns = std::accumulate(result.samples.execute_ns.begin(),
                                         result.samples.execute_ns.end(), std::int64_t{0});
  return result;
}

}  // namespace assay
