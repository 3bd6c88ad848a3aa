#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/remote/address.h"

namespace assay {

/// An error that says what to do, out of how ssh or adb ended and what it wrote to its standard
/// error. `exit_code`: of the process here; 255 is ssh's own, 126 and 127 are the shell's there.
/// Errors of the device's own programs are shown unchanged.
Error error_from_failure(const DeviceAddress& address, int exit_code, std::string_view words);

}  // namespace assay
