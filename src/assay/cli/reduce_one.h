#pragma once

#include <optional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/cli/quick_spec.h"
#include "assay/cli/result_flags.h"
#include "assay/record/case.h"
#include "assay/reduce/bundle.h"
#include "assay/reduce/candidate.h"

namespace assay::cli {

/// The flags of `assay reduce`.
struct ReduceOptions {
  QuickSpec quick;
  CampaignFlags flags;
  std::string run;                 ///< Of assay conform, instead of a model; empty: none.
  std::vector<std::string> match;  ///< Patterns of a run's operators or cases; empty: all.
  std::string check = "same";
  std::string replay;
  std::string bundle;
  std::string budget = "10min";
  ResultFlags output;
  int batch = 4;
};

/// What was reduced, and with what.
struct Reduced {
  ReductionReport report;
  Case pattern;
};

/// Reduces the model or case that the options name, and writes its bundle where they ask for one.
/// `first`: the case, where it is known already. Errors: what is no case, or does not fail;
/// kUnavailable; those of the replay file.
Result<Reduced> reduce_one(const ReduceOptions& options, const CampaignTools& tools,
                           std::optional<ReduceCandidate> first = std::nullopt);

}  // namespace assay::cli
