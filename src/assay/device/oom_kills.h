#pragma once

#include <cstdint>

namespace assay {

/// How many processes the kernel has killed for want of memory since it started; 0 where it does
/// not tell (/proc/vmstat, since Linux 4.13).
std::int64_t count_oom_kills();

}  // namespace assay
