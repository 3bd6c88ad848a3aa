#include "assay/supervise/sandbox_abilities.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
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

/// Lines "ID ID COUNT": all IDs that this process can name are themselves in a namespace.
class OwnIds {
 public:
  explicit OwnIds(const char* path) {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    std::array<char, 2048> text{};
    const auto size = ::read(file, text.data(), text.size() - 1);
    ::close(file);
    const char* rest = text.data();
    while (size > 0 && add_line(rest)) {
    }
  }

  [[nodiscard]] bool write(const char* path) const {
    return size_ > 0 && write_text(path, text_.data(), size_);
  }

 private:
  /// Three numbers: the first ID here, where it is outside, and how many.
  bool add_line(const char*& rest) {
    constexpr int kDecimal = 10;
    std::array<unsigned long, 3> numbers{};
    for (auto& number : numbers) {
      char* end = nullptr;
      number = std::strtoul(rest, &end, kDecimal);
      if (end == rest) {
        return false;
      }
      rest = end;
    }
    for (const auto number : {numbers[0], numbers[0], numbers[2]}) {
      append(number);
    }
    text_[size_ - 1] = '\n';
    return true;
  }

  /// The text with a blank behind it.
  void append(unsigned long number) {
    std::array<char, 32> digits{};
    char* const end = digits.data() + digits.size();
    for (const char* at = digits_of(static_cast<unsigned>(number), end); at != end; ++at) {
      text_[size_++] = *at;
    }
    text_[size_++] = ' ';
  }

  std::array<char, 4096> text_{};  ///< The kernel takes no more; each line grows by a number.
  std::size_t size_ = 0;
};

/// "/proc/PID/NAME"; no allocation.
class ProcessFile {
 public:
  ProcessFile(pid_t pid, const char* name) {
    append("/proc/");
    std::array<char, 32> digits{};
    char* const end = digits.data() + digits.size() - 1;
    append(digits_of(static_cast<unsigned>(pid), end));
    append(name);
  }
  [[nodiscard]] const char* path() const { return text_.data(); }

 private:
  void append(const char* text) {
    for (; *text != '\0' && size_ + 1 < text_.size(); ++text) {
      text_[size_++] = *text;
    }
  }

  std::array<char, 64> text_{};
  std::size_t size_ = 0;
};

/// Waits for a child and gives its exit code; EPERM where it was not born or was killed.
int exit_code_of(pid_t child) {
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  // NOLINTNEXTLINE(misc-include-cleaner): the macros are of sys/wait.h
  return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

/// Whoever is root keeps all IDs, and so can read the files of other users in the box. Only a
/// process outside of the namespace may say so: a child from before. False: it was not allowed.
class Outsider {
 public:
  Outsider() : users_("/proc/self/uid_map"), groups_("/proc/self/gid_map") {
    if (::pipe2(go_.data(), O_CLOEXEC) != 0) {
      return;
    }
    const pid_t insider = ::getpid();
    child_ = ::fork();
    if (child_ == 0) {
      ::close(go_[1]);
      char go = 0;
      const bool is_mapped = ::read(go_[0], &go, 1) == 1 &&
                             users_.write(ProcessFile(insider, "/uid_map").path()) &&
                             groups_.write(ProcessFile(insider, "/gid_map").path());
      ::_exit(is_mapped ? 0 : EPERM);
    }
    ::close(go_[0]);
  }
  Outsider(const Outsider&) = delete;
  Outsider& operator=(const Outsider&) = delete;
  ~Outsider() { finish(); }

  bool map_all() {
    const bool is_told = child_ > 0 && ::write(go_[1], "", 1) == 1;
    return finish() && is_told;
  }

 private:
  /// False: it did not do it.
  bool finish() {
    if (child_ <= 0) {
      return false;
    }
    ::close(go_[1]);
    const bool is_done = exit_code_of(child_) == 0;
    child_ = -1;
    return is_done;
  }

  OwnIds users_;
  OwnIds groups_;
  std::array<int, 2> go_{-1, -1};
  pid_t child_ = -1;
};

bool map_oneself(unsigned user, unsigned group) {
  return map_id("/proc/self/uid_map", user) && map_id("/proc/self/gid_map", group);
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
  std::optional<Outsider> outsider;
  if (user == 0) {
    outsider.emplace();
  }
  constexpr int kAll = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET;
  if (::unshare(kAll) != 0) {
    return errno;
  }
  constexpr char kDeny[] = "deny";
  if (!write_text("/proc/self/setgroups", kDeny, sizeof(kDeny) - 1)) {
    return errno;
  }
  const bool has_all = outsider && outsider->map_all();
  return has_all || map_oneself(user, group) ? 0 : errno;
}

}  // namespace assay
