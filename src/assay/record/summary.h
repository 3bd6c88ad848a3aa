#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/attribution.h"
#include "assay/record/axes.h"
#include "assay/record/calibration.h"
#include "assay/record/comparison.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/record/metric.h"
#include "assay/record/profile.h"
#include "assay/record/run.h"
#include "assay/record/trade_off.h"

namespace assay {

struct GateResult {
  std::string metric;
  std::string bound;  ///< ">=0.99"
  bool is_met = false;
  bool is_undecided = false;  ///< Neither met nor broken: what was measured cannot tell.
  std::string text;           ///< "delegated_ratio 0.93, required >=0.99"

  [[nodiscard]] bool is_broken() const { return !is_met && !is_undecided; }
};

/// Errors of one output over all samples of an input set; see docs/reference/metrics.md for each
/// formula.
struct OutputError {
  std::string output;
  std::map<std::string, Metric> metrics;  ///< By name: max_abs_error, sqnr_db, …
  /// Limits that decided, by metric: a minimum where higher is better, else a maximum.
  std::map<std::string, double> bounds;
};

/// One table of errors: the engine's outputs against one kind of reference.
struct AccuracyTable {
  std::string against;  ///< "float32", "qdq"
  Accuracy accuracy = Accuracy::kNotChecked;
  std::string reason;  ///< The bound that failed, or why the verdict is vacuous.
  std::vector<OutputError> outputs;
  std::vector<std::string> controls;  ///< "all_zeros: fails, as it must", …
  /// Elements of outputs that were not the same in each execution of their sample.
  std::int64_t differing_elements = 0;
};

/// A sign that something else than the program shaped a launch's times; see
/// docs/reference/metrics.md.
struct Disturbance {
  std::string flag;  ///< "steal", "run_queue_wait", …
  double value = 0;  ///< In the flag's own unit, above its threshold.
  std::string text;  ///< "the machine lost 12 % of its time to its host (steal)"
};

/// How it is known where the warm-up of a launch ends.
enum class WarmupFinding : std::uint8_t {
  kGiven,      ///< The plan said how many iterations.
  kFound,      ///< The times became steady there.
  kUnsteady,   ///< They never did; the second half is shown as steady.
  kTooFew,     ///< Too few to tell: half of them, ten at most, count as warm-up.
  kSustained,  ///< The last third of a launch that went on for a given time.
};

template <>
inline constexpr auto kEnumNames<WarmupFinding> = std::to_array<EnumName<WarmupFinding>>({
    {WarmupFinding::kGiven, "given"},
    {WarmupFinding::kFound, "found"},
    {WarmupFinding::kUnsteady, "unsteady"},
    {WarmupFinding::kTooFew, "too_few"},
    {WarmupFinding::kSustained, "sustained"},
});

/// Steady iterations of one timing launch, for pictures.
struct LaunchSeries {
  std::string launch;
  int index = 0;
  int warmup_iterations = 0;  ///< As given, or as found.
  WarmupFinding warmup = WarmupFinding::kGiven;
  PhaseTimes first;
  std::vector<std::int64_t> execute_ns;  ///< Warm-up first.
  double median_ns = 0;                  ///< Median of the steady part.
  std::string stopped_by;                ///< "count" or "time_budget".
  Conditions before;
  Conditions after;
  std::vector<Disturbance> disturbances;  ///< Empty: no sign of any.
  std::optional<LaunchTraces> traces;     ///< Where the device's sensors were read.
};

enum class LeakVerdict : std::uint8_t {
  kLeak,        ///< The interval lies above 0.
  kNone,        ///< The interval ends within a page a cycle: no leak larger than that end.
  kCannotTell,  ///< Too few cycles, or too much noise.
};

template <>
inline constexpr auto kEnumNames<LeakVerdict> = std::to_array<EnumName<LeakVerdict>>({
    {LeakVerdict::kLeak, "leak"},
    {LeakVerdict::kNone, "none"},
    {LeakVerdict::kCannotTell, "cannot_tell"},
});

/// Growth of memory from cycle to cycle of a leak check; see docs/guide/memory.md.
struct LeakFinding {
  std::string cycle;   ///< "load", "inference"
  std::string source;  ///< "malloc": live bytes; "private_dirty": pages of the whole process.
  int cycles = 0;      ///< Behind the slope; the first ones are left out.
  Estimate bytes_per_cycle;
  LeakVerdict verdict = LeakVerdict::kCannotTell;
  std::string text;  ///< "no leak larger than 0 bytes a load (malloc, 16 loads)"
};

/// Everything a report shows of one case; writers only format it.
struct CaseSummary {
  std::string case_key;
  std::string label;
  std::string model;  ///< Short names for columns.
  std::string recipe;
  std::string engine;   ///< Name with build.
  std::string options;  ///< "threads=1"
  std::string shapes;   ///< "1x3x224x224"
  std::string device;   ///< Name; two of one class have the same key.
  Json identity;
  std::string subject;
  Outcome outcome = Outcome::kSkipped;
  Stage stage = Stage::kNone;
  std::string reason_code;
  std::string text;
  Accuracy accuracy = Accuracy::kNotChecked;
  Timing timing = Timing::kNotMeasured;
  Delegation delegation = Delegation::kUnknown;
  Verdict verdict = Verdict::kSkipped;
  std::map<std::string, Estimate> metrics;  ///< By name: first_ns, steady_ns, load_ns, …
  std::vector<AccuracyTable> accuracy_tables;
  std::optional<Attribution> attribution;  ///< Where the program gives out its layers.
  std::vector<GateResult> gates;
  std::vector<LaunchSeries> launches;
  std::optional<MemoryReport> memory;
  std::vector<LeakFinding> leaks;
  std::optional<ProfileReport> profile;
  std::optional<ProfileBreakdown> breakdown;      ///< The profile, split by what takes the time.
  std::optional<InstructionReport> instructions;  ///< When callgrind was asked for.
  Json manifest;                                  ///< Null when the artifact was not made.
  Json effective_options;
  std::vector<std::string>
      notes;  ///< Sentences a reader must know: "stopped by its time budget after 4 of 50", …
  std::vector<std::string>
      warnings;            ///< Why a result may mislead: random and real inputs disagree.
  std::string reproduce;   ///< Command that runs this case alone.
  std::string last_words;  ///< Tail of the stderr of the process that failed; empty when none did.
};

/// True if the case has a steady time that may be set against those of other cases: not a time of
/// an emulator.
bool has_comparable_time(const CaseSummary& cell);

/// One pair of a comparison at its primary metric, for pictures.
struct PairPoint {
  int pair = 0;
  PairPhase phase = PairPhase::kSearch;
  double a = 0;  ///< Value in the metric's unit.
  double b = 0;
  bool is_replaced = false;
  bool is_disturbed = false;
};

/// A comparison that was made in a run, with the pairs behind it.
struct ComparisonSummary {
  Comparison comparison;
  std::vector<PairPoint> pairs;  ///< In order.
};

struct RunSummary {
  Run run;
  Environment environment;
  std::map<std::string, Environment> devices;  ///< By name, of a run on several; else empty.
  std::optional<Calibration> calibration;      ///< The newest of the environment; none for several.
  std::string baseline;                        ///< Recipe name that ratios refer to; empty: none.
  std::vector<CaseSummary> cases;
  std::vector<TradeOff> trade_offs;  ///< One for each model that has several points.
  std::vector<ComparisonSummary> comparisons;
};

ASSAY_DECLARE_JSON(GateResult);
ASSAY_DECLARE_JSON(OutputError);
ASSAY_DECLARE_JSON(AccuracyTable);
ASSAY_DECLARE_JSON(Disturbance);
ASSAY_DECLARE_JSON(LaunchSeries);
ASSAY_DECLARE_JSON(LeakFinding);
ASSAY_DECLARE_JSON(CaseSummary);
ASSAY_DECLARE_JSON(PairPoint);
ASSAY_DECLARE_JSON(ComparisonSummary);
ASSAY_DECLARE_JSON(RunSummary);

}  // namespace assay
