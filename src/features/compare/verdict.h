#pragma once

#include <string>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {

/// Faster or slower by what matters.
bool is_change(ComparisonVerdict verdict);

/// Decides a comparison whose pairs are in, and writes its answer as a sentence. Inconclusive,
/// whatever the looks say, are: a canary that differs from A; a `contradiction` (see
/// find_contradiction; empty: none); more than a quarter of the launches unsteady, where the median
/// or the 90th percentile of the steady part decides, unless it is a change of sides that
/// `are_apart` (assay/compare/apart.h); a change that was not found again.
void settle_verdict(Comparison& comparison, const std::string& contradiction,
                    bool are_apart = false);

/// Why a launch that did not complete leaves the comparison without an answer.
std::string text_of_failure(const Comparison& comparison, const Launch& launch);

/// `ratio`, `low` or `high` of an estimate: "+2.1 %", or "+5" in the metric's unit where A is 0.
std::string text_of_change(const PairEstimate& estimate, double ratio);

/// "+2.1 %", with the digits that a small ratio needs.
std::string text_from_ratio(double ratio);

}  // namespace assay
