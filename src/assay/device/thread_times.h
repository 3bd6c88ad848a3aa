#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace assay {

/// One thread of this process, since it began.
struct ThreadTimes {
  int id = 0;
  std::int64_t on_cpu_ns = 0;
  std::int64_t waiting_ns = 0;  ///< Ready to run, but without a processor.
};

/// The threads that live now. nullopt if the kernel does not count (without CONFIG_SCHED_INFO).
/// `root`: where /proc is found. About 10 us a thread.
/// Source: /proc/self/task/*/schedstat, Linux Documentation/scheduler/sched-stats.rst.
std::optional<std::vector<ThreadTimes>> read_thread_times(const std::filesystem::path& root = "/");

/// Activity of the threads between two readings.
struct ThreadWork {
  std::int64_t waiting_ns = 0;  ///< Summed: how much other work delayed them.
  std::int64_t busiest_ns = 0;  ///< Time on a processor of the thread that had most of it.
  int busy = 0;                 ///< Threads that had at least a twentieth of that.
};

/// nullopt when a reading is missing, or when a thread ended in between and took its times along.
/// Threads are compared with the busiest one, and not with the clock on the wall, so that other
/// work on the machine does not change their number.
std::optional<ThreadWork> work_between(const std::optional<std::vector<ThreadTimes>>& before,
                                       const std::optional<std::vector<ThreadTimes>>& after);

}  // namespace assay
