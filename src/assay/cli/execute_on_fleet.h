#pragma once

#include <optional>

#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/record/run.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// As execute_spec(), on the devices of the executor that the flags name. Being asked to stop
/// leaves the jobs with the fleet. Errors: also those of open_executor_named(),
/// choose_fleet_devices() and run_on_fleet().
Result<ExitCode> execute_on_fleet(const Spec& spec, const CampaignFlags& flags,
                                  const std::optional<Run>& resumed);

}  // namespace assay::cli
