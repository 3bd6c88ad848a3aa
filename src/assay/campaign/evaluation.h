#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/campaign.h"
#include "assay/campaign/engine_reference.h"
#include "assay/campaign/launch.h"
#include "assay/campaign/preparation.h"

namespace assay {

/// State of a campaign that its evaluations use.
struct EvaluationScene {
  const CampaignSettings& settings;
  const CampaignTools& tools;
  const std::vector<PreparedCase>& prepared;
  const EngineReferences& references;
  /// Launches the program of a case's pieces, in addition to its own.
  std::function<Result<LaunchResult>(const LaunchRequest&)> launch;
  /// Returns the text of the evaluation of a case (by index) that should have given a reference.
  std::function<std::string(std::size_t)> text_of;
};

/// Holds what an evaluation launch of a case brought back against each reference that was asked
/// for, and stores what came of it with the attempt: metrics, tables, attribution, notes. A
/// reference that could not be made, or none at all, leaves the case `not_checked`.
/// Returns why something could not be judged, as a damaged file; empty: all was. Errors: those of
/// the store, kInvalidArgument (tolerance).
Result<std::string> evaluate_case(const EvaluationScene& scene, std::size_t cell,
                                  const LaunchResult& result, const std::string& attempt);

}  // namespace assay
