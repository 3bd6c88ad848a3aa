#pragma once

#include <cstdint>
#include <filesystem>

namespace assay {

/// Processes that the kernel has killed for want of memory; a number that only grows.
struct OomKills {
  std::int64_t count = 0;  ///< 0 if nothing tells.
  /// Counts those of this process's control group and the groups below it, so of its children;
  /// false: those of the whole machine.
  bool is_of_group = false;
};

/// Counts those of the group where its memory.events (version 2, since Linux 4.13) or
/// memory.oom_control (version 1) has them, else those of /proc/vmstat. `root`: where /proc and
/// /sys are found; tests give a folder of samples.
OomKills count_oom_kills(const std::filesystem::path& root = "/");

/// True if a child that SIGKILL ended was killed for want of memory, by the kills before its start
/// and after its end. Anybody may send that signal, and any process of the machine may have been
/// killed meanwhile: where no group tells, a kill is the child's only if its memory, at its peak,
/// was an eighth of the machine's at least.
bool is_oom_kill(const OomKills& before, const OomKills& after, std::int64_t peak_bytes,
                 std::int64_t machine_bytes);

}  // namespace assay
