#pragma once

#include "features/fleet/open_executor.h"
#include "features/fleet/run_on_fleet.h"

#include <optional>

#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/record/run.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// A run that a fleet began goes on there: the flags with its executor.
CampaignFlags flags_of_resumed(CampaignFlags flags, const Run& run);

/// A request for each kind of devices that the flags, or the spec, name, all of one run; `resumed`:
/// that run; `keeps_repeated`: as plan_campaigns(). Errors: kUnsupported for flags whose files do
/// not travel; those of choose_fleet_devices() and of planning.
Result<FleetRequest> plan_on_fleet(Spec spec, const CampaignFlags& flags,
                                   const ConfiguredExecutor& executor,
                                   const std::optional<Run>& resumed, bool keeps_repeated = false);

/// Like execute_spec(), on the devices of the executor that the flags name. Being asked to stop
/// leaves the jobs with the fleet. Errors: also those of open_executor_named(),
/// plan_on_fleet() and run_on_fleet().
Result<ExitCode> execute_on_fleet(const Spec& spec, const CampaignFlags& flags,
                                  const std::optional<Run>& resumed);

}  // namespace assay::cli
