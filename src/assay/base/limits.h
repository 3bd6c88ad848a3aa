#pragma once

#include <string>

#include "assay/base/result.h"

namespace assay {

/// The system's words for `cause`, an errno, and the limit of this process that it may come from:
/// "Too many open files; this process may open 20 files (ulimit -n): raise that limit".
std::string text_from_errno(int cause);

/// The second half of that text, from its semicolon on; empty where no limit may be behind `cause`.
std::string hint_at_limits(int cause);

/// True if a limit of this process (ulimit) may be behind an errno.
bool is_limited(int cause);

/// kExhausted when files, processes, memory or the disk ran out, kNotFound for ENOENT, else
/// kUnavailable.
ErrorCode code_from_errno(int cause);

}  // namespace assay
