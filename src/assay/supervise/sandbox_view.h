#pragma once

#include <string>
#include <vector>

#include "assay/record/sandbox.h"

namespace assay {

/// A path that a process sees as it is outside, while what is around it is hidden or read-only.
struct ShownPath {
  std::string path;  ///< Whole, without links.
  bool is_folder = false;
  bool is_writable = false;
};

/// File systems as a process in namespaces of its own sees them. They are those outside, and
/// nothing can be changed in them, but for a private folder and for shared memory, which exist in
/// memory only, and for what is shown as writable.
struct SandboxView {
  std::string folder;             ///< The private one.
  std::string shared_memory;      ///< /dev/shm without links; empty: there is none.
  std::vector<ShownPath> shown;   ///< No one twice, a folder before what is in it.
  bool is_read_only = true;       ///< Needs mount_setattr(): Linux 5.12.
  bool limits_processes = false;  ///< Where a process namespace has a pid_max of its own.
};

/// The view of a request: shows what is writable, and what is readable below /dev/shm, which is
/// hidden otherwise. A folder that is not opened as a whole is left out.
SandboxView view_of_request(const SandboxRequest& request, const std::string& folder);

/// In the init of new namespaces: mounts its own /proc. Returns 0 or an errno.
int mount_own_processes();

/// In the init of new namespaces: mounts its own /proc, and the view. Without allocation. Returns 0
/// or an errno.
int mount_view(const SandboxView& view);

/// True if a process namespace has a pid_max of its own here: from Linux 6.14 on. Before, whoever
/// is root sets that of the whole machine.
bool has_own_pid_max();

/// Likewise of a kernel of this release, "6.12.3-amd64".
bool has_own_pid_max(const std::string& release);

}  // namespace assay
