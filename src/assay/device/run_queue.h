#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace assay {

/// How long this process's threads have been ready to run without a processor since they began,
/// nanoseconds, summed over the threads that live now: the difference of two readings tells how
/// much other work delayed it. nullopt where the kernel does not count (without CONFIG_SCHED_INFO).
/// `root`: where /proc is found. About 10 us a thread.
/// Source: second field of /proc/self/task/*/schedstat, Linux
/// Documentation/scheduler/sched-stats.rst.
std::optional<std::int64_t> read_run_queue_wait_ns(const std::filesystem::path& root = "/");

}  // namespace assay
