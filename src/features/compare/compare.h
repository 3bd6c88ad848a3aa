#pragma once

#include "features/compare/comparison_request.h"

#include <functional>
#include <string_view>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/comparison.h"

namespace assay {

/// The comparison that the request asks for, before its first pair. `id`: UUIDv7.
Comparison new_comparison(const ComparisonRequest& request, const ComparisonPlan& plan);

/// Launches pairs of B against A until a planned look decides or the plan
/// ends; a change is then looked for again on fresh pairs. Every launch is stored as it ends, the
/// comparison with each block.
///
/// A resumed request continues with the pairs that its run has, under the plan that it began with;
/// `plan` is not looked at.
///
/// The answer is inconclusive when either side fails, when the canary differs from A, when pairs
/// contradict each other, or when a change was not found again; its text says so. Errors: what
/// stops the whole (store, device, toolchain, an artifact that cannot be made); kInvalidArgument
/// for a duet without cores; kTimeout: asked to stop, what was measured is kept.
Result<Comparison> run_comparison(const ComparisonRequest& request, const ComparisonPlan& plan,
                                  const CampaignTools& tools);

/// Makes a comparison: run_comparison, or a fleet.
using MakeComparison = std::function<Result<Comparison>(
    const ComparisonRequest&, const ComparisonPlan&, const CampaignTools&)>;

/// The comparison of a run that was made by `assay compare`. Errors: as get_run;
/// kInvalidArgument: it has none, or it came to its end.
Result<Comparison> find_unfinished_comparison(ResultStore& store, std::string_view run);

}  // namespace assay
