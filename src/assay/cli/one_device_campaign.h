#pragma once

#include "features/compare/compare.h"

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/cli/campaign_setup.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// A campaign of a command whose launches one device makes, or devices of one class of a fleet.
struct OneDeviceCampaign {
  CampaignRequest request;
  ExecuteCases execute;
  MakeComparison compare;
};

/// Plans for the device of the flags, or for devices of their executor, which are of one class.
/// Errors: those of plan_campaign(), open_executor_named() and plan_on_fleet(); kInvalidArgument
/// for several classes.
Result<OneDeviceCampaign> plan_on_one_device(const Spec& spec, const CampaignFlags& flags,
                                             bool keeps_repeated = false);

}  // namespace assay::cli
