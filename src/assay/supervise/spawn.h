#pragma once

#include "assay/base/result.h"
#include "assay/record/spawn.h"

namespace assay {

/// Events that end a child early, besides its limits.
struct SpawnCancel {
  int hang_up_fd = -1;   ///< A pipe or socket: cancelled when its other side closes.
  int readable_fd = -1;  ///< Cancelled when there is something to read; it is not read.
};

/// Runs a program to its end and tells how it ended. Feeds it request.input, collects its stdout
/// and the tail of its stderr, keeps its limits, and ends all that it left running at the end: its
/// process group, and in a process that called adopt_orphans() whatever it started. It runs in a
/// private folder, which is removed, and in the sandbox that the request asks for.
/// request.surroundings come first: cool, then page cache, then companions, which work to its end.
/// Conditions are read before and after; while it runs, sensors are read only if
/// request.trace_period_ns says so, and resident memory, every 20 ms, only if there is a limit for
/// it. Blocks; any number of threads may do it at once. Errors: those of start_child and of the
/// surroundings (kUnsupported: no temperature sensor; kTimeout: it stays hot; kUnavailable: a
/// companion does not start); kUnavailable when cancelled. A child that fails in any way is a
/// result.
Result<SpawnResult> spawn_and_wait(const SpawnRequest& request, const SpawnCancel& cancel = {});

}  // namespace assay
