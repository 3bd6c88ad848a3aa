// The check of what a runner measured; see answer_check.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/base/units.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/wire/answer_check.h"
#include "assay/wire/claim.h"
#include "assay/wire/clock_slack.h"

namespace assay::wire {
namespace {

constexpr std::int64_t kMostThreads = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kMostMetrics = 100;
constexpr std::int64_t kMostToldTimes = 10'000'000;
constexpr std::int64_t kMostStride = std::int64_t{1} << 40;

std::string shown_ns(std::int64_t ns) { return text_from_duration_ns(static_cast<double>(ns)); }

/// The iterations that a plan stands for: a warm-up that is detected is part of the steady series.
MeasurePlan planned_series(MeasurePlan plan) {
  if (plan.detects_warmup) {
    plan.iterations += plan.warmup_iterations;
    plan.warmup_iterations = 0;
  }
  return plan;
}

/// A runner may stop early where the time budget was spent, and only there.
Status check_stop(const Measurement& claimed, const MeasurePlan& plan) {
  if (plan.duration_ns > 0) {
    return {};  // check_sustained() has looked.
  }
  if (claimed.stopped_by != "count" && claimed.stopped_by != "time_budget") {
    ASSAY_RETURN_IF_ERROR(expect_text("stopped_by", claimed.stopped_by));
    return fail(ErrorCode::kCorrupt,
                fmt::format("stopped_by is '{}'; it is count or time_budget", claimed.stopped_by));
  }
  if (claimed.stopped_by == "count" && claimed.times != TimesTold::kAll) {
    return {};
  }
  if (claimed.stopped_by == "count") {
    return expect_equal("iterations", claimed.iterations, plan.iterations);
  }
  ASSAY_RETURN_IF_ERROR(expect_between("iterations", claimed.iterations,
                                       std::clamp(plan.min_iterations, 1, plan.iterations),
                                       plan.iterations));
  return claimed.inferences_ns >= plan.time_budget_ns
             ? Status()
             : fail(ErrorCode::kCorrupt,
                    fmt::format("stopped_by is time_budget after {} of {} iterations, though "
                                "inferences_ns is {} ns and the budget {} ns",
                                claimed.iterations, plan.iterations, claimed.inferences_ns,
                                plan.time_budget_ns));
}

/// A program that warms up by itself tells neither the first inference nor the warm-up, and as many
/// of the others as it made; one may tell numbers of the whole launch only.
Status check_self_told(const Measurement& claimed) {
  const auto samples = static_cast<std::int64_t>(claimed.samples.execute_ns.size());
  if (claimed.times == TimesTold::kNone) {
    ASSAY_RETURN_IF_ERROR(expect_between(
        "metrics", static_cast<std::int64_t>(claimed.metrics.size()), 1, kMostMetrics));
    return expect_equal("the number of samples", samples, 0);
  }
  ASSAY_RETURN_IF_ERROR(expect_equal("warmup_iterations", claimed.warmup_iterations, 0));
  ASSAY_RETURN_IF_ERROR(expect_equal("first.execute_ns", claimed.first.execute_ns, 0));
  ASSAY_RETURN_IF_ERROR(expect_between("iterations", claimed.iterations, 1, kMostToldTimes));
  ASSAY_RETURN_IF_ERROR(expect_equal("the number of samples", samples, claimed.iterations));
  return expect_equal("inferences", claimed.inferences, samples);
}

Status check_metric(const std::string& field, const ProgramMetric& metric) {
  if (!is_program_metric_name(metric.name)) {
    return fail(ErrorCode::kCorrupt,
                field + ".name is no name: letters, digits, _ and . make one, at most 64");
  }
  if (std::ranges::find(program_metric_units(), metric.unit) == program_metric_units().end()) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("{}.unit is '{}'; it is one of {}", field, metric.unit.substr(0, 32),
                            fmt::join(program_metric_units(), ", ")));
  }
  return std::isfinite(metric.value)
             ? Status()
             : fail(ErrorCode::kCorrupt, field + ".value is no finite number");
}

Status check_metrics(const std::vector<ProgramMetric>& metrics) {
  ASSAY_RETURN_IF_ERROR(
      expect_between("metrics", static_cast<std::int64_t>(metrics.size()), 0, kMostMetrics));
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(check_metric(fmt::format("metrics[{}]", i), metrics[i]));
    if (!names.insert(metrics[i].name).second) {
      return fail(ErrorCode::kCorrupt, fmt::format("metrics has '{}' twice", metrics[i].name));
    }
  }
  return {};
}

/// A warm-up may end early where its share of the time budget was spent, and only there.
Status check_warmup(const Measurement& claimed, const MeasurePlan& plan) {
  ASSAY_RETURN_IF_ERROR(
      expect_between("warmup_iterations", claimed.warmup_iterations, 0, plan.warmup_iterations));
  const double share = static_cast<double>(plan.warmup_iterations) /
                       (static_cast<double>(plan.warmup_iterations) + plan.iterations);
  const auto share_ns = static_cast<double>(plan.time_budget_ns) * share;
  const auto spent_ns = claimed.inferences_ns - claimed.wall_ns;
  if (claimed.warmup_iterations == plan.warmup_iterations ||
      static_cast<double>(spent_ns) >= std::floor(share_ns)) {
    return {};
  }
  return fail(ErrorCode::kCorrupt,
              fmt::format("warmup_iterations is {}, where {} were asked for; its share of the time "
                          "budget, {:.0f} ns, was not spent: it took {} ns",
                          claimed.warmup_iterations, plan.warmup_iterations, share_ns, spent_ns));
}

/// A sustained launch goes on for its duration, and has a sample of each `stride`-th inference.
Status check_sustained(const Measurement& claimed, const MeasurePlan& plan) {
  if (claimed.stopped_by != "duration") {
    ASSAY_RETURN_IF_ERROR(expect_text("stopped_by", claimed.stopped_by));
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("stopped_by is '{}', where the launch was to go on for {}: the runner may "
                    "be older than sustained launches",
                    claimed.stopped_by, shown_ns(plan.duration_ns)));
  }
  ASSAY_RETURN_IF_ERROR(expect_between("inferences_ns", claimed.inferences_ns, plan.duration_ns,
                                       std::numeric_limits<std::int64_t>::max()));
  ASSAY_RETURN_IF_ERROR(expect_equal("warmup_iterations", claimed.warmup_iterations, 0));
  ASSAY_RETURN_IF_ERROR(expect_between("stride", claimed.stride, 1, kMostStride));
  ASSAY_RETURN_IF_ERROR(expect_between("iterations", claimed.iterations, 1, kMostToldTimes));
  ASSAY_RETURN_IF_ERROR(expect_equal("the number of samples",
                                     static_cast<std::int64_t>(claimed.samples.execute_ns.size()),
                                     claimed.iterations));
  ASSAY_RETURN_IF_ERROR(expect_equal("streams", claimed.streams, plan.streams));
  ASSAY_RETURN_IF_ERROR(expect_equal("gap_ns", claimed.gap_ns, plan.gap_ns));
  return expect_between("inferences", claimed.inferences,
                        (claimed.iterations - 1) * claimed.stride + 1,
                        std::numeric_limits<std::int64_t>::max());
}

Status check_counts(const Measurement& claimed, const MeasurePlan& plan) {
  if (plan.duration_ns > 0) {
    ASSAY_RETURN_IF_ERROR(check_sustained(claimed, plan));
  }
  ASSAY_RETURN_IF_ERROR(expect_equal("duration_ns", claimed.duration_ns, plan.duration_ns));
  if (plan.duration_ns > 0) {
    return {};
  }
  ASSAY_RETURN_IF_ERROR(expect_equal("stride", claimed.stride, 1));
  if (claimed.times != TimesTold::kAll) {
    return check_self_told(claimed);
  }
  ASSAY_RETURN_IF_ERROR(check_warmup(claimed, plan));
  ASSAY_RETURN_IF_ERROR(expect_between("iterations", claimed.iterations, 1, plan.iterations));
  const auto count = static_cast<std::int64_t>(claimed.warmup_iterations) + claimed.iterations;
  const auto samples = static_cast<std::int64_t>(claimed.samples.execute_ns.size());
  if (samples != count) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("there are {} samples, where warmup_iterations {} and iterations {} "
                            "make {}",
                            samples, claimed.warmup_iterations, claimed.iterations, count));
  }
  ASSAY_RETURN_IF_ERROR(expect_equal("streams", claimed.streams, plan.streams));
  ASSAY_RETURN_IF_ERROR(expect_equal("gap_ns", claimed.gap_ns, plan.gap_ns));
  ASSAY_RETURN_IF_ERROR(
      expect_equal("detects_warmup", claimed.detects_warmup ? 1 : 0, plan.detects_warmup ? 1 : 0));
  return claimed.streams == 1 ? expect_equal("inferences", claimed.inferences, count)
                              : expect_between("inferences", claimed.inferences, count,
                                               claimed.inferences_ns + count);
}

Status check_counters(const Measurement& claimed) {
  const std::array<std::pair<std::string_view, std::int64_t>, 8> fields = {{
      {"inferences_ns", claimed.inferences_ns},
      {"wall_ns", claimed.wall_ns},
      {"cpu_ns", claimed.cpu_ns},
      {"run_queue_wait_ns", claimed.run_queue_wait_ns.value_or(0)},
      {"involuntary_switches", claimed.involuntary_switches},
      {"minor_faults", claimed.minor_faults},
      {"major_faults", claimed.major_faults},
      {"timer_cost_ns", claimed.timer_cost_ns},
  }};
  for (const auto& [name, value] : fields) {
    ASSAY_RETURN_IF_ERROR(expect_not_negative(name, value));
  }
  ASSAY_RETURN_IF_ERROR(expect_not_negative("begin_ns", claimed.begin_ns));
  ASSAY_RETURN_IF_ERROR(expect_between("end_ns", claimed.end_ns, claimed.begin_ns,
                                       std::numeric_limits<std::int64_t>::max()));
  ASSAY_RETURN_IF_ERROR(
      expect_between("busy_threads", claimed.busy_threads.value_or(0), 0, kMostThreads));
  return expect_between("clock_resolution_ns", claimed.clock_resolution_ns, 0, kNsPerSecond);
}

/// Takes times out of a budget, one after the other.
class TimeBudget {
 public:
  TimeBudget(std::int64_t ns, std::int64_t slack_ns) : ns_(ns), left_ns_(ns + slack_ns) {}

  Status spend(std::string_view what, std::int64_t ns) {
    ASSAY_RETURN_IF_ERROR(expect_not_negative(what, ns));
    if (ns > left_ns_) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{} is {} ns: the times up to it add up to more than the {} that "
                              "there were",
                              what, ns, shown_ns(ns_)));
    }
    left_ns_ -= ns;
    return {};
  }

 private:
  std::int64_t ns_;
  std::int64_t left_ns_;
};

Status spend_samples(const PhaseSamples& samples, TimeBudget& budget) {
  const std::array<std::pair<const char*, const std::vector<std::int64_t>*>, 3> columns = {
      {{"bind_ns", &samples.bind_ns},
       {"execute_ns", &samples.execute_ns},
       {"fetch_ns", &samples.fetch_ns}}};
  for (const auto& [name, column] : columns) {
    for (std::size_t i = 0; i < column->size(); ++i) {
      // The name is made only for one that fails: there are millions.
      if (const auto status = budget.spend(name, (*column)[i]); !status) {
        return fail_with_context(status.error(), fmt::format("sample {}", i));
      }
    }
  }
  return {};
}

/// All of a launch's executes cannot take no time at all, unless the clock moves in steps in which
/// each of them has room.
Status check_some_time_passed(const Measurement& claimed) {
  constexpr std::int64_t kCoarseStepNs = 1'000;
  const auto& executes = claimed.samples.execute_ns;
  const bool is_nothing =
      !executes.empty() && std::ranges::all_of(executes, [](auto ns) { return ns == 0; });
  if (!is_nothing || claimed.clock_resolution_ns >= kCoarseStepNs) {
    return {};
  }
  return fail(ErrorCode::kCorrupt,
              fmt::format("all {} samples of execute_ns are 0, by a clock with steps of {} ns",
                          executes.size(), claimed.clock_resolution_ns));
}

std::int64_t sum_ns(const std::vector<std::int64_t>& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

/// Takes times that nobody has checked yet.
bool is_sum_of(const std::vector<std::int64_t>& times, std::int64_t sum) {
  const bool is_below = std::ranges::all_of(times, [&sum](std::int64_t ns) {
    const bool has_room = ns >= 0 && ns <= sum;
    sum -= has_room ? ns : 0;
    return has_room;
  });
  return is_below && sum == 0;
}

constexpr std::string_view kSumOfTimes =
    "its times add up to more than it ran, so they are not those of one inference after the other";

Status check_times(const Measurement& claimed, std::int64_t left_ns) {
  constexpr std::int64_t kReadings = 3;  // Readings of an inference: bind, execute, fetch.
  const auto readings = kReadings * static_cast<std::int64_t>(claimed.samples.execute_ns.size());
  const auto step_ns = claimed.clock_resolution_ns;
  const auto& samples = claimed.samples;
  // A session that times itself is in a process of its own, which does more than infer.
  const bool is_sum = is_sum_of(samples.execute_ns, claimed.inferences_ns);
  TimeBudget whole(left_ns, clock_slack_ns(left_ns, 1, step_ns));
  if (const auto spent = whole.spend("inferences_ns", claimed.inferences_ns); !spent) {
    return is_sum ? Status(fail_with_context(spent.error(), kSumOfTimes)) : spent;
  }
  TimeBudget series(claimed.inferences_ns,
                    clock_slack_ns(claimed.inferences_ns, readings, step_ns));
  ASSAY_RETURN_IF_ERROR(spend_samples(samples, series));
  ASSAY_RETURN_IF_ERROR(
      expect_between("wall_ns", claimed.wall_ns, 0, is_sum ? left_ns : claimed.inferences_ns));
  TimeBudget life(left_ns, clock_slack_ns(left_ns, readings + kReadings, step_ns));
  ASSAY_RETURN_IF_ERROR(life.spend("first.bind_ns", claimed.first.bind_ns));
  ASSAY_RETURN_IF_ERROR(life.spend("first.execute_ns", claimed.first.execute_ns));
  ASSAY_RETURN_IF_ERROR(life.spend("first.fetch_ns", claimed.first.fetch_ns));
  ASSAY_RETURN_IF_ERROR(
      life.spend("the sum of the samples",
                 sum_ns(samples.bind_ns) + sum_ns(samples.execute_ns) + sum_ns(samples.fetch_ns)));
  return check_some_time_passed(claimed);
}

}  // namespace

Status check_measurement(const Measurement& measurement, const MeasurePlan& asked,
                         std::int64_t left_ns) {
  const auto plan = planned_series(asked);
  ASSAY_RETURN_IF_ERROR(check_counters(measurement));
  ASSAY_RETURN_IF_ERROR(check_metrics(measurement.metrics));
  ASSAY_RETURN_IF_ERROR(check_counts(measurement, plan));
  ASSAY_RETURN_IF_ERROR(check_stop(measurement, plan));
  return check_times(measurement, left_ns);
}

}  // namespace assay::wire
