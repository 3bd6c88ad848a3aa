#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/launch.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/record/subject.h"
#include "assay/store/result_store.h"

namespace assay {

/// How the cases of a campaign are measured and evaluated.
struct CampaignSettings {
  MeasurePlan plan;
  LaunchPlan launches;
  int profile_iterations = 0;  ///< Within the plan's time budget; 0: what fits five seconds, 10.
  int leak_loads = 0;          ///< Of the memory pass's leak check, and its inferences; 0: none.
  int leak_inferences = 0;
  std::vector<Pass> passes = {Pass::kEvaluate, Pass::kMemory, Pass::kProfile, Pass::kTiming};
  std::vector<std::string> against = {"float32", "qdq"};
  bool has_parity = false;          ///< Cases with real inputs are evaluated on random ones, too.
  bool needs_float32 = true;        ///< Every case has that reference, if only for its inputs.
  Json tolerance = Json::object();  ///< Of the spec; overrides the recipe's.
  int parallel_jobs = 2;            ///< Ahead of time.
  bool is_rebuild = false;
  std::int64_t launch_timeout_ns = 0;   ///< 0: time budget and ten minutes.
  std::int64_t job_timeout_ns = 0;      ///< Of one job ahead of time; 0: none.
  std::int64_t memory_limit_bytes = 0;  ///< Of a runner; 0: none.
  std::vector<std::string> libraries;   ///< The user's: "/a.so", or "executorch=/a.so".
  std::optional<SandboxMode> sandbox;   ///< Absent: for what comes from elsewhere.
};

/// A set of cases to run, and with what.
struct CampaignRequest {
  Run run;
  Environment environment;
  std::vector<Case> cases;
  std::vector<EngineBuild> builds;
  CampaignSettings settings;
  bool is_resumed = false;   ///< `run` is in the store; go on where it stopped.
  bool finishes_run = true;  ///< Nothing more comes to the run after this.
  int n = 0;                 ///< Which try at the cases; another one starts from the beginning.
};

/// What a campaign works with; all outlive it.
struct CampaignTools {
  ResultStore& store;
  const ArtifactCache& cache;
  ToolchainOf toolchain_of;                                    ///< Asked if a case needs one.
  ConnectTarget connect_target;                                ///< Called again when one was lost.
  std::function<Result<std::shared_ptr<void>>()> lock_device;  ///< Exclusive while launches run.
  CampaignListener& listener;
  /// Fork servers that are kept for the campaigns to come; null: each has its own.
  AotServers* servers = nullptr;
};

/// Makes artifacts, then runs every pass of every case and stores each launch as it ends. A case
/// that fails is a row; errors are only what stops the whole: the store, the device, the toolchain.
/// kTimeout: asked to stop; all finished launches are stored, and the run can be resumed.
Status run_campaign(const CampaignRequest& request, const CampaignTools& tools);

}  // namespace assay
