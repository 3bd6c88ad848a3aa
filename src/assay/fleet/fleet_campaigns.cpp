#include "assay/fleet/fleet_campaigns.h"

#include <fmt/format.h>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/fleet/run_on_fleet.h"

namespace assay {

Status FleetCampaigns::operator()(const CampaignRequest& request,
                                  const CampaignTools& tools) const {
  const FleetRequest fleet{.groups = {{.campaign = request, .device = device}},
                           .artifact_store = artifact_store,
                           .job_deadline_ns = job_deadline_ns};
  ASSAY_ASSIGN_OR_RETURN(
      const auto end,
      run_on_fleet(fleet, {.campaign = tools, .executor = executor, .artifacts = artifacts}));
  for (const auto& open : end.open) {
    tools.listener.on_note(fmt::format("{} has no result: {}", open.label, open.why));
  }
  return end.is_stopped ? fail(ErrorCode::kTimeout, "stopped; the fleet goes on") : Status();
}

}  // namespace assay
