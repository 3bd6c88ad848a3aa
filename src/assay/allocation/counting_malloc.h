#pragma once

#include <optional>
#include <span>
#include <string>

#include "assay/device/malloc_reader.h"
#include "assay/device/memory_parts.h"
#include "assay/record/launch.h"

namespace assay {

/// A program that calls one of these has malloc, free and their kin replaced by ones that forward
/// to glibc's and, while counting, keep what is live by its usable size. Off, a call costs one load
/// and one branch more. Counting starts before main where the environment has
/// ASSAY_COUNT_ALLOCATIONS=1 (wire/runner_environment.h), so that no block is older than the count
/// (a preloaded library counts from its first call); it never ends. mmap is not malloc: what an
/// engine maps itself shows in /proc/self/smaps only.

/// Why malloc is not counted, and what to do; empty if it is.
std::string allocation_counting_unavailable();

/// Absent where malloc is not counted. Allocates nothing; any thread.
std::optional<AllocationCounts> read_allocation_counts();

/// The live blocks of 64 KiB and more, 4096 at most, in no order. The view is of static memory,
/// until the next call; one thread only. Allocates nothing. A block that another thread frees
/// meanwhile may be among them.
std::span<const MallocBlock> read_large_blocks();

/// All three of the above.
MallocReader counted_malloc();

}  // namespace assay
