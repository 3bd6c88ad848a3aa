#pragma once

#include <string>

#include "assay/base/result.h"
#include "assay/cli/device_flag.h"

namespace assay::cli {

/// Launches a finished program on the device, once and into no store: it tells a device that is at
/// fault from a case that is. `name`: the device's, for people. Errors: kUnavailable with what
/// became of the program; those of planning and of run_campaign().
Status check_canary(const std::string& program, const std::string& name,
                    const CampaignDevice& device);

}  // namespace assay::cli
