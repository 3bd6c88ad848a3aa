#include "features/fleet/fleet_campaigns.h"

#include "features/compare/comparison_request.h"
#include "features/fleet/run_on_fleet.h"

#include <fmt/format.h>
#include <utility>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/comparison.h"
#include "assay/store/result_store.h"

namespace assay {

Result<FleetEnd> FleetCampaigns::drive(FleetGroup group, const CampaignTools& tools) const {
  const FleetRequest fleet{.groups = {std::move(group)},
                           .artifact_store = artifact_store,
                           .job_deadline_ns = job_deadline_ns,
                           .home = home};
  ASSAY_ASSIGN_OR_RETURN(
      auto end,
      run_on_fleet(fleet, {.campaign = tools, .executor = *executor, .artifacts = *artifacts}));
  if (end.is_stopped) {
    return fail(ErrorCode::kTimeout, "stopped; the fleet goes on");
  }
  return end;
}

Status FleetCampaigns::execute(const CampaignRequest& request, const CampaignTools& tools) const {
  ASSAY_ASSIGN_OR_RETURN(const auto end, drive({.campaign = request, .device = device}, tools));
  for (const auto& open : end.open) {
    tools.listener.on_note(fmt::format("{} has no result: {}", open.label, open.why));
  }
  return end.open.empty()
             ? Status()
             : fail(ErrorCode::kUnavailable,
                    fmt::format("{} of the cases have no result, the last of them {}: {}; try them "
                                "again with --resume",
                                end.open.size(), end.open.back().label, end.open.back().why));
}

Result<Comparison> FleetCampaigns::compare(const ComparisonRequest& request,
                                           const ComparisonPlan& plan,
                                           const CampaignTools& tools) const {
  ASSAY_ASSIGN_OR_RETURN(
      const auto end,
      drive({.campaign = {.context = request.context, .cases = {request.a, request.b}},
             .device = device,
             .comparison = plan},
            tools));
  if (!end.open.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("{} has no result: {}", end.open.front().label, end.open.front().why));
  }
  ASSAY_ASSIGN_OR_RETURN(auto comparisons, tools.store.comparisons_of_run(request.context.run.id));
  return std::move(comparisons.back());
}

}  // namespace assay
