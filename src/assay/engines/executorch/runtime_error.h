#pragma once

#include <executorch/runtime/core/error.h>
#include <expected>
#include <string_view>

#include "assay/base/result.h"

namespace assay::et {

/// A failure of the runtime as one of ours: "<what>: NotFound (0x20): <its error lines>", with the
/// code in `Error::engine_code`, too.
std::unexpected<Error> fail_with_runtime_error(std::string_view what,
                                               ::executorch::runtime::Error error);

/// Status of a call that returns only a code.
Status status_from(std::string_view what, ::executorch::runtime::Error error);

}  // namespace assay::et
