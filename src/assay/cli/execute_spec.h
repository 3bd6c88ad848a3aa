#pragma once

#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/record/run.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// Expands the spec, runs the campaign and writes the reports. `resumed`: the run to go on with.
/// An interruption still reports what was measured, and says how to go on.
Result<ExitCode> execute_spec(const Spec& spec, const CampaignFlags& flags,
                              const std::optional<Run>& resumed = {});

}  // namespace assay::cli
