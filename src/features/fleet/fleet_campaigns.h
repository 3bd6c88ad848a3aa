#pragma once

#include "features/compare/comparison_request.h"
#include "features/fleet/artifact_store.h"
#include "features/fleet/executor.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/run_on_fleet.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/comparison.h"

namespace assay {

/// Devices of one class of a fleet in place of one device here: for conformance, which makes
/// campaigns of one run one after another, and for comparisons.
struct FleetCampaigns {
  std::shared_ptr<Executor> executor;
  std::shared_ptr<ArtifactStore> artifacts;
  DeviceRequirement device;
  std::string artifact_store;
  std::int64_t job_deadline_ns = 0;
  std::filesystem::path home = {};  ///< FleetRequest::home

  /// Like run_campaign(). Cases whose tries are all lost get a note and have no attempt. Errors:
  /// those of run_on_fleet(); kTimeout when it was asked to stop, and the fleet goes on;
  /// kUnavailable where such cases are left, after all others have their result.
  [[nodiscard]] Status execute(const CampaignRequest& request, const CampaignTools& tools) const;

  /// Like run_comparison(); one device of the class makes all pairs. A resumed request is
  /// followed or, if its device is lost, made again from its beginning. Errors: as execute();
  /// kUnavailable where all tries are lost, with the reason, or a side has no program.
  [[nodiscard]] Result<Comparison> compare(const ComparisonRequest& request,
                                           const ComparisonPlan& plan,
                                           const CampaignTools& tools) const;

 private:
  [[nodiscard]] Result<FleetEnd> drive(FleetGroup group, const CampaignTools& tools) const;
};

}  // namespace assay
