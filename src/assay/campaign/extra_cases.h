#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/case.h"
#include "assay/record/subject.h"

namespace assay {

/// A case that is evaluated and nothing else, because others need what comes of it.
struct ExtraCase {
  Case cell;
  std::string refusal;  ///< Why it cannot run; empty: it can.
};

/// Extra cases that the cases of a campaign need: for "engine:NAME" the same programs on that
/// engine, with its defaults, and for parity the same cases on random inputs. None twice, none
/// that is a case itself.
std::vector<ExtraCase> extra_cases_of(const CampaignRequest& request);

/// Errors: kInvalidArgument where each case of all requests would be compared with itself alone.
Status check_comparisons(std::span<const CampaignRequest> requests);

/// The case whose outputs "engine:NAME" means for this one; `engine`: "NAME" or "NAME@BUILD", a
/// name alone is its first build.
Case reference_case_of(const Case& cell, std::string_view engine,
                       const std::vector<EngineBuild>& builds);

}  // namespace assay
