#pragma once

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/record/summary.h"

namespace assay::cli {

/// For every case whose error was followed through its layers: a folder in `flags.bundle` with the
/// layer whose backend is furthest off by itself, as a program with inputs, expected outputs, the
/// manifest, and a spec that holds it against them. Tells the command that does. Errors: those of
/// the toolchain; kUnavailable when a file cannot be written.
Status write_bundles(const CampaignRequest& request, const RunSummary& summary,
                     const CampaignFlags& flags);

}  // namespace assay::cli
