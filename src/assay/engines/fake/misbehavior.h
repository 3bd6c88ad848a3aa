#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay::fake {

/// Moments at which a fake program can misbehave.
enum class Moment : std::uint8_t { kNever, kDescribe, kLoad, kFirst, kSteady, kFetch, kUnload };

enum class Deed : std::uint8_t {
  kError,
  kThrow,
  kSegfault,
  kAbort,
  kKill,
  kExit0,
  kExit3,
  kHang,
  kEatMemory,
  kStackOverflow,
  kPrintStdout,
  kGarbageOnWire,
  kKillAgent,
};

/// {"at": "steady", "do": "segfault", "after": 3}: what goes wrong, and when.
struct Misbehavior {
  Moment at = Moment::kNever;
  Deed deed = Deed::kError;
  int after = 0;                ///< For steady and fetch: executes that go well before.
  std::string code = "engine";  ///< For "error": name of the ErrorCode.
  std::string message = "failure on order";
  std::string engine_code;              ///< For "error": the engine's own code; empty: none.
  std::int64_t most_bytes = 4LL << 30;  ///< For "eat_memory": give up there.
};

/// Does the deed. Returns after "print_stdout" and "garbage_on_wire", and with the failure of
/// "error"; throws for "throw", and when memory was eaten up; else does not come back.
///
/// Garbage goes to the descriptor in $ASSAY_WIRE_FD, which a runner sets to its copy of stdout.
Status misbehave(const Misbehavior& misbehavior);

/// Errors: kCorrupt with the names that are known.
Result<Misbehavior> misbehavior_from_json(const Json& json);

}  // namespace assay::fake

template <>
inline constexpr auto assay::kEnumNames<assay::fake::Moment> =
    std::to_array<assay::EnumName<assay::fake::Moment>>({
        {assay::fake::Moment::kNever, "never"},
        {assay::fake::Moment::kDescribe, "describe"},
        {assay::fake::Moment::kLoad, "load"},
        {assay::fake::Moment::kFirst, "first"},
        {assay::fake::Moment::kSteady, "steady"},
        {assay::fake::Moment::kFetch, "fetch"},
        {assay::fake::Moment::kUnload, "unload"},
    });

template <>
inline constexpr auto assay::kEnumNames<assay::fake::Deed> =
    std::to_array<assay::EnumName<assay::fake::Deed>>({
        {assay::fake::Deed::kError, "error"},
        {assay::fake::Deed::kThrow, "throw"},
        {assay::fake::Deed::kSegfault, "segfault"},
        {assay::fake::Deed::kAbort, "abort"},
        {assay::fake::Deed::kKill, "kill"},
        {assay::fake::Deed::kExit0, "exit0"},
        {assay::fake::Deed::kExit3, "exit3"},
        {assay::fake::Deed::kHang, "hang"},
        {assay::fake::Deed::kEatMemory, "eat_memory"},
        {assay::fake::Deed::kStackOverflow, "stack_overflow"},
        {assay::fake::Deed::kPrintStdout, "print_stdout"},
        {assay::fake::Deed::kGarbageOnWire, "garbage_on_wire"},
        {assay::fake::Deed::kKillAgent, "kill_agent"},
    });
