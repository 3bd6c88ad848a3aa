#pragma once

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/conform/conform.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// Settings of a run of conformance, and where its cases are executed.
struct ConformCampaign {
  CampaignRequest request;  ///< A case for each setting, which stands for all cases.
  ExecuteCases execute;
};

/// Plans for the device of the flags, or for devices of their executor, which are of one class.
/// Errors: those of plan_campaign(), open_executor_named() and plan_on_fleet(); kInvalidArgument
/// for several classes.
Result<ConformCampaign> plan_conform_campaign(const Spec& spec, const CampaignFlags& flags);

}  // namespace assay::cli
