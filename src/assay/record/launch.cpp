#include "assay/record/launch.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "assay/base/json.h"

namespace assay {

// Thousands of spans: names of fields in each would be most of the text.
void to_json(Json& j, const ProfileSpan& span) {
  j = Json::array({span.event, span.iteration, span.start_ns, span.duration_ns});
}

void from_json(const Json& j, ProfileSpan& span) {
  span = {.event = j.at(0).get<int>(),
          .iteration = j.at(1).get<int>(),
          .start_ns = j.at(2).get<std::int64_t>(),
          .duration_ns = j.at(3).get<std::int64_t>()};
}

ASSAY_DEFINE_JSON(MeasurePlan, warmup_iterations, iterations, min_iterations, time_budget_ns,
                  gap_ns, streams, detects_warmup, duration_ns)
ASSAY_DEFINE_JSON(PhaseTimes, bind_ns, execute_ns, fetch_ns)
ASSAY_DEFINE_JSON(Measurement, first, warmup_iterations, iterations, detects_warmup, stopped_by,
                  duration_ns, stride, gap_ns, streams, inferences, inferences_ns, busy_threads,
                  wall_ns, cpu_ns, begin_ns, end_ns, run_queue_wait_ns, involuntary_switches,
                  minor_faults, major_faults, clock_resolution_ns, timer_cost_ns, times, metrics)
ASSAY_DEFINE_JSON(StageTime, name, ns)
ASSAY_DEFINE_JSON(NamedBytes, name, bytes, is_peak)
ASSAY_DEFINE_JSON(LoadReport, stages, effective_options, inputs, outputs, declared_memory, backends,
                  emulator, notes)
ASSAY_DEFINE_JSON(AllocationCounts, live_bytes, peak_live_bytes, total_bytes, count)
ASSAY_DEFINE_JSON(MemoryStage, name, rss_bytes, pss_bytes, private_dirty_bytes, peak_rss_bytes,
                  minor_faults, major_faults, parts, allocations)
ASSAY_DEFINE_JSON(LeakSeries, cycle, inferences, malloc_live_bytes, private_dirty_bytes, stopped_by)
ASSAY_DEFINE_JSON(MemoryReport, stages, declared, unattributed_bytes, probe_ns, probe_bytes,
                  inferences, inference_allocations, allocations_unavailable, leak_series)
ASSAY_DEFINE_JSON(ProfileEvent, name, kind, instruction, count, total_ns, min_ns, median_ns)
ASSAY_DEFINE_JSON(ProfiledInference, start_ns, times)
ASSAY_DEFINE_JSON(EventCount, name, value, running_ratio, unavailable)
ASSAY_DEFINE_JSON(ProfileReport, iterations, events, method_median_ns, execute_median_ns, notes,
                  spans, inferences, counted_iterations, counters)
ASSAY_DEFINE_JSON(Conditions, unix_ns, boottime_ns, load_average_1min, cpu_pressure_avg10,
                  memory_pressure_avg10, io_pressure_avg10, steal_ticks, total_ticks, frequency_hz,
                  set_frequency_hz, temperature_celsius, throttle_count, governor,
                  memory_available_bytes, cached_ratio, battery_percent, is_charging, battery_watts)
ASSAY_DEFINE_JSON(ProcessEnd, exit_code, signal, signal_name, is_timed_out, is_out_of_memory,
                  is_output_exceeded, wall_ns, user_ns, system_ns, peak_rss_bytes, last_words,
                  left_processes, sandbox)
ASSAY_DEFINE_JSON(Launch, id, attempt, index, order, is_fresh, outcome, stage, reason_code, text,
                  before, after, end, load, measurement, memory, profile, traces, overhead_ns)

}  // namespace assay
