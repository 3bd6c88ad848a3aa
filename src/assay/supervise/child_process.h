#pragma once

#include <sys/types.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/record/spawn.h"

namespace assay {

/// A process that was just executed, and our ends of its pipes, which do not block.
struct ChildProcess {
  pid_t pid = -1;
  FileDescriptor exit_fd;  ///< A pidfd, readable when it has ended; none on kernels before 5.3.
  FileDescriptor stdin_fd;
  FileDescriptor stdout_fd;
  FileDescriptor stderr_fd;
};

/// Executes request.argv (found along PATH) in a session of its own, on the requested processors;
/// it dies with the calling thread, is the kernel's first choice when memory runs out, dumps no
/// core, and inherits no descriptor but its three pipes. Returns after the exec.
/// Errors: kNotFound (no such program), kInvalidArgument (no argv, no such processor), kUnavailable
/// (not executable), kExhausted.
Result<ChildProcess> start_child(const SpawnRequest& request);

}  // namespace assay
