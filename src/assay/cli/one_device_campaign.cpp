#include "assay/cli/one_device_campaign.h"

#include "features/compare/compare.h"

#include <fmt/format.h>
#include <optional>
#include <utility>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/execute_on_fleet.h"
#include "assay/cli/fleet_setup.h"
#include "assay/spec/spec.h"

namespace assay::cli {

Result<OneDeviceCampaign> plan_on_one_device(const Spec& spec, const CampaignFlags& flags,
                                             bool keeps_repeated) {
  if (flags.executor.empty()) {
    ASSAY_ASSIGN_OR_RETURN(auto request, plan_campaign(spec, flags, keeps_repeated));
    return OneDeviceCampaign{
        .request = std::move(request), .execute = run_campaign, .compare = run_comparison};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto executor,
                         open_executor_named(flags.executor, flags.toolchain.python));
  ASSAY_ASSIGN_OR_RETURN(auto fleet,
                         plan_on_fleet(spec, flags, executor, std::nullopt, keeps_repeated));
  if (fleet.groups.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("this command works on devices of one class, and {} were asked for; "
                            "name one with --device class:CLASS",
                            fleet.groups.size()));
  }
  auto& group = fleet.groups.front();
  ASSAY_ASSIGN_OR_RETURN(const auto campaigns,
                         campaigns_of(executor, group.device, flags.toolchain.python));
  return OneDeviceCampaign{
      .request = std::move(group.campaign),
      .execute = [campaigns](const auto& request,
                             const auto& tools) { return campaigns.execute(request, tools); },
      .compare = [campaigns](
                     const auto& request, const auto& plan,
                     const auto& tools) { return campaigns.compare(request, plan, tools); }};
}

}  // namespace assay::cli
