#pragma once

#include <cstdint>
#include <string>

#include <sys/types.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/record/spawn.h"
#include "assay/supervise/sandbox.h"

namespace assay {

/// Surroundings in which a process runs.
struct ChildPlace {
  std::string folder;                ///< Its current folder and its TMPDIR; empty: the caller's.
  const Sandbox* sandbox = nullptr;  ///< Outlives the start; null: none.
  /// While it runs, what its descendants leave behind comes to it and not to us.
  bool adopts_orphans = false;
};

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
/// core, cannot gain privileges, and inherits no descriptor but its three pipes and no variable but
/// those of child_environment(). Its limits on files, processes and processor time are far above
/// what engines need. Returns after the exec.
/// Errors: kNotFound (no such program), kInvalidArgument (no argv, no such processor), kUnavailable
/// (not executable, or the sandbox cannot be entered), kExhausted.
Result<ChildProcess> start_child(const SpawnRequest& request, const ChildPlace& place = {});

/// Turns the calling process into request.argv, which is started as by start_child, but with the
/// caller's standard streams. Returns only when that fails, and why: the errors of start_child.
Error become_program(const SpawnRequest& request, const ChildPlace& place);

/// Seconds of processor time after which the kernel ends a process: twice what all processors can
/// do within the limit of wall time, and ten. It holds where whoever keeps the limit of wall time
/// is gone. 0: no limit.
std::uint64_t processor_seconds(std::int64_t wall_ns, int processors);

}  // namespace assay
