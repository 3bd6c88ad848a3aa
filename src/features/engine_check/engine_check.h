#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/enum_names.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/subject.h"
#include "assay/supervise/agent_client.h"

namespace assay {

enum class CheckVerdict : std::uint8_t { kPass, kFail, kSkipped };

template <>
inline constexpr auto kEnumNames<CheckVerdict> = std::to_array<EnumName<CheckVerdict>>({
    {CheckVerdict::kPass, "pass"},
    {CheckVerdict::kFail, "fail"},
    {CheckVerdict::kSkipped, "skipped"},
});

/// Result of one check of an engine's contract.
struct CheckFinding {
  std::string check;  ///< "refuses_wrong_inputs"
  CheckVerdict verdict = CheckVerdict::kPass;
  std::string text;  ///< Observation behind the result.
};

struct EngineCheckRequest {
  EngineBuild build;
  std::vector<std::string> argv;            ///< Starts it on the agent's machine; empty: its path.
  std::filesystem::path entry;              ///< A program that it loads.
  std::vector<std::filesystem::path> data;  ///< Files that belong to it.
  std::filesystem::path place;              ///< Their folder on another device; empty: this one.
  Json options = Json::object();
  /// Names of checks; empty: all. Describing itself and loading are checked in any case.
  std::vector<std::string> only = {};
  int loads = 1000;                               ///< Cycles of load and unload.
  std::int64_t leak_budget_ns = 120'000'000'000;  ///< Limit of these cycles.
  std::int64_t deadline_ns = 180'000'000'000;     ///< Limit of each process, on top of that.
};

/// Whether an engine keeps its contract (docs/guide/add-an-engine.md), by running its runner as a
/// campaign would: it describes itself, loads, computes the same again and says so if not, refuses
/// what it must without dying, honours threads, reports memory and survives being loaded again and
/// again. Some twenty processes; a crash is a finding. `on_finding`: called with each at once.
/// Errors: those of the agent; kInvalidArgument for a check of another name.
Result<std::vector<CheckFinding>> check_engine(
    AgentClient& agent, const EngineCheckRequest& request,
    const std::function<void(const CheckFinding&)>& on_finding);

ASSAY_DECLARE_JSON(CheckFinding);

}  // namespace assay
