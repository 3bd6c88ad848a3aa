#pragma once

#include <cstdint>
#include <string>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/fleet/artifact_store.h"
#include "assay/fleet/executor.h"
#include "assay/fleet/fleet_job.h"

namespace assay {

/// Stands for run_campaign() where a fleet has the devices, for those who make campaigns one after
/// another of one run: conformance. The executor and the artifact store outlive it.
struct FleetCampaigns {
  Executor& executor;
  ArtifactStore& artifacts;
  DeviceRequirement device;
  std::string artifact_store;
  std::int64_t job_deadline_ns = 0;

  /// Cases whose tries are all lost get a note and have no attempt. Errors: those of
  /// run_on_fleet(); kTimeout when it was asked to stop, and the fleet goes on.
  Status operator()(const CampaignRequest& request, const CampaignTools& tools) const;
};

}  // namespace assay
