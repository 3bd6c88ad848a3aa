#pragma once

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/exit_code.h"
#include "assay/cli/reduce_one.h"

namespace assay::cli {

/// Reduces the smallest case of each group of failures of a stored run of assay conform, one after
/// the other, each with a folder and a replay file of its own below `options.bundle`; the index
/// there is written after each. kFindings when one could not be reduced. Errors: kInvalidArgument
/// (no folder, or flags that do not fit), kNotFound (no such run, or none of conformance).
Result<ExitCode> reduce_run(const ReduceOptions& options, const CampaignTools& tools);

}  // namespace assay::cli
