#include "assay/supervise/sandbox_view.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "assay/base/user_home.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

// Newer than the headers of some systems: <linux/mount.h>, which does not go with <sys/mount.h>.
constexpr int kOpenTree = 428;
constexpr int kMoveMount = 429;
constexpr int kMountSetattr = 442;
constexpr unsigned kTreeClone = 1;
constexpr unsigned kTreeCloseOnExec = O_CLOEXEC;
constexpr unsigned kMoveFromDescriptor = 4;
constexpr unsigned kRecursive = 0x8000;
constexpr std::uint64_t kReadOnly = 1;
constexpr unsigned long kQuiet = MS_NOSUID | MS_NODEV;
constexpr mode_t kFolderMode = 0755;

struct MountAttributes {
  std::uint64_t set = 0;
  std::uint64_t cleared = 0;
  std::uint64_t propagation = 0;
  std::uint64_t user_namespace = 0;
};

int set_attributes(int tree, const char* path, unsigned flags, const MountAttributes& attributes) {
  return static_cast<int>(
      ::syscall(kMountSetattr, tree, path, flags, &attributes, sizeof(attributes)));
}

/// True if the path is strictly below the folder; both whole and without links.
bool is_strictly_below(const std::string& path, const std::string& folder) {
  return !folder.empty() && path.size() > folder.size() + 1 && path.starts_with(folder) &&
         path[folder.size()] == '/';
}

/// Makes what is missing of a path behind its first `known` characters.
bool make_mount_point(const std::string& path, std::size_t known, bool is_folder) {
  std::array<char, PATH_MAX> text{};
  if (path.size() >= text.size()) {
    errno = ENAMETOOLONG;
    return false;
  }
  std::memcpy(text.data(), path.c_str(), path.size());
  for (std::size_t at = known + 1; at <= path.size(); ++at) {
    const bool is_end = at == path.size();
    if (!is_end && text[at] != '/') {
      continue;
    }
    text[at] = '\0';
    if (is_end && !is_folder) {
      const int file = ::open(text.data(), O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR);
      ::close(file);
    } else {
      ::mkdir(text.data(), kFolderMode);
    }
    text[at] = is_end ? '\0' : '/';
  }
  return ::access(text.data(), F_OK) == 0;
}

/// Mounts the path on itself, as it was in the file system that `memory` has and that is hidden
/// now. What cannot be opened stays away, and what is read-only outside stays so.
bool show(const ShownPath& shown, const SandboxView& view, int memory) {
  const bool is_hidden = is_strictly_below(shown.path, view.shared_memory);
  const char* const path = shown.path.c_str();
  const int place = is_hidden ? ::openat(memory, path + view.shared_memory.size() + 1,
                                         O_PATH | O_CLOEXEC | O_NOFOLLOW)
                              : ::open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (place < 0) {
    return true;
  }
  const int tree = static_cast<int>(
      ::syscall(kOpenTree, place, "", kTreeClone | kTreeCloseOnExec | AT_EMPTY_PATH | kRecursive));
  if (tree >= 0 && shown.is_writable) {
    set_attributes(tree, "", AT_EMPTY_PATH, {.cleared = kReadOnly});
  }
  const bool is_shown =
      tree >= 0 &&
      (!is_hidden || make_mount_point(shown.path, view.shared_memory.size(), shown.is_folder)) &&
      ::syscall(kMoveMount, tree, "", AT_FDCWD, path, kMoveFromDescriptor) == 0;
  const int cause = errno;
  ::close(tree);
  ::close(place);
  errno = cause;
  return is_shown;
}

bool show_all(const SandboxView& view, int memory) {
  return !view.is_read_only || std::ranges::all_of(view.shown, [&](const ShownPath& shown) {
    return show(shown, view, memory);
  });
}

bool mount_memory(const SandboxView& view) {
  return view.shared_memory.empty() || ::mount("tmpfs", view.shared_memory.c_str(), "tmpfs", kQuiet,
                                               "size=512m,nr_inodes=4096,mode=1777") == 0;
}

bool mount_folder(const SandboxView& view) {
  if (is_strictly_below(view.folder, view.shared_memory) &&
      !make_mount_point(view.folder, view.shared_memory.size(), true)) {
    return false;
  }
  return ::mount("tmpfs", view.folder.c_str(), "tmpfs", kQuiet,
                 "size=2g,nr_inodes=65536,mode=700") == 0;
}

/// A bomb of processes ends there.
void limit_processes() {
  constexpr char kMostProcesses[] = "4096";
  const int file = ::open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC);
  [[maybe_unused]] const auto written = ::write(file, kMostProcesses, sizeof(kMostProcesses) - 1);
  ::close(file);
}

std::string resolved_path(const std::string& path) {
  std::error_code error;
  return std::filesystem::canonical(path, error).string();
}

class ShownPaths {
 public:
  explicit ShownPaths(const std::string& shared_memory) : shared_memory_(shared_memory) {}

  void add(const std::string& path, bool is_writable) {
    std::error_code error;
    const auto resolved = resolved_path(path);
    const bool is_folder = std::filesystem::is_directory(resolved, error);
    if (resolved.empty() || !is_opened_as_a_whole(resolved) ||
        (!is_writable && !is_strictly_below(resolved, shared_memory_))) {
      return;
    }
    paths_.push_back({.path = resolved, .is_folder = is_folder, .is_writable = is_writable});
  }

  /// Leaves out files of folders that are shown as a whole.
  std::vector<ShownPath> take() {
    std::ranges::sort(paths_, [](const ShownPath& a, const ShownPath& b) {
      return a.path != b.path ? a.path < b.path : a.is_writable && !b.is_writable;
    });
    std::vector<ShownPath> kept;
    for (auto& one : paths_) {
      const auto shows = [&one](const ShownPath& other) {
        return (other.path == one.path || is_strictly_below(one.path, other.path)) &&
               (other.is_writable || !one.is_writable);
      };
      if (std::ranges::none_of(kept, shows)) {
        kept.push_back(std::move(one));
      }
    }
    return kept;
  }

 private:
  std::string shared_memory_;
  std::vector<ShownPath> paths_;
};

}  // namespace

SandboxView view_of_request(const SandboxRequest& request, const std::string& folder) {
  SandboxView view{.folder = resolved_path(folder), .shared_memory = resolved_path("/dev/shm")};
  ShownPaths paths(view.shared_memory);
  for (const auto& path : request.readable) {
    paths.add(path, false);
  }
  for (const auto& path : request.writable) {
    paths.add(path, true);
  }
  view.shown = paths.take();
  view.limits_processes = has_own_pid_max();
  return view;
}

int mount_own_processes() {
  constexpr unsigned long kFlags = kQuiet | MS_NOEXEC;
  const bool is_mounted = ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("proc", "/proc", "proc", kFlags, nullptr) == 0;
  return is_mounted ? 0 : errno;
}

int mount_view(const SandboxView& view) {
  if (const int cause = mount_own_processes(); cause != 0) {
    return cause;
  }
  if (view.limits_processes) {
    limit_processes();
  }
  const int memory =
      view.shared_memory.empty() ? -1 : ::open(view.shared_memory.c_str(), O_PATH | O_CLOEXEC);
  const bool is_mounted =
      (!view.is_read_only || set_attributes(AT_FDCWD, "/", kRecursive, {.set = kReadOnly}) == 0) &&
      mount_memory(view) && show_all(view, memory) && mount_folder(view);
  const int cause = errno;
  ::close(memory);
  return is_mounted ? 0 : cause;
}

bool has_own_pid_max(const std::string& release) {
  constexpr int kMajor = 6;
  constexpr int kMinor = 14;
  char* rest = nullptr;
  const long major = std::strtol(release.c_str(), &rest, 10);
  if (rest == release.c_str() || *rest != '.') {
    return false;
  }
  const long minor = std::strtol(rest + 1, nullptr, 10);
  return major > kMajor || (major == kMajor && minor >= kMinor);
}

bool has_own_pid_max() {
  utsname names{};
  return ::uname(&names) == 0 && has_own_pid_max(names.release);
}

}  // namespace assay
