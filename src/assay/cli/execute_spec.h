#pragma once

#include <optional>
#include <string>

#include "assay/base/result.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/exit_code.h"
#include "assay/record/case.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/spec/spec.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// Expands the spec, runs the campaign and writes the reports. `resumed`: the run to go on with.
/// An interruption still reports what was measured, and says how to go on.
Result<ExitCode> execute_spec(const Spec& spec, const CampaignFlags& flags,
                              const std::optional<Run>& resumed = {});

/// The cases that --only leaves: all, or those whose label has the text, or whose key begins so.
bool is_wanted_case(const Case& cell, const std::string& only);

/// Writes the reports of a campaign that ended or was stopped. Errors: kInvalidArgument where
/// nothing of it could be made as it was asked for.
Result<RunSummary> report_campaign(ResultStore& store, const std::string& run,
                                   const CampaignFlags& flags);

/// Writes the reports of a run that came to its end, as execute_spec did.
Result<ExitCode> report_stored_run(ResultStore& store, const Run& run, const CampaignFlags& flags);

}  // namespace assay::cli
