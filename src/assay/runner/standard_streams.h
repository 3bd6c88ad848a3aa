#pragma once

#include "assay/base/result.h"

namespace assay {

/// The descriptors that the wire uses after the standard streams were taken away from libraries.
struct WireDescriptors {
  int read_fd = -1;
  int write_fd = -1;
};

/// Copies stdin and stdout, closed on exec; then points stdin at /dev/null and stdout at stderr.
/// Errors: kUnavailable.
Result<WireDescriptors> take_standard_streams();

/// Opens the files of `--job IN --out OUT`. Errors: kNotFound, kUnavailable.
Result<WireDescriptors> open_job_files(const char* in, const char* out);

}  // namespace assay
