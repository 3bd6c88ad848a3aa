#include "assay/supervise/sandbox_abilities.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/supervise/sandbox_view.h"

namespace assay {
namespace {

/// Decimal digits of a number at the end of `text`; no allocation.
char* digits_of(unsigned number, char* end) {
  do {
    *--end = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  return end;
}

bool write_text(const char* path, const char* text, std::size_t size) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const bool is_written = file >= 0 && ::write(file, text, size) == static_cast<ssize_t>(size);
  const int cause = errno;
  ::close(file);
  errno = cause;
  return is_written;
}

/// "ID ID 1": a user is itself in the namespace, too.
bool map_id(const char* path, unsigned id) {
  std::array<char, 32> text{};
  char* const end = text.data() + text.size();
  char* begin = end;
  *--begin = '1';
  *--begin = ' ';
  begin = digits_of(id, begin);
  *--begin = ' ';
  begin = digits_of(id, begin);
  return write_text(path, begin, static_cast<std::size_t>(end - begin));
}

/// Waits for a child and gives its exit code; EPERM where it was not born or was killed.
int exit_code_of(pid_t child) {
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // NOLINTNEXTLINE(misc-include-cleaner): the macros are of sys/wait.h
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

/// Does in a child all that a box does with namespaces.
int try_namespaces(const SandboxView& view) {
  const pid_t outer = ::fork();
  if (outer == 0) {
    if (const int cause = unshare_namespaces(); cause != 0) {
      ::_exit(cause);
    }
    const pid_t inner = ::fork();
    if (inner == 0) {
      ::_exit(mount_view(view));
    }
    ::_exit(exit_code_of(inner));
  }
  return exit_code_of(outer);
}

SandboxAbilities try_all() {
  SandboxAbilities abilities;
  const auto abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  abilities.landlock_abi = abi > 0 ? static_cast<int>(abi) : 0;
  abilities.landlock_error = abi > 0 ? 0 : errno;
  const std::uint32_t action = SECCOMP_RET_ERRNO;
  abilities.seccomp_error =
      ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0 ? 0 : errno;
  auto view = view_of_request({}, "/tmp");
  abilities.read_only_error = try_namespaces(view);
  abilities.namespaces_error = abilities.read_only_error;
  if (abilities.read_only_error != 0) {
    view.is_read_only = false;
    abilities.namespaces_error = try_namespaces(view);
  }
  return abilities;
}

}  // namespace

const SandboxAbilities& sandbox_abilities() {
  static const SandboxAbilities abilities = try_all();
  return abilities;
}

int unshare_namespaces() {
  const auto user = ::getuid();
  const auto group = ::getgid();
  constexpr int kAll = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET;
  if (::unshare(kAll) != 0) {
    return errno;
  }
  constexpr char kDeny[] = "deny";
  if (!write_text("/proc/self/setgroups", kDeny, sizeof(kDeny) - 1) ||
      !map_id("/proc/self/uid_map", user) || !map_id("/proc/self/gid_map", group)) {
    return errno;
  }
  return 0;
}

}  // namespace assay
