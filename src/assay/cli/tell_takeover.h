#pragma once

#include "assay/base/result.h"
#include "assay/campaign/takeover.h"
#include "assay/record/run.h"
#include "assay/store/result_store.h"

namespace assay::cli {

/// "--resume" alone: the newest run that is not finished, whoever began it.
inline constexpr const char* kNewestRun = "latest";

/// Tells what is to be known of a run that is taken up. Errors: as check_takeover().
Status tell_takeover(const Run& run, ResultStore& store, const Successor& successor);

}  // namespace assay::cli
