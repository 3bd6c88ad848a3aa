#pragma once

#include <string>

namespace assay::et {

/// Takes over the runtime's log: lines of errors are kept for the next take_error_log() and go to
/// stderr; chattier lines go to stderr only when ASSAY_DEBUG is set. Idempotent; call it before
/// anything else of the runtime.
void capture_runtime_log();

/// The error lines since the last call, at most the last six, joined by "; "; empty if none.
/// Thread-safe.
std::string take_error_log();

}  // namespace assay::et
