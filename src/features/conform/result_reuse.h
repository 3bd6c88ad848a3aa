#pragma once

#include "features/conform/conform.h"
#include "features/conform/plan.h"

#include <cstddef>
#include <map>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/conformance.h"

namespace assay {

/// Passes of ConformRequest::changed_since that still hold, by index of the plan's cell: case,
/// engine's build, toolchain and machine are the same, and the error is within the bound that
/// nobody loosened. Whatever failed is judged again. Empty where no such run is named.
/// Errors: kNotFound (no such run, or none of conformance); the store's; no toolchain.
Result<std::map<std::size_t, ConformResult>> find_reusable_results(const ConformPlan& plan,
                                                                   const ConformRequest& request,
                                                                   const CampaignTools& tools);

/// Takes cells out of the programs that they would have been judged in.
void drop_cells(const std::map<std::size_t, ConformResult>& unchanged, ConformPlan& plan);

}  // namespace assay
