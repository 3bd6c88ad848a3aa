#pragma once

#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/launch.h"

namespace assay {

/// Memory of this process now, under `stage_name`: resident, proportional and private dirty bytes
/// from /proc/self/smaps_rollup, the peak from /proc/self/status, faults from getrusage.
/// Costs 20 us to 1 ms with the number of mapped pages: never while something is timed.
/// Errors: kUnavailable where /proc does not tell.
Result<MemoryStage> read_process_memory(std::string_view stage_name);

/// The same from the text of the two files; faults stay 0.
Result<MemoryStage> memory_stage_from_text(std::string_view smaps_rollup, std::string_view status);

/// Threads of this process, as the kernel counts them. Errors: kUnavailable.
Result<int> count_process_threads();

}  // namespace assay
