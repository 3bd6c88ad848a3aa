#pragma once

#include <string>
#include <vector>

namespace assay::et {

/// Takes over the runtime's log: lines of errors are kept for the next take_error_log() and go to
/// stderr; the same line twice counts once. Chattier lines go to stderr only when ASSAY_DEBUG is
/// set. Idempotent; call it before
/// anything else of the runtime.
void capture_runtime_log();

/// The different error lines since the last call, in order, at most 64 of them. Thread-safe.
std::vector<std::string> take_error_log();

}  // namespace assay::et
