#include "assay/record/launch.h"

#include "assay/base/json.h"

namespace assay {

ASSAY_DEFINE_JSON(MeasurePlan, warmup_iterations, iterations, min_iterations, time_budget_ns,
                  gap_ns, streams, detects_warmup)
ASSAY_DEFINE_JSON(PhaseTimes, bind_ns, execute_ns, fetch_ns)
ASSAY_DEFINE_JSON(Measurement, first, warmup_iterations, iterations, detects_warmup, stopped_by,
                  gap_ns, streams, inferences, inferences_ns, busy_threads, wall_ns, cpu_ns,
                  run_queue_wait_ns, involuntary_switches, minor_faults, major_faults,
                  clock_resolution_ns, timer_cost_ns)
ASSAY_DEFINE_JSON(StageTime, name, ns)
ASSAY_DEFINE_JSON(NamedBytes, name, bytes)
ASSAY_DEFINE_JSON(LoadReport, stages, effective_options, inputs, outputs, declared_memory, backends,
                  notes)
ASSAY_DEFINE_JSON(MemoryStage, name, rss_bytes, pss_bytes, private_dirty_bytes, peak_rss_bytes,
                  minor_faults, major_faults)
ASSAY_DEFINE_JSON(MemoryReport, stages, declared, unattributed_bytes, probe_ns)
ASSAY_DEFINE_JSON(ProfileEvent, name, kind, instruction, count, total_ns, min_ns, median_ns)
ASSAY_DEFINE_JSON(ProfileReport, iterations, events, method_median_ns, notes)
ASSAY_DEFINE_JSON(Conditions, unix_ns, load_average_1min, cpu_pressure_avg10, memory_pressure_avg10,
                  io_pressure_avg10, steal_ticks, total_ticks, frequency_hz, temperature_celsius,
                  throttle_count, governor, memory_available_bytes)
ASSAY_DEFINE_JSON(ProcessEnd, exit_code, signal, signal_name, is_timed_out, is_out_of_memory,
                  is_output_exceeded, wall_ns, user_ns, system_ns, peak_rss_bytes, last_words)
ASSAY_DEFINE_JSON(Launch, id, attempt, index, order, is_fresh, outcome, stage, reason_code, text,
                  before, after, end, load, measurement, memory, profile, overhead_ns, cached_ratio)

}  // namespace assay
