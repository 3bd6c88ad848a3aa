#pragma once

#include <vector>

#include "assay/record/comparison.h"
#include "assay/record/summary.h"
#include "assay/summary/case_rows.h"

namespace assay {

/// Comparisons with their pairs at the primary metric, those of a pilot left out. `launches`: of
/// the timing pass of their run. Pure.
std::vector<ComparisonSummary> summarize_comparisons(const std::vector<Comparison>& comparisons,
                                                     const AttemptLaunches& launches);

}  // namespace assay
