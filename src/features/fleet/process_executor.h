#pragma once

#include "features/fleet/executor.h"

#include <filesystem>
#include <memory>
#include <string>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// A scheduler with a client in Python: `python -m assay.fleet.KIND`, which speaks the lines of
/// docs/contracts/fleet.md. `entry`: what the user wrote about the executor. Errors: kUnavailable,
/// with what to install or start.
Result<std::unique_ptr<Executor>> open_process_executor(const std::string& kind, const Json& entry,
                                                        const std::filesystem::path& python);

}  // namespace assay
