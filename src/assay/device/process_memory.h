#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/device/memory_parts.h"
#include "assay/record/launch.h"

namespace assay {

/// Memory of this process now, under `stage_name`: the resident set with its parts from
/// /proc/self/smaps, proportional and private dirty bytes from smaps_rollup, the peak from status,
/// faults from getrusage. `malloc` null: nothing is known of it. `program_files` by absolute path.
/// Costs 0.2 to 3 ms with the number of mappings and pages: never while something is timed.
/// Errors: kUnavailable where /proc does not tell.
Result<MemoryStage> read_process_memory(std::string_view stage_name,
                                        const MallocState* malloc = nullptr,
                                        std::span<const std::string> program_files = {});

/// Reads the totals from smaps_rollup alone, without parts, in 20 us to 1 ms. Errors: kUnavailable.
Result<MemoryStage> read_process_memory_totals(std::string_view stage_name);

/// Without the parts, from the text of smaps_rollup and status; faults stay 0.
Result<MemoryStage> memory_stage_from_text(std::string_view smaps_rollup, std::string_view status);

/// Private dirty bytes alone, at a third of the cost. Errors: kUnavailable.
Result<std::int64_t> read_private_dirty_bytes();

/// Threads of this process, as the kernel counts them. Errors: kUnavailable.
Result<int> count_process_threads();

}  // namespace assay
