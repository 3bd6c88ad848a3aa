#include "assay/measure/measure.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <time.h>

#include "assay/base/clock.h"
#include "assay/base/result.h"
#include "assay/device/thread_times.h"
#include "assay/engine/session.h"
#include "assay/measure/inference_error.h"
#include "assay/measure/self_timed.h"
#include "assay/measure/streams.h"
#include "assay/measure/timed_inference.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/tensor/tensor.h"

namespace assay {
namespace {

constexpr int kMaxIterations = 10'000'000;

Status check_plan(const MeasurePlan& plan) {
  const std::array<std::pair<std::string_view, std::int64_t>, 6> fields = {{
      {"warmup_iterations", plan.warmup_iterations},
      {"iterations", plan.iterations},
      {"min_iterations", plan.min_iterations},
      {"time_budget_ns", plan.time_budget_ns},
      {"gap_ns", plan.gap_ns},
      {"duration_ns", plan.duration_ns},
  }};
  for (const auto& [name, value] : fields) {
    if (value < 0) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is {}; it cannot be negative", name, value));
    }
  }
  if (plan.streams < 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} streams: at least one is needed", plan.streams));
  }
  if (plan.iterations < 1 || plan.iterations > kMaxIterations ||
      plan.warmup_iterations > kMaxIterations) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("{} warm-up and {} steady iterations: take 1 to {} steady ones",
                            plan.warmup_iterations, plan.iterations, kMaxIterations));
  }
  return {};
}

/// Resources that the process has used so far.
struct Usage {
  std::int64_t cpu_ns = 0;
  rusage counters{};
};

Usage read_usage() {
  Usage usage;
  timespec cpu{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  usage.cpu_ns = static_cast<std::int64_t>(cpu.tv_sec) * 1'000'000'000 + cpu.tv_nsec;
  ::getrusage(RUSAGE_SELF, &usage.counters);
  return usage;
}

std::int64_t median_timer_cost_ns() {
  std::array<std::int64_t, 201> costs{};
  for (auto& cost : costs) {
    const std::int64_t before = monotonic_ns();
    cost = monotonic_ns() - before;
  }
  auto* middle = costs.begin() + costs.size() / 2;
  std::ranges::nth_element(costs, middle);
  return *middle;
}

/// Waits before an inference; nothing for a tight loop.
void pause_for(std::int64_t gap_ns) {
  if (gap_ns <= 0) {
    return;
  }
  const timespec gap{.tv_sec = gap_ns / 1'000'000'000, .tv_nsec = gap_ns % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &gap, nullptr);
}

/// The time between two timed regions.
class Interval {
 public:
  Interval(Session& session, std::int64_t gap_ns)
      : upkeep_(find_extension<Upkeep>(session)), gap_ns_(gap_ns) {}

  void pass() const {
    if (upkeep_ != nullptr) {
      upkeep_->clear_up();
    }
    pause_for(gap_ns_);
  }

 private:
  Upkeep* upkeep_;
  std::int64_t gap_ns_;
};

/// The columns at full size, every page touched.
PhaseSamples reserve_samples(std::size_t count) {
  return {.bind_ns = std::vector<std::int64_t>(count),
          .execute_ns = std::vector<std::int64_t>(count),
          .fetch_ns = std::vector<std::int64_t>(count)};
}

void put_sample(PhaseSamples& samples, std::size_t index, const PhaseTimes& times) {
  samples.bind_ns[index] = times.bind_ns;
  samples.execute_ns[index] = times.execute_ns;
  samples.fetch_ns[index] = times.fetch_ns;
}

struct LoopLimits {
  int count = 0;
  int minimum = 0;
  std::int64_t deadline_ns = 0;
  std::int64_t gap_ns = 0;
};

/// Runs inferences into samples[first…) and tells how many.
Result<int> run_loop(Session& session, std::span<const TensorView> inputs, const LoopLimits& limits,
                     PhaseSamples& samples, std::size_t first) {
  int done = 0;
  PhaseTimes times;
  const Interval interval(session, limits.gap_ns);
  while (done < limits.count) {
    interval.pass();
    const auto end_ns = time_inference(session, inputs, times);
    if (!end_ns) [[unlikely]] {
      return fail_with_context(
          end_ns.error(), fmt::format("inference {}", first + 2 + static_cast<std::size_t>(done)));
    }
    put_sample(samples, first + static_cast<std::size_t>(done), times);
    ++done;
    if (*end_ns >= limits.deadline_ns && done >= limits.minimum) {
      break;
    }
  }
  return done;
}

/// Inferences over a given time, of which each `stride`-th has a sample.
struct SustainedSeries {
  int samples = 0;
  std::int64_t inferences = 0;
  std::int64_t stride = 1;
};

/// Drops every second sample: the columns are full.
void thin_out(PhaseSamples& samples, SustainedSeries& series) {
  for (auto* column : {&samples.bind_ns, &samples.execute_ns, &samples.fetch_ns}) {
    for (std::size_t i = 0; 2 * i < column->size(); ++i) {
      (*column)[i] = (*column)[2 * i];
    }
  }
  series.samples = (series.samples + 1) / 2;
  series.stride *= 2;
}

/// Infers until the deadline, at least once.
Result<SustainedSeries> run_sustained(Session& session, std::span<const TensorView> inputs,
                                      const LoopLimits& limits, PhaseSamples& samples) {
  SustainedSeries series;
  PhaseTimes times;
  std::int64_t end_ns = 0;
  const Interval interval(session, limits.gap_ns);
  do {
    interval.pass();
    const auto ended = time_inference(session, inputs, times);
    if (!ended) [[unlikely]] {
      return fail_with_context(ended.error(), fmt::format("inference {}", series.inferences + 2));
    }
    end_ns = *ended;
    if (series.inferences % series.stride == 0 && series.samples == limits.count) {
      thin_out(samples, series);
    }
    if (series.inferences % series.stride == 0) {
      put_sample(samples, static_cast<std::size_t>(series.samples++), times);
    }
    ++series.inferences;
  } while (end_ns < limits.deadline_ns);
  return series;
}

/// The plan as the loops take it: a warm-up that is detected is part of the steady loop, and a
/// sustained launch has room for as many samples as it keeps.
MeasurePlan loop_plan(MeasurePlan plan) {
  if (plan.duration_ns > 0) {
    plan.warmup_iterations = 0;
    plan.detects_warmup = false;
    plan.iterations = kMostSustainedSamples;
    plan.time_budget_ns = plan.duration_ns;
    return plan;
  }
  if (plan.detects_warmup) {
    plan.iterations += plan.warmup_iterations;
    plan.warmup_iterations = 0;
  }
  return plan;
}

/// The steady loop, into samples[first…): how many inferences it made.
Result<std::int64_t> run_series(Session& session, std::span<const TensorView> inputs,
                                const MeasurePlan& plan, const LoopLimits& limits,
                                Measurement& result, std::size_t first) {
  if (plan.duration_ns == 0) {
    ASSAY_ASSIGN_OR_RETURN(result.iterations,
                           run_loop(session, inputs, limits, result.samples, first));
    return result.iterations;
  }
  ASSAY_ASSIGN_OR_RETURN(const auto series, run_sustained(session, inputs, limits, result.samples));
  result.iterations = series.samples;
  result.stride = series.stride;
  return series.inferences;
}

template <class T>
Status status_of(const Result<T>& result) {
  return result ? Status() : std::unexpected(result.error());
}

std::int64_t warmup_share_ns(const MeasurePlan& plan) {
  const double share = static_cast<double>(plan.warmup_iterations) /
                       (static_cast<double>(plan.warmup_iterations) + plan.iterations);
  return static_cast<std::int64_t>(static_cast<double>(plan.time_budget_ns) * share);
}

/// The number of inferences that the other streams have done so far.
std::int64_t count_of(const Streams* others) { return others == nullptr ? 0 : others->count(); }

/// Adds the work of threads in the steady part. Which threads compute is left open where the part
/// has so little work that one wake-up of a helper is a share of it.
void put_thread_work(Measurement& result, const std::optional<std::vector<ThreadTimes>>& before,
                     const std::optional<std::vector<ThreadTimes>>& after) {
  constexpr std::int64_t kLeastWorkNs = 20'000'000;
  if (const auto work = work_between(before, after)) {
    result.run_queue_wait_ns = work->waiting_ns;
    if (work->busiest_ns >= kLeastWorkNs) {
      result.busy_threads = work->busy;
    }
  }
}

void put_usage(Measurement& result, const Usage& before, const Usage& after) {
  const auto& a = before.counters;
  const auto& b = after.counters;
  result.cpu_ns = after.cpu_ns - before.cpu_ns;
  result.involuntary_switches = b.ru_nivcsw - a.ru_nivcsw;
  result.minor_faults = b.ru_minflt - a.ru_minflt;
  result.major_faults = b.ru_majflt - a.ru_majflt;
}

/// Infers until it fails or the process is ended. A session that times itself infers in rows.
std::unexpected<Error> infer_endlessly(Session& session, std::span<const TensorView> inputs,
                                       const StageListener& listener) {
  auto* timer = find_extension<SelfTimer>(session);
  notify(listener, Stage::kFirst);
  Status status = timer != nullptr ? session.bind(inputs) : status_of(infer_once(session, inputs));
  notify(listener, Stage::kSteady);
  constexpr int kRow = 1000;
  while (status) {
    status = timer != nullptr ? status_of(timer->time_inferences({.iterations = kRow}))
                              : status_of(infer_once(session, inputs));
  }
  return std::unexpected(status.error());
}

/// Drops the places that a time budget left unused.
void shrink_samples(PhaseSamples& samples, std::size_t count) {
  samples.bind_ns.resize(count);
  samples.execute_ns.resize(count);
  samples.fetch_ns.resize(count);
}

}  // namespace

Result<Measurement> measure(Session& session, std::span<const TensorView> inputs,
                            const MeasurePlan& asked, const StageListener& listener,
                            const Streams* others) {
  ASSAY_RETURN_IF_ERROR(check_plan(asked));
  const auto plan = loop_plan(asked);
  if (plan.duration_ns >= kEndlessNs) {
    return infer_endlessly(session, inputs, listener);
  }
  if (auto* timer = find_extension<SelfTimer>(session)) {
    return measure_self_timed(session, *timer, inputs, plan, listener);
  }
  Measurement result{.detects_warmup = plan.detects_warmup,
                     .duration_ns = plan.duration_ns,
                     .gap_ns = plan.gap_ns,
                     .streams = plan.streams};
  result.clock_resolution_ns = measure_clock_resolution_ns();
  result.timer_cost_ns = median_timer_cost_ns();
  result.samples = reserve_samples(static_cast<std::size_t>(plan.warmup_iterations) +
                                   static_cast<std::size_t>(plan.iterations));

  notify(listener, Stage::kFirst);
  if (const auto end_ns = time_inference(session, inputs, result.first); !end_ns) {
    return fail_with_context(end_ns.error(), "inference 1");
  }
  notify(listener, Stage::kSteady);

  const std::int64_t others_before = count_of(others);
  const std::int64_t start_ns = monotonic_ns();
  const LoopLimits warmup{.count = plan.warmup_iterations,
                          .deadline_ns = start_ns + warmup_share_ns(plan),
                          .gap_ns = plan.gap_ns};
  ASSAY_ASSIGN_OR_RETURN(result.warmup_iterations,
                         run_loop(session, inputs, warmup, result.samples, 0));

  const auto warm = static_cast<std::size_t>(result.warmup_iterations);
  const LoopLimits steady{.count = plan.iterations,
                          .minimum = plan.min_iterations,
                          .deadline_ns = start_ns + plan.time_budget_ns,
                          .gap_ns = plan.gap_ns};
  // The threads are read around the counters, so that their page faults are not counted.
  const auto threads_before = read_thread_times();
  const Usage before = read_usage();
  result.begin_ns = boottime_ns();
  const std::int64_t steady_start_ns = monotonic_ns();
  ASSAY_ASSIGN_OR_RETURN(const auto done, run_series(session, inputs, plan, steady, result, warm));
  result.wall_ns = monotonic_ns() - steady_start_ns;
  result.end_ns = boottime_ns();
  put_usage(result, before, read_usage());
  result.inferences_ns = steady_start_ns + result.wall_ns - start_ns;
  result.inferences = static_cast<std::int64_t>(warm) + done + count_of(others) - others_before;
  put_thread_work(result, threads_before, read_thread_times());

  const bool is_whole = result.iterations == plan.iterations;
  result.stopped_by = plan.duration_ns > 0 ? "duration" : is_whole ? "count" : "time_budget";
  shrink_samples(result.samples, warm + static_cast<std::size_t>(result.iterations));
  return result;
}

Result<std::span<const TensorView>> infer_once(Session& session,
                                               std::span<const TensorView> inputs) {
  if (auto* upkeep = find_extension<Upkeep>(session)) {
    upkeep->clear_up();
  }
  if (const auto bound = session.bind(inputs); !bound) {
    return fail_inference(bound.error());
  }
  if (const auto executed = session.execute(); !executed) {
    return fail_inference(executed.error());
  }
  auto outputs = session.fetch();
  return outputs ? outputs : fail_inference(std::move(outputs).error());
}

}  // namespace assay
