#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"

namespace assay {

/// Settings by which the cases of a campaign are measured and evaluated.
struct CampaignSettings {
  MeasurePlan plan;
  LaunchPlan launches;
  int profile_iterations = 0;  ///< Within the plan's time budget; 0: what fits five seconds, 10.
  int leak_loads = 0;          ///< Loads of the leak check in the memory pass; 0: none.
  int leak_inferences = 0;     ///< Its inferences; 0: none.
  std::vector<Pass> passes = {Pass::kEvaluate, Pass::kMemory, Pass::kProfile, Pass::kTiming};
  std::vector<std::string> against = {"float32", "qdq"};
  bool has_parity = false;          ///< Cases with real inputs are evaluated on random ones, too.
  bool needs_float32 = true;        ///< Every case has that reference, if only for its inputs.
  Json tolerance = Json::object();  ///< Tolerance of the spec; overrides the recipe's.
  int parallel_jobs = 2;            ///< Ahead of time.
  bool is_rebuild = false;
  std::int64_t launch_timeout_ns = 0;   ///< 0: that of the pass and ten minutes.
  std::int64_t job_timeout_ns = 0;      ///< Timeout of one ahead-of-time job; 0: build_timeout_ns.
  std::int64_t memory_limit_bytes = 0;  ///< Limit of a runner; 0: none.
  std::vector<std::string> libraries;   ///< The user's: "/a.so", or "executorch=/a.so".
  std::vector<std::string> meter;       ///< Command here that reads a power meter; empty: none.
  std::optional<std::int64_t> sensors_period_ns;  ///< 0: not read; absent: where it is needed.
  std::optional<SandboxMode> sandbox;             ///< Absent: for what comes from elsewhere.
};

/// The run that launches belong to, and with what they are made: campaigns, comparisons,
/// conformance and reduction have it in common, and name their cases next to it.
struct RunContext {
  Run run;
  std::string device = "local";     ///< Device of all of its launches.
  Environment environment;          ///< The machine of the device.
  std::vector<EngineBuild> builds;  ///< Builds on the device.
  CampaignSettings settings;
  bool is_resumed = false;  ///< `run` is in the store; go on where it stopped.
};

}  // namespace assay
