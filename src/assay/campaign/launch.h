#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/axes.h"
#include "assay/record/conclusion.h"
#include "assay/record/launch.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/record/subject.h"
#include "assay/wire/messages.h"

namespace assay {

/// Work of one runner process: load one program and make one pass over it.
struct LaunchRequest {
  EngineBuild build;
  Artifact artifact;
  std::string method = "forward";
  Json options = Json::object();
  std::vector<std::string> libraries;  ///< The user's delegate or kernel libraries.
  Pass pass = Pass::kTiming;
  wire::InputSource inputs;
  MeasurePlan plan;     ///< Used by kTiming.
  int repeat = 2;       ///< Used by kEvaluate: executions of each sample.
  int iterations = 10;  ///< Used by kMemory and kProfile.
  /// Limit of the profiled inferences (kProfile) or of each leak series (kMemory). 0: none.
  std::int64_t time_budget_ns = 0;
  int leak_loads = 0;               ///< Used by kMemory: cycles of a leak check; 0: none.
  int leak_inferences = 0;          ///< Likewise.
  std::vector<std::string> prefix;  ///< Wrapper of the runner: valgrind and its arguments.
  SpawnLimits limits;
  std::map<std::string, std::string> env;  ///< Added to the agent's own.
  std::vector<int> cpus;                   ///< Affinity; empty: all.
  std::int64_t trace_period_ns = 0;        ///< Time between readings of the sensors; 0: none.
  std::vector<std::string> meter;          ///< Command here that reads a power meter; empty: none.
  Surroundings surroundings;
  /// Programs among the companions, for a target that brings what they need.
  std::vector<LaunchRequest> beside;
  SandboxMode sandbox = SandboxMode::kOff;
  std::vector<std::string> writable;  ///< Folders that the sandbox opens for writing.
};

/// Result of a launch. A runner that died is a launch with its outcome, not an error.
struct LaunchResult {
  Launch launch;
  std::vector<std::byte> outputs;       ///< Outputs of kEvaluate: safetensors "<sample>.<index>".
  std::int64_t differing_elements = 0;  ///< Differences between repeats of kEvaluate.
};

/// The sandbox of a launch: opens its runner, its program and its inputs for reading.
SandboxRequest sandbox_request_from(const LaunchRequest& request);

/// The request with paths that do not depend on the folder in which the runner starts.
LaunchRequest with_absolute_paths(LaunchRequest request);

/// The frames of the whole conversation with the runner, so that nothing is exchanged while the
/// engine works, and a file can carry them. Their paths are those of the request.
std::vector<std::byte> job_bytes(const LaunchRequest& request);

/// The process that makes the launch on this machine, or on a device that has its files at the same
/// paths.
SpawnRequest spawn_from_launch(const LaunchRequest& request);

/// Reads the answer of the process. An answer that cannot be true of this request and of the life
/// of the process fails the launch as `malformed_answer` and leaves nothing in it.
LaunchResult result_from_answer(const SpawnResult& answer, const LaunchRequest& request);

/// A launch that ended without an answer.
LaunchResult failed_launch(Conclusion conclusion);

}  // namespace assay
