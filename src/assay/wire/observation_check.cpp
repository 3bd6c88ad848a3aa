// The checks of what a runner tells of memory and of a profile; see answer_check.h.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/launch.h"
#include "assay/wire/answer_check.h"
#include "assay/wire/claim.h"
#include "assay/wire/clock_slack.h"
#include "assay/wire/messages.h"

namespace assay::wire {
namespace {

constexpr std::array<std::string_view, 5> kMemoryStages = {"start", "loaded", "first", "steady",
                                                           "unloaded"};

/// Parts may be below nothing: they are differences, docs/guide/memory.md.
Status check_memory_stage(const MemoryStage& stage) {
  const auto counts = stage.allocations.value_or(AllocationCounts{});
  const std::array<std::pair<std::string_view, std::int64_t>, 10> fields = {{
      {"rss_bytes", stage.rss_bytes},
      {"pss_bytes", stage.pss_bytes},
      {"private_dirty_bytes", stage.private_dirty_bytes},
      {"peak_rss_bytes", stage.peak_rss_bytes},
      {"minor_faults", stage.minor_faults},
      {"major_faults", stage.major_faults},
      {"allocations.live_bytes", counts.live_bytes},
      {"allocations.peak_live_bytes", counts.peak_live_bytes},
      {"allocations.total_bytes", counts.total_bytes},
      {"allocations.count", counts.count},
  }};
  for (const auto& [name, value] : fields) {
    ASSAY_RETURN_IF_ERROR(
        expect_not_negative(fmt::format("stage {}: {}", stage.name, name), value));
  }
  ASSAY_RETURN_IF_ERROR(expect_count("parts", stage.parts.size()));
  for (std::size_t i = 0; i < stage.parts.size(); ++i) {
    ASSAY_RETURN_IF_ERROR(expect_text(field_in_list("parts", i, "name"), stage.parts[i].name));
  }
  return {};
}

Status check_memory_stages(const std::vector<MemoryStage>& stages) {
  if (!std::ranges::equal(stages, kMemoryStages, {}, &MemoryStage::name)) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("there are {} stages; they are {} in this order", stages.size(),
                            "start, loaded, first, steady, unloaded"));
  }
  for (const auto& stage : stages) {
    ASSAY_RETURN_IF_ERROR(check_memory_stage(stage));
  }
  return {};
}

Status check_readings(std::string_view field, const std::vector<std::int64_t>& readings, int least,
                      int most) {
  ASSAY_RETURN_IF_ERROR(expect_between(fmt::format("readings in {}", field),
                                       static_cast<std::int64_t>(readings.size()), least, most));
  for (const auto bytes : readings) {
    ASSAY_RETURN_IF_ERROR(expect_not_negative(field, bytes));
  }
  return {};
}

Status check_leak_series(const LeakSeries& series, const Observe& asked) {
  if (series.cycle != "load" && series.cycle != "inference") {
    return fail(ErrorCode::kCorrupt, "a leak series is of loads or inferences, not of others");
  }
  const int most = series.cycle == "load" ? asked.leak_loads : asked.leak_inferences;
  const bool is_cut = series.stopped_by == "time_budget" && asked.time_budget_ns > 0;
  if (!is_cut && series.stopped_by != "count") {
    return fail(ErrorCode::kCorrupt,
                "stopped_by of a leak series is count, or time_budget where there is one");
  }
  ASSAY_RETURN_IF_ERROR(
      check_readings("private_dirty_bytes", series.private_dirty_bytes, is_cut ? 1 : most, most));
  const auto count = static_cast<int>(series.private_dirty_bytes.size());
  ASSAY_RETURN_IF_ERROR(check_readings("malloc_live_bytes", series.malloc_live_bytes,
                                       series.malloc_live_bytes.empty() ? 0 : count, count));
  return expect_not_negative("inferences of a leak series", series.inferences);
}

Status check_profile_events(const std::vector<ProfileEvent>& events, std::int64_t most_ns) {
  ASSAY_RETURN_IF_ERROR(expect_count("events", events.size()));
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto& event = events[i];
    ASSAY_RETURN_IF_ERROR(expect_text(field_in_list("events", i, "name"), event.name));
    ASSAY_RETURN_IF_ERROR(expect_text(field_in_list("events", i, "kind"), event.kind));
    ASSAY_RETURN_IF_ERROR(expect_not_negative(field_in_list("events", i, "count"), event.count));
    ASSAY_RETURN_IF_ERROR(
        expect_not_negative(field_in_list("events", i, "total_ns"), event.total_ns));
    ASSAY_RETURN_IF_ERROR(
        expect_between(field_in_list("events", i, "min_ns"), event.min_ns, 0, most_ns));
    ASSAY_RETURN_IF_ERROR(
        expect_between(field_in_list("events", i, "median_ns"), event.median_ns, 0, most_ns));
  }
  return {};
}

Status check_spans(const ProfileReport& report, std::int64_t most_ns) {
  ASSAY_RETURN_IF_ERROR(expect_count("spans", report.spans.size()));
  const auto events = static_cast<std::int64_t>(report.events.size());
  for (std::size_t i = 0; i < report.spans.size(); ++i) {
    const auto& span = report.spans[i];
    ASSAY_RETURN_IF_ERROR(
        expect_between(field_in_list("spans", i, "event"), span.event, 0, events - 1));
    ASSAY_RETURN_IF_ERROR(expect_between(field_in_list("spans", i, "iteration"), span.iteration, 0,
                                         report.iterations - 1));
    ASSAY_RETURN_IF_ERROR(
        expect_between(field_in_list("spans", i, "start_ns"), span.start_ns, -most_ns, most_ns));
    ASSAY_RETURN_IF_ERROR(
        expect_between(field_in_list("spans", i, "duration_ns"), span.duration_ns, 0, most_ns));
  }
  return {};
}

Status check_profiled(const std::vector<ProfiledInference>& inferences, std::int64_t most_ns) {
  ASSAY_RETURN_IF_ERROR(expect_count("inferences", inferences.size()));
  for (std::size_t i = 0; i < inferences.size(); ++i) {
    const auto& [start_ns, times] = inferences[i];
    for (const auto ns : {start_ns, times.bind_ns, times.execute_ns, times.fetch_ns}) {
      ASSAY_RETURN_IF_ERROR(
          expect_between(fmt::format("a time of inferences[{}]", i), ns, 0, most_ns));
    }
  }
  return {};
}

Status check_event_counts(const std::vector<EventCount>& counters) {
  ASSAY_RETURN_IF_ERROR(expect_count("counters", counters.size()));
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const auto& counter = counters[i];
    ASSAY_RETURN_IF_ERROR(expect_text(field_in_list("counters", i, "name"), counter.name));
    ASSAY_RETURN_IF_ERROR(
        expect_text(field_in_list("counters", i, "unavailable"), counter.unavailable));
    const double value = counter.value.value_or(0);
    if (!std::isfinite(value) || value < 0 || !(counter.running_ratio >= 0)) {
      return fail(ErrorCode::kCorrupt, fmt::format("counters[{}] is {} over {} of the time; "
                                                   "neither can be below 0",
                                                   i, value, counter.running_ratio));
    }
  }
  return {};
}

}  // namespace

Status check_memory_report(const MemoryReport& report, const Observe& asked) {
  ASSAY_RETURN_IF_ERROR(check_memory_stages(report.stages));
  ASSAY_RETURN_IF_ERROR(expect_equal("inferences", report.inferences, asked.iterations));
  ASSAY_RETURN_IF_ERROR(check_declared_memory("declared", report.declared));
  ASSAY_RETURN_IF_ERROR(expect_not_negative("probe_ns", report.probe_ns));
  ASSAY_RETURN_IF_ERROR(expect_not_negative("probe_bytes", report.probe_bytes.value_or(0)));
  ASSAY_RETURN_IF_ERROR(
      expect_not_negative("inference_allocations", report.inference_allocations.value_or(0)));
  ASSAY_RETURN_IF_ERROR(expect_text("allocations_unavailable", report.allocations_unavailable));
  const int series = (asked.leak_loads > 0 ? 1 : 0) + (asked.leak_inferences > 0 ? 1 : 0);
  ASSAY_RETURN_IF_ERROR(expect_equal("the number of leak_series",
                                     static_cast<std::int64_t>(report.leak_series.size()), series));
  for (const auto& one : report.leak_series) {
    ASSAY_RETURN_IF_ERROR(check_leak_series(one, asked));
  }
  return {};
}

Status check_profile_report(const ProfileReport& report, const Observe& asked,
                            std::int64_t wall_ns) {
  const auto most_ns = wall_ns + clock_slack_ns(wall_ns, 1, 0);
  const int least = asked.time_budget_ns > 0 ? 1 : asked.iterations;
  ASSAY_RETURN_IF_ERROR(expect_between("iterations", report.iterations, least, asked.iterations));
  ASSAY_RETURN_IF_ERROR(check_profile_events(report.events, most_ns));
  ASSAY_RETURN_IF_ERROR(expect_between("method_median_ns", report.method_median_ns, 0, most_ns));
  ASSAY_RETURN_IF_ERROR(expect_between("execute_median_ns", report.execute_median_ns, 0, most_ns));
  ASSAY_RETURN_IF_ERROR(check_spans(report, most_ns));
  ASSAY_RETURN_IF_ERROR(check_profiled(report.inferences, most_ns));
  ASSAY_RETURN_IF_ERROR(expect_count("notes", report.notes.size()));
  for (const auto& note : report.notes) {
    ASSAY_RETURN_IF_ERROR(expect_text("notes", note));
  }
  ASSAY_RETURN_IF_ERROR(
      expect_between("counted_iterations", report.counted_iterations, 0, asked.iterations));
  return check_event_counts(report.counters);
}

}  // namespace assay::wire
