#include "assay/cli/conform_campaign.h"

#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "assay/artifact/toolchain.h"
#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/execute_on_fleet.h"
#include "assay/cli/fleet_setup.h"
#include "assay/conform/conform.h"
#include "assay/fleet/artifact_store.h"
#include "assay/fleet/fleet_campaigns.h"
#include "assay/fleet/fleet_job.h"
#include "assay/fleet/open_executor.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

Result<ExecuteCases> executed_by(const ConfiguredExecutor& configured,
                                 const DeviceRequirement& device, const std::string& python) {
  ASSAY_ASSIGN_OR_RETURN(auto opened,
                         open_artifact_store(configured.artifact_store, default_python(python)));
  const std::shared_ptr<ArtifactStore> artifacts = std::move(opened);
  return
      [configured, device, artifacts](const CampaignRequest& request, const CampaignTools& tools) {
        const FleetCampaigns campaigns{.executor = *configured.executor,
                                       .artifacts = *artifacts,
                                       .device = device,
                                       .artifact_store = configured.artifact_store,
                                       .job_deadline_ns = configured.job_deadline_ns};
        return campaigns(request, tools);
      };
}

}  // namespace

Result<ConformCampaign> plan_conform_campaign(const Spec& spec, const CampaignFlags& flags) {
  if (flags.executor.empty()) {
    ASSAY_ASSIGN_OR_RETURN(auto request, plan_campaign(spec, flags));
    return ConformCampaign{.request = std::move(request), .execute = run_campaign};
  }
  ASSAY_ASSIGN_OR_RETURN(const auto executor,
                         open_executor_named(flags.executor, flags.toolchain.python));
  ASSAY_ASSIGN_OR_RETURN(auto fleet, plan_on_fleet(spec, flags, executor, std::nullopt));
  if (fleet.groups.size() > 1) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("conformance is judged on devices of one class, and {} were asked for; "
                            "name one with --device class:CLASS",
                            fleet.groups.size()));
  }
  auto& group = fleet.groups.front();
  ASSAY_ASSIGN_OR_RETURN(auto execute, executed_by(executor, group.device, flags.toolchain.python));
  return ConformCampaign{.request = std::move(group.campaign), .execute = std::move(execute)};
}

}  // namespace assay::cli
