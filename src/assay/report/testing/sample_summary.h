#pragma once

#include "assay/record/summary.h"

namespace assay::report {

/// A run that has everything a report must show: a pass at full and at partial delegation, a
/// time budget that ran out, an inconclusive time, a crash with last words, an error ahead of
/// time, a refusal, a vacuous check, a numeric failure with NaN and infinities and a broken gate,
/// very long names and hostile text. The numbers are made up and always the same.
RunSummary sample_summary();

/// A run of `assay compare`: a change that was found and found again, with a metric that was not,
/// replaced and disturbed pairs, a pilot of the pairings.
RunSummary sample_comparison();

/// A run that found nothing to do.
RunSummary empty_summary();

/// A case with two outputs, whose error is given and told by two metrics of opposite directions:
/// how large it is, and how small it is.
RunSummary summary_with_output_errors(double first, double second);

}  // namespace assay::report
