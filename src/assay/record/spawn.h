#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/device_trace.h"
#include "assay/record/launch.h"
#include "assay/record/sandbox.h"

namespace assay {

struct SpawnLimits {
  std::int64_t wall_ns = 600'000'000'000;  ///< Then SIGKILL to the whole process group.
  std::int64_t memory_bytes = 0;           ///< Resident set; 0: no limit.
  std::int64_t output_bytes = 1LL << 30;   ///< Limit of stdout; more ends the process.
};

/// A process that keeps the machine busy while another one is measured.
struct Companion {
  std::vector<std::string> argv;  ///< "assay-agent" as its program is the agent itself.
  std::string input_file;         ///< Its standard input; empty: none.
  SandboxRequest sandbox;
};

/// Conditions that are set up on the machine before a process starts and kept while it runs.
struct Surroundings {
  std::vector<std::string> files;  ///< The program; the agent reports how much is cached.
  std::string page_cache;          ///< "cold": dropped from it. "warm": read. Empty: as found.
  double cool_below_celsius = 0;   ///< Waited for; 0: not.
  std::int64_t cool_timeout_ns = 600'000'000'000;
  std::vector<Companion> companions;  ///< From before its start to after its end.
};

/// Request to an agent to run a process: {argv, env, limits, …} and the bytes of its standard
/// input.
struct SpawnRequest {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  ///< Added to those of the agent that engines need.
  std::vector<int> cpus;                   ///< Affinity; empty: all.
  SpawnLimits limits;
  Surroundings surroundings;
  SandboxRequest sandbox;
  std::int64_t trace_period_ns = 0;  ///< Time between readings of the sensors; 0: none.
  std::vector<std::byte> input;      ///< Travels as the frame's blob.
};

struct SpawnResult {
  ProcessEnd end;
  Conditions before;
  Conditions after;
  std::optional<LaunchTraces> traces;  ///< Where they were asked for.
  std::string companion_failure;       ///< Fate of a companion that ended too early.
  std::vector<std::byte> output;       ///< stdout; travels as the frame's blob.
};

ASSAY_DECLARE_JSON(SpawnLimits);
ASSAY_DECLARE_JSON(Companion);
ASSAY_DECLARE_JSON(Surroundings);
ASSAY_DECLARE_JSON(SpawnRequest);
ASSAY_DECLARE_JSON(SpawnResult);

}  // namespace assay
