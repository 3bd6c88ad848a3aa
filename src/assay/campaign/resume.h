#pragma once

#include <cstddef>
#include <string_view>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/store/result_store.h"

namespace assay {

/// How many cases a run began with, and how many of them a resumption cannot make again: a model
/// file, an engine build or a recipe has changed since.
struct ResumedCases {
  std::size_t begun = 0;
  std::size_t lost = 0;
};

/// Takes the cases out of the request that the run did not begin with. A run without attempts may
/// have died while it listed its cases: all of them stay. Errors: the store's.
Result<ResumedCases> keep_cases_of_run(std::string_view run, ResultStore& store,
                                       CampaignRequest& request);

}  // namespace assay
