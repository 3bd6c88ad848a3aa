#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "assay/base/result.h"
#include "assay/record/launch.h"

namespace assay {

/// How the memory pass reads the process that it runs in. All three are set, or none.
struct MemoryProbe {
  /// Under the stage's name; the files of the loaded program are a part of their own.
  std::function<Result<MemoryStage>(std::string_view stage,
                                    std::span<const std::string> program_files)>
      read_stage;
  /// Absent where malloc is not counted. Allocates nothing.
  std::function<std::optional<AllocationCounts>()> read_allocations;
  std::function<Result<std::int64_t>()> read_private_dirty_bytes;
  std::string allocations_unavailable;  ///< Why malloc is not counted; empty if it is.
};

}  // namespace assay
