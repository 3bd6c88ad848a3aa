#include "assay/supervise/sandbox.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <linux/capability.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/result.h"
#include "assay/record/sandbox.h"
#include "assay/supervise/sandbox_abilities.h"
#include "assay/supervise/sandbox_files.h"
#include "assay/supervise/sandbox_filter.h"
#include "assay/supervise/sandbox_view.h"

namespace assay {

struct Sandbox::Shared {
  std::atomic<int> status = 0;  ///< Status of the program, as waitpid reports it.
  std::atomic<int> left = 0;    ///< Processes that it left.
};

namespace {

/// Limit of processes in the box. Those outside count too, unless user namespaces are counted
/// apart.
constexpr rlim_t kMostTasks = 4096;
constexpr rlim_t kLargestFileBytes = rlim_t{4} << 30;

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
  // Landlock alone leaves a file's mode, owner, times and attributes open.
  note(abilities.landlock_abi > 0 && has_filter, "filesystem",
       abilities.landlock_abi > 0 ? why("seccomp", abilities.seccomp_error)
                                  : why("Landlock", abilities.landlock_error));
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

/// Behind the next exec, whoever is root has no capability but those to read files of others.
void drop_capabilities() {
  constexpr int kHighest = 63;
  for (int one = 0; one <= kHighest; ++one) {
    if (one != CAP_DAC_OVERRIDE && one != CAP_DAC_READ_SEARCH) {
      ::prctl(PR_CAPBSET_DROP, one, 0, 0, 0);
    }
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) == 0) {
    for (auto& set : sets) {
      set.inheritable = 0;
    }
    ::syscall(SYS_capset, &header, sets.data());
  }
}

}  // namespace

Result<SandboxReport> promise_sandbox(SandboxMode mode, bool keeps_files,
                                      const SandboxAbilities& abilities) {
  auto report = keeps_files ? report_without_files(abilities, mode) : report_from(abilities, mode);
  if (mode == SandboxMode::kRequired && !report.missing.empty()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the sandbox is required, but this kernel cannot enforce {}; use "
                            "--sandbox=on to run without it, or another machine",
                            fmt::join(report.missing, ", ")));
  }
  return report;
}

Result<Sandbox> Sandbox::prepare(const SandboxRequest& request, const std::string& folder,
                                 const SandboxAbilities& abilities) {
  Sandbox sandbox;
  ASSAY_ASSIGN_OR_RETURN(sandbox.report_,
                         promise_sandbox(request.mode, request.keeps_files, abilities));
  sandbox.has_namespaces_ = abilities.namespaces_error == 0;
  sandbox.has_seccomp_ = abilities.seccomp_error == 0;
  sandbox.keeps_files_ = request.keeps_files;
  sandbox.view_ = view_of_request(request, folder);
  sandbox.view_.is_read_only = abilities.read_only_error == 0;
  if (abilities.landlock_abi > 0 && !request.keeps_files) {
    sandbox.files_ = SandboxFiles::prepare(abilities.landlock_abi, request);
    if (!sandbox.files_.is_prepared()) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("cannot make a ruleset of Landlock: {}", std::strerror(errno)));
    }
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
  std::swap(files_, other.files_);
  std::swap(view_, other.view_);
  std::swap(has_namespaces_, other.has_namespaces_);
  std::swap(has_seccomp_, other.has_seccomp_);
  std::swap(keeps_files_, other.keeps_files_);
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
  if (::chdir(view_.folder.c_str()) != 0) {
    return errno;
  }
  drop_capabilities();
  if (const int cause = files_.restrict(view_.folder.c_str(), has_namespaces_); cause != 0) {
    return cause;
  }
  const bool guards_files = !has_namespaces_ || !view_.is_read_only;
  return has_seccomp_ ? install_sandbox_filter(guards_files) : 0;
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
  const int cause = keeps_files_ ? mount_own_processes() : mount_view(view_);
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

}  // namespace assay
