#pragma once

#include "features/conform/conform.h"
#include "features/conform/plan.h"

#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/run_context.h"
#include "assay/record/case.h"

namespace assay {

/// A campaign of the request's run that evaluates `cases` as their `n`-th try.
CampaignRequest evaluation_of(const RunContext& context, int n, const std::string& reference_kind,
                              std::vector<Case> cases);

/// The known program that each setting is tried with: the sum of two float32 vectors.
Case probe_of(const ConformSetting& setting);

/// Runs the known program with every setting, in processes of their own, and says of each why it
/// cannot be used here; "" where it can. A wrong sum or a declared refusal is an answer: what such
/// a setting is worth is for its cases to say. Errors: the store's, and what stops everything.
Result<std::vector<std::string>> probe_settings(const std::vector<ConformSetting>& settings,
                                                const RunContext& context,
                                                const CampaignTools& tools,
                                                const ExecuteCases& execute);

}  // namespace assay
