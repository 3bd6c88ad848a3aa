#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/metric.h"
#include "assay/record/run.h"

namespace assay {

/// Result of a backend on one conformance case: outcome and accuracy in one word.
enum class ConformVerdict : std::uint8_t {
  kPass,
  kVacuous,      ///< The check could not have found a fault.
  kUnsupported,  ///< A declared refusal.
  kFailNumeric,
  kFailNondeterministic,  ///< Two executions, or two judgements of the same case, differ.
  kFailDelegation,        ///< Right, and less of it was delegated than was asked for.
  kAotError,
  kLoadError,
  kRunError,
  kCrashed,
  kTimedOut,
  kOutOfMemory,
  kHarnessError,  ///< Eager fails, or we do: nothing is known of the backend.
  kNotRun,        ///< The run was stopped before.
};

template <>
inline constexpr auto kEnumNames<ConformVerdict> = std::to_array<EnumName<ConformVerdict>>({
    {ConformVerdict::kPass, "pass"},
    {ConformVerdict::kVacuous, "vacuous"},
    {ConformVerdict::kUnsupported, "unsupported"},
    {ConformVerdict::kFailNumeric, "fail_numeric"},
    {ConformVerdict::kFailNondeterministic, "fail_nondeterministic"},
    {ConformVerdict::kFailDelegation, "fail_delegation"},
    {ConformVerdict::kAotError, "aot_error"},
    {ConformVerdict::kLoadError, "load_error"},
    {ConformVerdict::kRunError, "run_error"},
    {ConformVerdict::kCrashed, "crashed"},
    {ConformVerdict::kTimedOut, "timed_out"},
    {ConformVerdict::kOutOfMemory, "out_of_memory"},
    {ConformVerdict::kHarnessError, "harness_error"},
    {ConformVerdict::kNotRun, "not_run"},
});

/// A verdict, compared with the lists of known gaps.
enum class KnownGap : std::uint8_t {
  kNone,            ///< Not listed, and it passes; or it was not run.
  kNewFailure,      ///< Not listed, or listed with another verdict.
  kUnsupported,     ///< Listed as permanent.
  kKnownFailure,    ///< Listed with a reason.
  kUnexpectedPass,  ///< Listed, but it passes: its entry is to be removed.
};

template <>
inline constexpr auto kEnumNames<KnownGap> = std::to_array<EnumName<KnownGap>>({
    {KnownGap::kNone, "none"},
    {KnownGap::kNewFailure, "new_failure"},
    {KnownGap::kUnsupported, "unsupported"},
    {KnownGap::kKnownFailure, "known_failure"},
    {KnownGap::kUnexpectedPass, "unexpected_pass"},
});

/// One conformance case with one recipe and one set of options.
struct ConformResult {
  std::string name;  ///< "aten.add.Tensor/float32/add-3"; stable over versions of Assay.
  std::string operator_name;
  std::string dtype;
  std::string shape_class;  ///< "typical", "odd", "zero_size", …
  std::string values;       ///< "normal" or "edge".
  std::string recipe;
  std::string engine;   ///< Name with build.
  std::string options;  ///< "threads=2"; empty: none.
  std::string case_key;
  ConformVerdict verdict = ConformVerdict::kNotRun;
  Stage stage = Stage::kNone;
  std::string reason_code;
  std::string text;
  Delegation delegation = Delegation::kUnknown;
  int nodes_delegated = 0;
  int nodes_not_delegated = 0;
  std::vector<std::string> operators_left;     ///< Names of those that were not delegated.
  std::optional<Metric> error_bound_ratio;     ///< Ratio of the worst output.
  bool is_joint = false;                       ///< Judged in a program with other cases.
  std::optional<ConformVerdict> was_in_joint;  ///< Verdict there, if judged again alone.
  std::vector<ConformVerdict> alone;  ///< Verdict of each judgement in a process of its own.
  KnownGap known = KnownGap::kNone;
  std::string known_reason;
  std::string issue;
  std::string command;          ///< Runs this case alone.
  std::string last_words;       ///< Tail of the stderr of the process that failed.
  std::string unchanged_since;  ///< Run that judged it, where nothing has changed; empty: this one.
};

/// The number of cases of a core operator, or why it has none.
struct OperatorCoverage {
  std::string operator_name;
  int cases = 0;
  std::string reason;
};

/// Wall time of a stage over the whole run.
struct ConformStage {
  std::string name;  ///< "list", "artifacts", "evaluate"
  double seconds = 0;
  int steps = 0;
};

/// A case whose verdict differs from that of an earlier run.
struct ConformChange {
  std::string name;
  std::string recipe;
  std::string options;
  ConformVerdict before = ConformVerdict::kNotRun;
  ConformVerdict after = ConformVerdict::kNotRun;
};

/// An entry of the lists that this run speaks against.
struct StaleGap {
  std::string recipe;
  std::string entry;  ///< The case, or the pattern as JSON.
  std::string why;
};

/// One run of `assay conform`; writers only format it.
struct ConformReport {
  Run run;
  Environment environment;
  std::string suite;
  std::string tier;
  std::string shard;  ///< "1/4"; empty: all.
  std::vector<ConformResult> results;
  std::vector<OperatorCoverage> coverage;
  std::vector<ConformStage> stages;
  int joint_programs = 0;
  int alone_programs = 0;
  double seconds = 0;
  std::string earlier_run;  ///< Run that the changes refer to; empty: none.
  /// Judged in both runs; the changes are among these. Absent if not counted.
  std::optional<int> results_compared;
  int results_only_now = 0;      ///< Judged in this run and not in the earlier one.
  int results_only_earlier = 0;  ///< Judged in the earlier run only.
  std::vector<ConformChange> changes;
  std::vector<StaleGap> stale;
  std::vector<std::string> notes;
};

/// Code of the results of a recipe that cannot be used here; they are not run.
inline constexpr std::string_view kRecipeUnavailable = "unavailable";

/// Kind of the attachment of a run that holds its ConformReport.
/// Purpose of the runs of `assay conform`.
inline constexpr std::string_view kConformPurpose = "conform";

inline constexpr std::string_view kConformReportKind = "conform_report";

/// Neither a pass nor something that was not run.
bool is_failure(ConformVerdict verdict);

/// A failure of the backend to be looked into: all but a declared refusal and what the check or we
/// are to blame for.
bool is_fault_of_backend(ConformVerdict verdict);

/// How many results of a recipe (empty: of all) have each verdict; those without any are absent.
std::map<ConformVerdict, int> count_verdicts(const ConformReport& report, std::string_view recipe);

/// The recipes of a report in order of appearance.
std::vector<std::string> recipes_of(const ConformReport& report);

ASSAY_DECLARE_JSON(ConformResult);
ASSAY_DECLARE_JSON(OperatorCoverage);
ASSAY_DECLARE_JSON(ConformStage);
ASSAY_DECLARE_JSON(ConformChange);
ASSAY_DECLARE_JSON(StaleGap);
ASSAY_DECLARE_JSON(ConformReport);

}  // namespace assay
