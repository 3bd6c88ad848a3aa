#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/record/launch.h"

namespace assay {

struct SpawnLimits {
  std::int64_t wall_ns = 600'000'000'000;  ///< Then SIGKILL to the whole process group.
  std::int64_t memory_bytes = 0;           ///< Resident set; 0: no limit.
  std::int64_t output_bytes = 1LL << 30;   ///< Of stdout; more ends the process.
};

/// What an agent is asked to run: {argv, env, limits} and the bytes of its standard input.
struct SpawnRequest {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;  ///< Added to the agent's own.
  std::vector<int> cpus;                   ///< Affinity; empty: all.
  SpawnLimits limits;
  std::vector<std::byte> input;  ///< Travels as the frame's blob.
};

struct SpawnResult {
  ProcessEnd end;
  Conditions before;
  Conditions after;
  std::vector<std::byte> output;  ///< stdout; travels as the frame's blob.
};

ASSAY_DECLARE_JSON(SpawnLimits);
ASSAY_DECLARE_JSON(SpawnRequest);
ASSAY_DECLARE_JSON(SpawnResult);

}  // namespace assay
