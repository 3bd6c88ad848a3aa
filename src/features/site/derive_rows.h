#pragma once

#include "features/site/index_rows.h"

#include "assay/base/result.h"
#include "assay/store/result_store.h"

namespace assay::site {

/// Derives what the index keeps of a run from the store; every number comes from `summary`. Claims
/// the run until the store is closed. A run that cannot be read is a row with its problem.
/// Errors: kUnavailable and kExhausted of the store, which say nothing about the run.
Result<RunRows> derive_rows(ResultStore& store, const RunListing& listing);

}  // namespace assay::site
