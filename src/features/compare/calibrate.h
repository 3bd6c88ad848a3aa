#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/record/calibration.h"
#include "assay/spec/spec.h"

namespace assay {

/// Input of the calibration of a machine.
struct CalibrationRequest {
  std::string program;         ///< A finished program; empty: a loop of arithmetic and memory.
  std::int64_t budget_ns = 0;  ///< Time for pairs of launches.
  std::function<Result<CampaignRequest>(const Spec&)> plan_campaign;
};

/// Measures how small a change this machine can tell: the program against a copy of itself for the
/// whole budget, and a program that does nothing. The result is also stored as an attachment of the
/// environment. Errors: kInvalidArgument (not a finished program), kUnavailable (no engine executes
/// it, or nothing was measured), those of run_campaign() and run_comparison().
Result<Calibration> calibrate(const CalibrationRequest& request, const CampaignTools& tools);

}  // namespace assay
