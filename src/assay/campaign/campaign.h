#pragma once

#include <functional>
#include <memory>
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

/// Which cases a campaign runs.
struct CampaignRequest {
  RunContext context;
  std::vector<Case> cases;
  bool finishes_run = true;  ///< Nothing more comes to the run after this.
  int n = 0;                 ///< Which try at the cases; another one starts from the beginning.
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
};

/// Makes artifacts, then runs every pass of every case and stores each launch as it ends. A case
/// that fails is a row; errors are only what stops the whole: the store, the device, the toolchain.
/// kTimeout: asked to stop; all finished launches are stored, and the run can be resumed.
Status run_campaign(const CampaignRequest& request, const CampaignTools& tools);

}  // namespace assay
