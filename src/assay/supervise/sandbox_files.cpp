#include "assay/supervise/sandbox_files.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/user_home.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

// Newer than the headers of some systems: <linux/landlock.h>.
constexpr std::uint64_t kTruncate = 1ULL << 14;
constexpr std::uint64_t kIoctlDevice = 1ULL << 15;
constexpr std::uint64_t kTcp = 3;
constexpr std::uint64_t kAbstractSocketsAndSignals = 3;

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kReadFolder = kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kUseDevice =
    LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctlDevice;

/// Paths that any program of the system reads. Absent ones are left out.
constexpr auto kSystemPaths = std::to_array<const char*>({
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/sys",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/locale.alias",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/alternatives",
    "/etc/OpenCL",
    "/etc/vulkan",
    "/etc/fonts",
    "/etc/mime.types",
    "/etc/python3",
    "/etc/python3.10",
    "/etc/python3.11",
    "/etc/python3.12",
    "/etc/python3.13",
    "/etc/python3.14",
});
constexpr auto kDevices = std::to_array<const char*>({
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/dri",
    "/dev/kfd",
    "/dev/nvidia0",
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/accel",
});

/// Landlock's own struct, whole; older kernels are told a shorter size.
struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scoped = 0;
};

std::uint64_t handled_files(int abi) {
  constexpr std::uint64_t kFirst = (1ULL << 13) - 1;
  std::uint64_t handled = kFirst;
  handled |= abi >= 2 ? std::uint64_t{LANDLOCK_ACCESS_FS_REFER} : 0;
  handled |= abi >= 3 ? kTruncate : 0;
  handled |= abi >= 5 ? kIoctlDevice : 0;
  return handled;
}

FileDescriptor make_ruleset(int abi) {
  const RulesetAttributes attributes{.files = handled_files(abi),
                                     .network = abi >= 4 ? kTcp : 0,
                                     .scoped = abi >= 6 ? kAbstractSocketsAndSignals : 0};
  const std::size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  return FileDescriptor(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
}

/// Allows a path, and all below it. Async-signal-safe; what is not there is left out.
void allow(int ruleset, const char* path, std::uint64_t access, std::uint64_t handled) {
  const int file = ::open(path, O_PATH | O_CLOEXEC);
  struct stat info{};
  if (file < 0 || ::fstat(file, &info) != 0) {
    ::close(file);
    return;
  }
  constexpr std::uint64_t kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
                                     LANDLOCK_ACCESS_FS_READ_FILE | kTruncate | kIoctlDevice;
  access &= handled & (S_ISDIR(info.st_mode) ? ~std::uint64_t{0} : kOfFiles);
  const landlock_path_beneath_attr rule{.allowed_access = access, .parent_fd = file};
  ::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
  ::close(file);
}

/// All that a program may do in a folder of its own: no devices, which whoever is root outside of
/// user namespaces could make of any disk.
std::uint64_t rights_of_owner(std::uint64_t handled) {
  return handled & ~std::uint64_t{LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK};
}

void fill_ruleset(int ruleset, std::uint64_t handled, const SandboxRequest& request) {
  for (const char* path : kSystemPaths) {
    allow(ruleset, path, kReadFolder, handled);
  }
  for (const char* path : kDevices) {
    allow(ruleset, path, kUseDevice | LANDLOCK_ACCESS_FS_READ_DIR, handled);
  }
  for (const auto& path : request.readable) {
    if (is_opened_as_a_whole(path)) {
      allow(ruleset, path.c_str(), kReadFolder, handled);
    }
  }
  for (const auto& path : request.writable) {
    if (is_opened_as_a_whole(path)) {
      allow(ruleset, path.c_str(), rights_of_owner(handled), handled);
    }
  }
}

}  // namespace

SandboxFiles SandboxFiles::prepare(int landlock_abi, const SandboxRequest& request) {
  SandboxFiles files;
  files.handled_ = handled_files(landlock_abi);
  files.ruleset_ = make_ruleset(landlock_abi);
  if (files.is_prepared()) {
    fill_ruleset(files.ruleset_.get(), files.handled_, request);
  }
  return files;
}

int SandboxFiles::restrict(const char* folder, bool has_view) const {
  if (!is_prepared()) {
    return 0;
  }
  // Mounted anew in the box, and so not to be allowed earlier.
  allow(ruleset_.get(), "/proc", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
        handled_);
  const auto owned = rights_of_owner(handled_);
  if (has_view) {
    allow(ruleset_.get(), "/dev/shm", owned & ~std::uint64_t{LANDLOCK_ACCESS_FS_EXECUTE}, handled_);
  }
  allow(ruleset_.get(), folder, owned, handled_);
  return ::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0) == 0 ? 0 : errno;
}

}  // namespace assay
