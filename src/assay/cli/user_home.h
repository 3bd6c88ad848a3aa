#pragma once

#include "assay/base/result.h"

namespace assay::cli {

/// Sets HOME to the folder in the user's entry of passwd where the variable names no whole path, as
/// under cron and in containers: store, cache and configuration lie below it. A relative ASSAY_HOME
/// becomes a whole path. Errors: kUnavailable where there is no such folder, and ASSAY_HOME names
/// none either.
Status settle_home();

}  // namespace assay::cli
