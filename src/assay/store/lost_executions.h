#pragma once

#include <string_view>
#include <vector>

#include "assay/base/result.h"
#include "assay/record/lost_execution.h"
#include "assay/store/result_store.h"

namespace assay {

/// Errors: the store's; kInvalidArgument for a run that is finished.
Status add_lost_execution(ResultStore& store, std::string_view run, const LostExecution& lost);

/// Returned in the order of adding. A device that was taken for lost and brought its result is left
/// out. Errors: the store's.
Result<std::vector<LostExecution>> lost_executions_of_run(ResultStore& store, std::string_view run);

}  // namespace assay
