#pragma once

#include <string>

#include "assay/record/comparison.h"
#include "assay/record/launch.h"

namespace assay {

/// Faster or slower by what matters.
bool is_change(ComparisonVerdict verdict);

/// Decides a comparison whose pairs are in, and writes its answer as a sentence: a change that was
/// not found again, or one found by a canary that differs from A, is inconclusive.
void settle_verdict(Comparison& comparison);

/// Why a launch that did not complete leaves the comparison without an answer.
std::string text_of_failure(const Comparison& comparison, const Launch& launch);

/// "+2.1 %", with the digits that a small ratio needs.
std::string text_from_ratio(double ratio);

}  // namespace assay
