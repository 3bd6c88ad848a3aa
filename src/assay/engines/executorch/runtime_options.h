#pragma once

#include <string>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/engine/engine.h"

namespace assay::et {

/// Options of the ExecuTorch runner. An option that is not given keeps the engine's own default.
std::vector<OptionSchema> option_schema();

/// Sets what holds for the whole process: threads and the options of the XNNPACK backend.
/// Errors: kInvalidArgument; kEngine when the runtime refuses.
Status apply_process_options(const Json& options);

/// Reads back what is in force: every option, and "flush_to_zero" of this thread.
Json effective_options(const Json& requested);

}  // namespace assay::et
