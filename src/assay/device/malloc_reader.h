#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "assay/device/memory_parts.h"
#include "assay/record/launch.h"

namespace assay {

/// How a process that counts what malloc hands out is read. One that does not count has no
/// functions and says why.
struct MallocReader {
  /// Absent where malloc is not counted in this very process. Allocates nothing; any thread.
  std::function<std::optional<AllocationCounts>()> read_counts;
  /// The live blocks whose pages are worth asking for, until the next call.
  std::function<std::span<const MallocBlock>()> read_large_blocks;
  std::string unavailable;  ///< Why malloc is not counted, and what to do; empty if it is.
};

}  // namespace assay
