#pragma once

#include <string_view>

#include "assay/base/result.h"
#include "assay/record/stored_comparison.h"
#include "assay/store/result_store.h"

namespace assay {

/// Compares the timed launches of two runs, each known by id, start of id or "latest". A case is
/// nominated where the rank-sum test says so over all cases together (Benjamini and Hochberg,
/// q = 5 %). Errors: kNotFound; kInvalidArgument when they have no timed case in common.
Result<StoredComparison> compare_stored_runs(ResultStore& store, std::string_view a,
                                             std::string_view b, std::string_view metric);

}  // namespace assay
