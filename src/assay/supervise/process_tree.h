#pragma once

#include <cstdint>

#include <sys/types.h>

namespace assay {

/// Resident bytes of a process and its descendants, pages they share counted for each; 0 for a
/// process that is gone. Descendants are found where the kernel lists them
/// (CONFIG_PROC_CHILDREN). About 20 us a process.
std::int64_t resident_bytes_of_tree(pid_t pid);

/// How many processes the kernel has killed for want of memory since it started; 0 where it does
/// not tell (/proc/vmstat, since Linux 4.13).
std::int64_t count_oom_kills();

}  // namespace assay
