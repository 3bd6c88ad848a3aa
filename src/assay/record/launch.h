#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/comparison.h"
#include "assay/record/device_trace.h"
#include "assay/record/metric.h"
#include "assay/record/sandbox.h"
#include "assay/tensor/tensor.h"

namespace assay {

/// How many iterations one launch takes. The budget covers warm-up and steady state together and is
/// checked between iterations; the first inference and `min_iterations` always run.
struct MeasurePlan {
  int warmup_iterations = 10;
  int iterations = 50;
  int min_iterations = 3;
  std::int64_t time_budget_ns = 20'000'000'000;
  std::int64_t gap_ns = 0;  ///< Pause between inferences; 0: tight loop.
  int streams = 1;          ///< Inferences in flight, each in a session of its own.
  /// Warm-up and steady iterations are one series, whose steady part the summary finds.
  bool detects_warmup = false;
  /// Infers for this long after the first inference, in place of all counts and the budget; 0: not.
  std::int64_t duration_ns = 0;
};

/// One inference: bind | execute | fetch, nanoseconds.
struct PhaseTimes {
  std::int64_t bind_ns = 0;
  std::int64_t execute_ns = 0;
  std::int64_t fetch_ns = 0;
};

/// Columns of PhaseTimes, one entry an iteration, warm-up first.
struct PhaseSamples {
  std::vector<std::int64_t> bind_ns;
  std::vector<std::int64_t> execute_ns;
  std::vector<std::int64_t> fetch_ns;
};

/// Which times a session that times itself tells.
enum class TimesTold : std::uint8_t {
  kAll,     ///< The first inference, warm-up and steady ones.
  kSteady,  ///< It warms up by itself and tells the others, as many as it made.
  kNone,    ///< Numbers of the whole launch only: Measurement::metrics.
};

template <>
inline constexpr auto kEnumNames<TimesTold> = std::to_array<EnumName<TimesTold>>({
    {TimesTold::kAll, "all"},
    {TimesTold::kSteady, "steady"},
    {TimesTold::kNone, "none"},
});

/// Answer to `measure`; the samples travel as the frame's blob, never as JSON.
struct Measurement {
  PhaseTimes first;
  int warmup_iterations = 0;  ///< Done, may be fewer than planned; 0 where they are detected.
  int iterations = 0;         ///< Steady iterations done, or all where warm-up is detected.
  bool detects_warmup = false;
  std::string stopped_by;        ///< "count", "time_budget" or "duration".
  std::int64_t duration_ns = 0;  ///< Planned duration; 0: the plan has a number of iterations.
  std::int64_t stride = 1;       ///< Each sample is one of so many inferences in a row.
  std::int64_t gap_ns = 0;       ///< Pause between inferences, as planned.
  int streams = 1;               ///< As planned; the samples are those of the first one.
  /// Inferences of all streams while the first one took its samples, and how long that took.
  std::int64_t inferences = 0;
  std::int64_t inferences_ns = 0;
  /// Threads that computed at least 5 % as long as the busiest one; absent if it is unknown.
  std::optional<int> busy_threads;
  std::int64_t wall_ns = 0;  ///< Wall time of `iterations`, called the steady part below.
  std::int64_t cpu_ns = 0;   ///< CPU time of the process in the steady part.
  /// CLOCK_BOOTTIME at its begin and its end; 0 if it is unknown.
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  /// In which its threads were ready but had no processor, in the steady part, summed over them.
  std::optional<std::int64_t> run_queue_wait_ns;
  std::int64_t involuntary_switches = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t clock_resolution_ns = 0;
  std::int64_t timer_cost_ns = 0;  ///< Median of two readings in a row.
  TimesTold times = TimesTold::kAll;
  std::vector<ProgramMetric> metrics;  ///< Numbers of the launch, each name once.
  PhaseSamples samples;
};

struct StageTime {
  std::string name;
  std::int64_t ns = 0;
};

struct NamedBytes {
  std::string name;
  std::int64_t bytes = 0;
  bool is_peak = false;  ///< The most it was so far; nothing of it is held now.
};

/// Answer to `load`.
struct LoadReport {
  std::vector<StageTime> stages;  ///< "program", "method", … in order; their sum is the load time.
  Json effective_options = Json::object();
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::vector<NamedBytes> declared_memory;  ///< Memory that the engine reports: arenas, allocators.
  std::vector<std::string> backends;
  /// Stands in for the hardware that the program is made for: "QNN's emulator of HTP". Empty: that
  /// hardware itself executes.
  std::string emulator;
  std::vector<std::string> notes;  ///< "the profiler of XNNPACK cannot be switched off", …
};

/// Memory that malloc and its kin handed out to the whole process, by usable size.
struct AllocationCounts {
  std::int64_t live_bytes = 0;       ///< Bytes that are not freed yet.
  std::int64_t peak_live_bytes = 0;  ///< The most it was.
  std::int64_t total_bytes = 0;      ///< Since the process began, freed or not.
  std::int64_t count = 0;            ///< Allocations so far; a realloc is one.
};

/// Memory of the runner process at one stage, bytes.
struct MemoryStage {
  std::string name;  ///< "start", "loaded", "first", "steady", "unloaded"
  std::int64_t rss_bytes = 0;
  std::int64_t pss_bytes = 0;
  std::int64_t private_dirty_bytes = 0;
  std::int64_t peak_rss_bytes = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  /// Parts of `rss_bytes`, which add up to it: docs/guide/memory.md. Empty if mappings are not
  /// told.
  std::vector<NamedBytes> parts;
  std::optional<AllocationCounts> allocations;  ///< Absent where malloc is not counted.
};

/// Memory after each cycle of one kind in one process: the raw data of a leak check.
struct LeakSeries {
  std::string cycle;   ///< "load": load, inferences, unload. "inference": one, in one session.
  int inferences = 1;  ///< Inferences of a cycle.
  std::vector<std::int64_t> malloc_live_bytes;  ///< Empty where malloc is not counted.
  std::vector<std::int64_t> private_dirty_bytes;
  std::string stopped_by;  ///< "count" or "time_budget".
};

struct MemoryReport {
  std::vector<MemoryStage> stages;
  std::vector<NamedBytes> declared;
  std::int64_t unattributed_bytes = 0;  ///< The part of that name at "steady".
  std::int64_t probe_ns = 0;            ///< Time of one reading.
  /// Bytes that malloc handed out for one reading, mostly freed again; absent if not counted.
  std::optional<std::int64_t> probe_bytes;
  int inferences = 0;  ///< Number of inferences between "first" and "steady".
  /// In these inferences; absent where malloc is not counted.
  std::optional<std::int64_t> inference_allocations;
  std::string allocations_unavailable;  ///< Why malloc is not counted; empty if it is.
  std::vector<LeakSeries> leak_series;  ///< Where a leak check was asked for.
};

/// Times of one operator or delegate over the profiled iterations.
struct ProfileEvent {
  std::string name;
  std::string kind;  ///< "method", "operator", "delegate", "delegate_operator"
  int instruction = -1;
  std::int64_t count = 0;  ///< Calls over all iterations.
  std::int64_t total_ns = 0;
  std::int64_t min_ns = 0;
  std::int64_t median_ns = 0;
};

/// One occurrence of an event, for pictures over time. As JSON an array of these four.
struct ProfileSpan {
  int event = 0;              ///< Index into ProfileReport::events.
  int iteration = 0;          ///< Number of the profiled inference, from 0.
  std::int64_t start_ns = 0;  ///< Since the first profiled inference began.
  std::int64_t duration_ns = 0;
};

/// A whole inference under the profiler.
struct ProfiledInference {
  std::int64_t start_ns = 0;  ///< Since the first one began.
  PhaseTimes times;
};

/// Count of a kernel event in all threads of the runner while inferences ran.
struct EventCount {
  std::string name;             ///< "instructions", "page-faults", as perf_event names it.
  std::optional<double> value;  ///< Sum over all counted inferences; absent: unavailable.
  double running_ratio = 0;     ///< Share of the time that was counted; `value` is scaled by it.
  std::string unavailable;      ///< Why, and what to set.
};

struct ProfileReport {
  int iterations = 0;
  std::vector<ProfileEvent> events;
  std::int64_t method_median_ns = 0;
  std::int64_t execute_median_ns = 0;  ///< As the timing pass takes it, but under the profiler.
  std::vector<std::string> notes;
  std::vector<ProfileSpan> spans;  ///< Spans of the first inferences only, in order of start.
  std::vector<ProfiledInference> inferences;  ///< Inferences that `spans` belongs to.
  int counted_iterations = 0;  ///< Inferences behind `counters`; no profiler in them.
  std::vector<EventCount> counters;
};

/// State of a device at one moment. What a system does not tell is absent.
struct Conditions {
  std::int64_t unix_ns = 0;
  std::int64_t boottime_ns = 0;  ///< CLOCK_BOOTTIME; 0 if it is unknown.
  std::optional<double> load_average_1min;
  std::optional<double> cpu_pressure_avg10;  ///< Percent of 10 s in which something waited for it.
  std::optional<double> memory_pressure_avg10;
  std::optional<double> io_pressure_avg10;
  std::optional<std::int64_t> steal_ticks;
  std::optional<std::int64_t> total_ticks;
  std::optional<double> frequency_hz;
  std::optional<double> set_frequency_hz;  ///< The one that was set; absent: none was.
  std::optional<double> temperature_celsius;
  std::optional<std::int64_t> throttle_count;  ///< Thermal throttling since boot, all cores.
  std::optional<std::string> governor;
  std::optional<std::int64_t> memory_available_bytes;
  std::optional<double> cached_ratio;  ///< Share of the program's files in the page cache.
  std::optional<double> battery_percent;
  std::optional<bool> is_charging;
  std::optional<double> battery_watts;  ///< Drawn from the battery; negative while it charges.
};

/// How a process ended and what it used.
struct ProcessEnd {
  int exit_code = -1;  ///< -1 when a signal ended it.
  int signal = 0;
  std::string signal_name;  ///< "SIGSEGV"
  bool is_timed_out = false;
  bool is_out_of_memory = false;
  bool is_output_exceeded = false;  ///< It wrote more than its limit, and was ended.
  std::int64_t wall_ns = 0;
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
  std::int64_t peak_rss_bytes = 0;
  std::string last_words;                ///< Tail of its stderr.
  int left_processes = 0;                ///< Still ran when it had ended by itself, and were ended.
  std::optional<SandboxReport> sandbox;  ///< Absent where no box was asked for.
};

/// One runner process: the unit of sampling.
struct Launch {
  std::string id;  ///< UUIDv7
  std::string attempt;
  int index = 0;  ///< Within its attempt.
  int order = 0;  ///< Within the run, as executed.
  bool is_fresh = true;
  std::optional<PairPlace> place;  ///< In a comparison, if it belongs to one.
  Outcome outcome = Outcome::kCompleted;
  Stage stage = Stage::kDone;
  std::string reason_code;
  std::string text;
  Conditions before;
  Conditions after;
  ProcessEnd end;
  std::optional<LoadReport> load;
  std::optional<Measurement> measurement;
  std::optional<MemoryReport> memory;
  std::optional<ProfileReport> profile;
  std::optional<LaunchTraces> traces;  ///< Absent where nothing was sampled.
  std::int64_t overhead_ns = 0;        ///< Wall time of the launch outside load and inference.
};

ASSAY_DECLARE_JSON(MeasurePlan);
ASSAY_DECLARE_JSON(PhaseTimes);
ASSAY_DECLARE_JSON(Measurement);
ASSAY_DECLARE_JSON(StageTime);
ASSAY_DECLARE_JSON(NamedBytes);
ASSAY_DECLARE_JSON(LoadReport);
ASSAY_DECLARE_JSON(AllocationCounts);
ASSAY_DECLARE_JSON(MemoryStage);
ASSAY_DECLARE_JSON(LeakSeries);
ASSAY_DECLARE_JSON(MemoryReport);
ASSAY_DECLARE_JSON(ProfileEvent);
ASSAY_DECLARE_JSON(ProfileSpan);
ASSAY_DECLARE_JSON(ProfiledInference);
ASSAY_DECLARE_JSON(EventCount);
ASSAY_DECLARE_JSON(ProfileReport);
ASSAY_DECLARE_JSON(Conditions);
ASSAY_DECLARE_JSON(ProcessEnd);
ASSAY_DECLARE_JSON(Launch);

}  // namespace assay
