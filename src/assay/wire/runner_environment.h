#pragma once

#include <string_view>

/// Environment variables that a host sets for a runner: what must be known before the first frame.
namespace assay::wire {

/// "1": malloc is counted from the start of the process (allocation/counting_malloc.h). For the
/// memory pass only.
inline constexpr std::string_view kCountAllocations = "ASSAY_COUNT_ALLOCATIONS";

}  // namespace assay::wire
