#pragma once

#include <cstdint>
#include <span>

#include "assay/base/result.h"
#include "assay/campaign/run_context.h"
#include "assay/campaign/stopping.h"
#include "assay/record/axes.h"
#include "assay/record/case.h"
#include "assay/record/comparison.h"
#include "assay/store/result_store.h"

namespace assay {

/// How long the launches of a timed case will take, by those of an earlier run: as many as then
/// where the plan decides while it measures, else as many as the plan asks for. 0 without any.
std::int64_t expected_timing_ns(const PastLaunches& past, const LaunchPlan& plan);

/// How long the launches of these passes took of a case, each in the newest run that made it, on
/// one engine build and device; 0: no pass is known.
Result<std::int64_t> last_duration_ns(ResultStore& store, const Case& cell,
                                      std::span<const Pass> passes);

/// How long the passes of a campaign will take of a case, each by the newest run that made it. A
/// pass that no run made counts nothing; 0: no pass is known. Reads the newest launches only.
Result<std::int64_t> expected_duration_ns(ResultStore& store, const Case& cell,
                                          const CampaignSettings& settings);

/// How long the launches of both sides of a comparison will take; 0: a side is not known.
Result<std::int64_t> expected_comparison_ns(ResultStore& store, std::span<const Case> sides,
                                            const ComparisonPlan& plan);

}  // namespace assay
