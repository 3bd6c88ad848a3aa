#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/artifact/aot_servers.h"
#include "assay/artifact/cache.h"
#include "assay/artifact/toolchains.h"
#include "assay/base/result.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/listener.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"
#include "assay/store/result_store.h"

namespace assay {

struct PreparedCase;

/// Makes what cases need, as prepare_cases() does.
using PrepareCases = std::function<Result<std::vector<PreparedCase>>(const std::vector<Case>&)>;

/// Which cases a campaign runs.
struct CampaignRequest {
  RunContext context;
  std::vector<Case> cases;
  bool finishes_run = true;  ///< Nothing more comes to the run after this.
  int n = 0;  ///< Number of the try at the cases; another one starts from the beginning.
  std::string worker = "local";  ///< Who makes the attempts: JobExecution::id in a fleet.
};

/// Services that a campaign uses; all outlive it.
struct CampaignTools {
  ResultStore& store;
  const ArtifactCache& cache;
  ToolchainOf toolchain_of;                                    ///< Asked if a case needs one.
  ConnectTarget connect_target;                                ///< Called again when one was lost.
  std::function<Result<std::shared_ptr<void>>()> lock_device;  ///< Exclusive while launches run.
  CampaignListener& listener;
  /// Fork servers that are kept for the campaigns to come; null: each has its own.
  AotServers* servers = nullptr;
  PrepareCases prepare = {};  ///< Asked by prepare_cases(), where all was made elsewhere.

  [[nodiscard]] CampaignTools with_listener(CampaignListener& other) const;
};

/// A campaign's cases on one of its devices, and the tools that work there.
struct CampaignPart {
  CampaignRequest request;
  CampaignTools tools;
};

/// A device on which a campaign came to no end; its cases stay open, to be resumed.
struct UnfinishedDevice {
  std::string device;
  Error error;
};

/// Makes artifacts, then runs every pass of every case and stores each launch as it ends. A case
/// that fails is a row; errors are only what stops the whole: the store, the device, the toolchain.
/// kTimeout: asked to stop; all finished launches are stored, and the run can be resumed.
Status run_campaign(const CampaignRequest& request, const CampaignTools& tools);

/// How the cases of a request are executed: run_campaign, a fleet, or what stands for them in a
/// test.
using ExecuteCases = std::function<Status(const CampaignRequest&, const CampaignTools&)>;

/// A campaign on several devices, each of which has a part of one run. All artifacts are made
/// first. Then this machine is measured, alone, and then all other devices at once, a thread each.
/// A device that fails takes nothing from the others; the run ends if none failed. `parts`: at
/// least one, with one store, cache and listener. Errors: as run_campaign().
Result<std::vector<UnfinishedDevice>> run_campaigns(const std::vector<CampaignPart>& parts);

}  // namespace assay
