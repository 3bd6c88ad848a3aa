#pragma once

#include "features/fleet/fleet_job.h"
#include "features/fleet/run_on_fleet.h"

#include <vector>

#include "assay/base/result.h"

namespace assay {

/// Makes the artifacts of all cases and puts their files into the artifact store. A job for each
/// case, with its extra cases, those that took longest the last time first and before them those
/// that are new: so the devices end at about the same time. Errors: as run_on_fleet().
Result<std::vector<FleetJob>> plan_jobs(const FleetRequest& request, const FleetTools& tools);

}  // namespace assay
