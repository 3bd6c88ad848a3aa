#pragma once

#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace assay {

/// Resident bytes of processes and their descendants, pages they share counted for each; 0 for a
/// process that is gone. About 20 us a process.
std::int64_t resident_bytes_of_trees(std::vector<pid_t> roots);

/// Likewise, each page that processes share counted once, a part of it for each of them; as above
/// for a process whose shares the kernel does not tell (/proc/PID/smaps_rollup, since Linux 4.14).
/// About 5 ms a GB.
std::int64_t shared_bytes_of_trees(std::vector<pid_t> roots);

/// Time on the processors.
struct ProcessTimes {
  std::int64_t user_ns = 0;
  std::int64_t system_ns = 0;
};

/// Times of processes, of their descendants, and of those that these have waited for, in steps of
/// 10 ms.
ProcessTimes times_of_trees(std::vector<pid_t> roots);

/// The children of a process, of all its threads. Where the kernel does not list them
/// (CONFIG_PROC_CHILDREN), all processes are asked for their parent, which takes some ms.
std::vector<pid_t> children_of_process(pid_t pid);

/// True if the kernel lists the children of a process.
bool lists_children();

/// The children of a process, found by their parent.
std::vector<pid_t> children_by_parent(pid_t pid);

/// Has this process inherit what its descendants leave behind (PR_SET_CHILD_SUBREAPER), so that
/// LaunchProcesses finds it.
void adopt_orphans();

/// Tells apart what a launch started from the other children of this process, which must have
/// called adopt_orphans(); without, it knows the launch's own process alone.
class LaunchProcesses {
 public:
  /// Before the launch starts: the children that do not belong to it.
  LaunchProcesses();

  /// Its own process and the orphans that it left so far.
  [[nodiscard]] std::vector<pid_t> roots(pid_t own) const;

  /// How many of its processes still run, apart from its own one, and, where `without_group`, from
  /// those in its process group.
  [[nodiscard]] int count_running(pid_t own, bool without_group) const;

  /// Ends and reaps all of them but its own one.
  void end(pid_t own) const;

 private:
  [[nodiscard]] std::vector<pid_t> orphans(pid_t own) const;

  bool adopts_ = false;
  std::vector<pid_t> others_;
};

}  // namespace assay
