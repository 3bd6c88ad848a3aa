#pragma once

#include <cstdint>

#include "assay/base/enum_names.h"

namespace assay {

/// Outcome of an attempt. `kUnsupported` is only for a declared refusal; our own fault is
/// kHarnessError.
enum class Outcome : std::uint8_t {
  kCompleted,
  kUnsupported,
  kAotError,
  kLoadError,
  kRunError,
  kCrashed,
  kTimedOut,
  kOutOfMemory,
  kHarnessError,
  kSkipped,
};

template <>
inline constexpr auto kEnumNames<Outcome> = std::to_array<EnumName<Outcome>>({
    {Outcome::kCompleted, "completed"},
    {Outcome::kUnsupported, "unsupported"},
    {Outcome::kAotError, "aot_error"},
    {Outcome::kLoadError, "load_error"},
    {Outcome::kRunError, "run_error"},
    {Outcome::kCrashed, "crashed"},
    {Outcome::kTimedOut, "timed_out"},
    {Outcome::kOutOfMemory, "out_of_memory"},
    {Outcome::kHarnessError, "harness_error"},
    {Outcome::kSkipped, "skipped"},
});

/// Where an attempt stood when its outcome was decided. kDone: it went through.
enum class Stage : std::uint8_t {
  kNone,
  kModel,
  kQuantize,
  kExport,
  kLower,
  kSerialize,
  kReference,
  kPush,
  kStart,
  kLoad,
  kFirst,
  kSteady,
  kFetch,
  kUnload,
  kDone,
};

template <>
inline constexpr auto kEnumNames<Stage> = std::to_array<EnumName<Stage>>({
    {Stage::kNone, "none"},
    {Stage::kModel, "model"},
    {Stage::kQuantize, "quantize"},
    {Stage::kExport, "export"},
    {Stage::kLower, "lower"},
    {Stage::kSerialize, "serialize"},
    {Stage::kReference, "reference"},
    {Stage::kPush, "push"},
    {Stage::kStart, "start"},
    {Stage::kLoad, "load"},
    {Stage::kFirst, "first"},
    {Stage::kSteady, "steady"},
    {Stage::kFetch, "fetch"},
    {Stage::kUnload, "unload"},
    {Stage::kDone, "done"},
});

enum class Accuracy : std::uint8_t {
  kPass,
  kFailNumeric,
  kFailNondeterministic,
  kVacuous,
  kNotChecked
};

template <>
inline constexpr auto kEnumNames<Accuracy> = std::to_array<EnumName<Accuracy>>({
    {Accuracy::kPass, "pass"},
    {Accuracy::kFailNumeric, "fail_numeric"},
    {Accuracy::kFailNondeterministic, "fail_nondeterministic"},
    {Accuracy::kVacuous, "vacuous"},
    {Accuracy::kNotChecked, "not_checked"},
});

/// `kEmulated`: what executes stands in for the hardware that the program is made for, so that its
/// times are no times of that hardware. They are shown as such and never ranked.
enum class Timing : std::uint8_t { kSteady, kUnsteady, kInconclusive, kNotMeasured, kEmulated };

template <>
inline constexpr auto kEnumNames<Timing> = std::to_array<EnumName<Timing>>({
    {Timing::kSteady, "steady"},
    {Timing::kUnsteady, "unsteady"},
    {Timing::kInconclusive, "inconclusive"},
    {Timing::kNotMeasured, "not_measured"},
    {Timing::kEmulated, "emulated"},
});

enum class Delegation : std::uint8_t { kFull, kPartial, kNone, kUnknown };

template <>
inline constexpr auto kEnumNames<Delegation> = std::to_array<EnumName<Delegation>>({
    {Delegation::kFull, "full"},
    {Delegation::kPartial, "partial"},
    {Delegation::kNone, "none"},
    {Delegation::kUnknown, "unknown"},
});

/// The four axes rolled up to one word.
enum class Verdict : std::uint8_t { kPass, kFail, kInconclusive, kSkipped };

template <>
inline constexpr auto kEnumNames<Verdict> = std::to_array<EnumName<Verdict>>({
    {Verdict::kPass, "pass"},
    {Verdict::kFail, "fail"},
    {Verdict::kInconclusive, "inconclusive"},
    {Verdict::kSkipped, "skipped"},
});

/// The only place where the axes become one word. A broken gate fails whatever else holds; an
/// unsupported cell is skipped, a vacuous check or an unsteady time is inconclusive.
Verdict roll_up(Outcome outcome, Accuracy accuracy, Timing timing, bool has_broken_gate);

/// The one table from a failure's code to an outcome; `stage` tells an error of loading from one of
/// running.
Outcome outcome_from_error(ErrorCode code, Stage stage);

/// Kind of an attempt; a pass never times while it records something else.
enum class Pass : std::uint8_t { kTiming, kEvaluate, kMemory, kProfile };

template <>
inline constexpr auto kEnumNames<Pass> = std::to_array<EnumName<Pass>>({
    {Pass::kTiming, "timing"},
    {Pass::kEvaluate, "evaluate"},
    {Pass::kMemory, "memory"},
    {Pass::kProfile, "profile"},
});

}  // namespace assay
