#pragma once

#include <vector>

#include "assay/base/result.h"
#include "assay/record/run.h"
#include "assay/record/summary.h"
#include "assay/store/result_store.h"

namespace assay {

/// The comparisons of a run with their pairs at the primary metric, those of a pilot left out.
/// Errors: the store's.
Result<std::vector<ComparisonSummary>> summarize_comparisons(ResultStore& store, const Run& run,
                                                             const std::vector<Attempt>& attempts);

}  // namespace assay
