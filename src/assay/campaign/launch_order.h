#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/record/subject.h"
#include "assay/supervise/agent_client.h"
#include "assay/wire/messages.h"

namespace assay {

/// What one runner process is to do: load one program and make one pass over it.
struct LaunchOrder {
  EngineBuild build;
  Artifact artifact;
  std::string method = "forward";
  Json options = Json::object();
  std::vector<std::string> libraries;  ///< The user's delegate or kernel libraries.
  Pass pass = Pass::kTiming;
  wire::InputSource inputs;
  MeasurePlan plan;     ///< For kTiming.
  int repeat = 2;       ///< For kEvaluate: executions of each sample.
  int iterations = 10;  ///< For kMemory and kProfile.
  /// For kProfile: of the profiled inferences. For kMemory: of each leak series. 0: none.
  std::int64_t time_budget_ns = 0;
  int leak_loads = 0;               ///< For kMemory: cycles of a leak check; 0: none.
  int leak_inferences = 0;          ///< Likewise.
  std::vector<std::string> prefix;  ///< What the runner runs under: valgrind and its arguments.
  SpawnLimits limits;
  std::map<std::string, std::string> env;  ///< Added to the agent's own.
  std::vector<int> cpus;                   ///< Affinity; empty: all.
  Surroundings surroundings;
  SandboxMode sandbox = SandboxMode::kOff;
  std::vector<std::string> writable;  ///< Folders that the sandbox opens for writing.
};

/// What came back. A runner that died is a launch with its outcome, not an error.
struct LaunchYield {
  Launch launch;
  std::vector<std::byte> outputs;       ///< Of kEvaluate: safetensors "<sample>.<index>".
  std::int64_t differing_elements = 0;  ///< Of kEvaluate: between repeats.
};

/// Runs one process to its end on the agent's device. The whole conversation travels as one
/// request, so nothing is exchanged while the engine works. Errors: the agent's own only.
Result<LaunchYield> run_launch(AgentClient& agent, const LaunchOrder& order);

/// The frames of the conversation, and what an answer to them says; apart, so that a file can carry
/// them. An answer that cannot be true of this order and of the life of the process fails the
/// launch as `malformed_answer` and leaves nothing in it.
std::vector<std::byte> job_bytes(const LaunchOrder& order);
LaunchYield yield_from_answer(const SpawnResult& result, const LaunchOrder& order);

/// A launch that ended without an answer.
LaunchYield failed_launch(Outcome outcome, Stage stage, std::string reason, std::string text);

}  // namespace assay
