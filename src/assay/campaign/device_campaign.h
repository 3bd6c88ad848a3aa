#pragma once

#include <memory>

#include "assay/base/result.h"
#include "assay/campaign/attempts.h"
#include "assay/campaign/campaign.h"

namespace assay {

/// The part of a campaign on one device: the cases of its request there. The run is in the store.
/// Each belongs to one thread at a time; parts of one run may execute at once.
class DeviceCampaign {
 public:
  virtual ~DeviceCampaign() = default;

  /// `tools` outlive it. `order`: shared by the parts of a run. Errors: kUnavailable (no temporary
  /// folder).
  static Result<std::unique_ptr<DeviceCampaign>> make(CampaignRequest request,
                                                      const CampaignTools& tools,
                                                      std::shared_ptr<LaunchOrder> order);

  /// Stores the cases. Errors: the store's.
  virtual Status list() = 0;

  /// Makes the artifacts of the cases. Errors: those of prepare_cases().
  virtual Status prepare() = 0;

  /// Makes the launches of every pass under the device's lock. Errors: those of run_campaign().
  virtual Status execute() = 0;
};

}  // namespace assay
