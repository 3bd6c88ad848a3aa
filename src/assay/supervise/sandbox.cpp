#include "assay/supervise/sandbox.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/sandbox_abilities.h"
#include "assay/supervise/sandbox_filter.h"

namespace assay {

struct Sandbox::Shared {
  std::atomic<int> status = 0;  ///< Status of the program, as waitpid reports it.
  std::atomic<int> left = 0;    ///< Processes that it left.
};

namespace {

namespace stdfs = std::filesystem;

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

/// In the box; those outside do not count where user namespaces are counted by themselves.
constexpr rlim_t kMostTasks = 4096;
constexpr rlim_t kLargestFileBytes = rlim_t{4} << 30;

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

/// Whether a folder holds the user's home: to allow it would open everything that is private.
bool holds_home(const std::string& path) {
  std::error_code error;
  const auto folder = stdfs::canonical(path, error);
  const char* named = std::getenv("HOME");
  const auto home = stdfs::weakly_canonical(named == nullptr ? "/root" : named, error);
  const auto [end, ignored] = std::ranges::mismatch(folder, home);
  return folder.empty() || end == folder.end();
}

void fill_ruleset(int ruleset, std::uint64_t handled, const SandboxRequest& request) {
  for (const char* path : kSystemPaths) {
    allow(ruleset, path, kReadFolder, handled);
  }
  for (const char* path : kDevices) {
    allow(ruleset, path, kUseDevice | LANDLOCK_ACCESS_FS_READ_DIR, handled);
  }
  for (const auto& path : request.readable) {
    if (!holds_home(path)) {
      allow(ruleset, path.c_str(), kReadFolder, handled);
    }
  }
  for (const auto& path : request.writable) {
    if (!holds_home(path)) {
      allow(ruleset, path.c_str(), handled, handled);
    }
  }
}

/// Reports on a box that keeps the files.
SandboxReport report_without_files(const SandboxAbilities& abilities, SandboxMode mode) {
  SandboxReport report{.mode = mode, .enforced = {}, .missing = {}};
  for (const char* what : {"network", "processes"}) {
    if (abilities.namespaces_error == 0) {
      report.enforced.emplace_back(what);
    } else {
      report.missing.push_back(
          fmt::format("{} (namespaces: {})", what, std::strerror(abilities.namespaces_error)));
    }
  }
  return report;
}

SandboxReport report_from(const SandboxAbilities& abilities, SandboxMode mode) {
  SandboxReport report{.mode = mode, .enforced = {}, .missing = {}};
  const bool has_namespaces = abilities.namespaces_error == 0;
  const bool has_filter = abilities.seccomp_error == 0;
  const auto note = [&report](bool is_enforced, const char* what, std::string why) {
    auto& list = is_enforced ? report.enforced : report.missing;
    list.push_back(is_enforced ? what : fmt::format("{} ({})", what, why));
  };
  const auto why = [](const char* mechanism, int cause) {
    return fmt::format("{}: {}", mechanism, std::strerror(cause));
  };
  note(has_filter || has_namespaces, "network", why("seccomp", abilities.seccomp_error));
  note(abilities.landlock_abi > 0, "filesystem", why("Landlock", abilities.landlock_error));
  note(has_namespaces, "processes", why("namespaces", abilities.namespaces_error));
  note(has_namespaces, "disk space", why("namespaces", abilities.namespaces_error));
  note(has_filter, "system calls", why("seccomp", abilities.seccomp_error));
  return report;
}

/// Ends this process as another one ended.
[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {              // NOLINT(misc-include-cleaner): of sys/wait.h
    ::signal(WTERMSIG(status), SIG_DFL);  // NOLINT(misc-include-cleaner)
    ::kill(::getpid(), WTERMSIG(status));
    ::pause();
  }
  ::_exit(WEXITSTATUS(status));  // NOLINT(misc-include-cleaner)
}

/// A process that only waits holds no pipe open.
void close_everything() { ::syscall(SYS_close_range, 0, UINT_MAX, 0); }

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void limit_box() {
  const rlimit tasks{.rlim_cur = kMostTasks, .rlim_max = kMostTasks};
  const rlimit file{.rlim_cur = kLargestFileBytes, .rlim_max = kLargestFileBytes};
  ::setrlimit(RLIMIT_NPROC, &tasks);
  ::setrlimit(RLIMIT_FSIZE, &file);
}

}  // namespace

Result<SandboxReport> promise_sandbox(SandboxMode mode, bool keeps_files) {
  auto report = keeps_files ? report_without_files(sandbox_abilities(), mode)
                            : report_from(sandbox_abilities(), mode);
  if (mode == SandboxMode::kRequired && !report.missing.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the sandbox is required, but this kernel cannot enforce {}; use "
                            "--sandbox=on to run without it, or another machine",
                            fmt::join(report.missing, ", ")));
  }
  return report;
}

Result<Sandbox> Sandbox::prepare(const SandboxRequest& request, const std::string& folder) {
  const auto& abilities = sandbox_abilities();
  Sandbox sandbox;
  ASSAY_ASSIGN_OR_RETURN(sandbox.report_, promise_sandbox(request.mode, request.keeps_files));
  sandbox.has_namespaces_ = abilities.namespaces_error == 0;
  sandbox.has_seccomp_ = abilities.seccomp_error == 0;
  sandbox.keeps_files_ = request.keeps_files;
  sandbox.folder_ = folder;
  if (abilities.landlock_abi > 0 && !request.keeps_files) {
    sandbox.ruleset_ = make_ruleset(abilities.landlock_abi);
    if (!sandbox.ruleset_.is_open()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot make a ruleset of Landlock: {}", std::strerror(errno)));
    }
    fill_ruleset(sandbox.ruleset_.get(), handled_files(abilities.landlock_abi), request);
  }
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return fail(ErrorCode::kExhausted, "no memory for a sandbox");
  }
  sandbox.shared_ = new (memory) Shared;
  return sandbox;
}

Sandbox::Sandbox(Sandbox&& other) noexcept { *this = std::move(other); }

Sandbox& Sandbox::operator=(Sandbox&& other) noexcept {
  std::swap(ruleset_, other.ruleset_);
  std::swap(has_namespaces_, other.has_namespaces_);
  std::swap(has_seccomp_, other.has_seccomp_);
  std::swap(keeps_files_, other.keeps_files_);
  std::swap(folder_, other.folder_);
  std::swap(shared_, other.shared_);
  std::swap(report_, other.report_);
  return *this;
}

Sandbox::~Sandbox() {
  if (shared_ != nullptr) {
    ::munmap(shared_, sizeof(Shared));
  }
}

int Sandbox::left_processes() const { return shared_ == nullptr ? 0 : shared_->left.load(); }

int Sandbox::enter() const {
  if (has_namespaces_) {
    if (const int cause = enter_namespaces(); cause != 0) {
      return cause;
    }
  }
  if (keeps_files_) {
    return 0;
  }
  limit_box();
  if (::chdir(folder_.c_str()) != 0) {
    return errno;
  }
  if (const int cause = restrict_files(); cause != 0) {
    return cause;
  }
  return has_seccomp_ ? install_sandbox_filter() : 0;
}

/// Three processes: this one outside, which ends as the program does; the init of the box; and the
/// program, in which it returns.
int Sandbox::enter_namespaces() const {
  const pid_t parent = ::getppid();
  if (const int cause = unshare_namespaces(); cause != 0) {
    return cause;
  }
  // The new credentials have cleared it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(EXIT_FAILURE);
  }
  const pid_t init = ::fork();
  if (init < 0) {
    return errno;
  }
  if (init > 0) {
    close_everything();
    const int status = wait_for(init);
    end_as(WIFSIGNALED(status) ? status : shared_->status.load());
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int cause = keeps_files_ ? mount_own_processes() : mount_private_view(folder_.c_str());
  if (cause != 0) {
    return cause;
  }
  const pid_t program = ::fork();
  if (program < 0) {
    return errno;
  }
  if (program > 0) {
    close_everything();
    int status = 0;
    for (pid_t ended = 0; ended != program;) {
      ended = ::waitpid(-1, &status, 0);
    }
    shared_->status = status;
    serve_as_init();
  }
  return 0;
}

/// Ends what the program left behind, and counts it.
void Sandbox::serve_as_init() const {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // NOLINT(misc-include-cleaner)
  }
  ::kill(-1, SIGKILL);
  int left = 0;
  while (::waitpid(-1, nullptr, 0) > 0) {
    ++left;
  }
  shared_->left = left;
  ::_exit(EXIT_SUCCESS);
}

int Sandbox::restrict_files() const {
  if (!ruleset_.is_open()) {
    return 0;
  }
  const auto handled = handled_files(sandbox_abilities().landlock_abi);
  // Mounted anew in the box, and so not to be allowed earlier.
  allow(ruleset_.get(), "/proc", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
        handled);
  if (has_namespaces_) {
    allow(ruleset_.get(), "/dev/shm", handled & ~std::uint64_t{LANDLOCK_ACCESS_FS_EXECUTE},
          handled);
  }
  allow(ruleset_.get(), folder_.c_str(), handled, handled);
  return ::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0) == 0 ? 0 : errno;
}

}  // namespace assay
