#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/store/result_store.h"

namespace assay {

/// The number of cases that a run began with, and those that a resumption does not repeat.
struct ResumedCases {
  std::size_t begun = 0;
  std::size_t lost = 0;       ///< A model file, an engine build or a recipe has changed since.
  std::size_t elsewhere = 0;  ///< Those on devices that no request is for.
};

/// Marks that the store has all cases of a run, so that a resumption adds none. Errors: the
/// store's.
Status mark_cases_listed(ResultStore& store, std::string_view run);

/// Takes the cases out of the requests that the run did not begin with. A run that died while it
/// listed its cases does not know them: all of them stay. Requests that leave out a device of the
/// run do not finish it. `requests`: one for each device. Errors: the store's.
Result<ResumedCases> keep_cases_of_run(std::string_view run, ResultStore& store,
                                       std::span<CampaignRequest> requests);

}  // namespace assay
