#include "assay/supervise/child_process.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/limits.h"
#include "assay/base/pipe.h"
#include "assay/base/result.h"
#include "assay/record/spawn.h"

namespace assay {
namespace {

enum class Step : std::uint8_t { kExec, kAffinity };

/// What the child tells before it gives up; a successful exec closes the pipe instead.
struct StartFailure {
  Step step = Step::kExec;
  int cause = 0;
};

/// All that the child needs, made before the fork: behind it, nothing may allocate.
class ChildPlan {
 public:
  explicit ChildPlan(const SpawnRequest& request) : argv_(request.argv) {
    auto variables = request.env;
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const auto equals = std::min(text.find('='), text.size());
      variables.try_emplace(std::string(text.substr(0, equals)),
                            text.substr(std::min(equals + 1, text.size())));
    }
    for (const auto& [name, value] : variables) {
      env_.push_back(fmt::format("{}={}", name, value));
    }
    argv_pointers_ = pointers_to(argv_);
    env_pointers_ = pointers_to(env_);
    CPU_ZERO(&cpus_);
    for (const int cpu : request.cpus) {
      CPU_SET(static_cast<std::size_t>(cpu), &cpus_);
    }
    has_cpus_ = !request.cpus.empty();
  }

  [[nodiscard]] bool has_cpus() const { return has_cpus_; }
  [[nodiscard]] const cpu_set_t& cpus() const { return cpus_; }
  void execute() const {
    ::execvpe(argv_pointers_[0], argv_pointers_.data(), env_pointers_.data());
  }

 private:
  static std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (auto& text : texts) {
      pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
  }

  std::vector<std::string> argv_;
  std::vector<std::string> env_;
  std::vector<char*> argv_pointers_;
  std::vector<char*> env_pointers_;
  cpu_set_t cpus_{};
  bool has_cpus_ = false;
};

struct ChildPipes {
  Pipe in;
  Pipe out;
  Pipe err;
  Pipe failure;
};

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void volunteer_for_oom_killer() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  // Where it cannot be written, the kernel's own choice stands.
  [[maybe_unused]] const auto written = ::write(file, "1000", 4);
  ::close(file);
}

void close_on_exec_from(int first) {
  if (::syscall(SYS_close_range, first, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0) {
    return;
  }
  constexpr int kHighest = 4096;
  for (int fd = first; fd < kHighest; ++fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
}

/// Runs between fork and exec: system calls only.
[[noreturn]] void become_child(const ChildPlan& plan, const ChildPipes& pipes, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(EXIT_FAILURE);
  }
  reset_signals();
  ::dup2(pipes.in.read_end.get(), STDIN_FILENO);
  ::dup2(pipes.out.write_end.get(), STDOUT_FILENO);
  ::dup2(pipes.err.write_end.get(), STDERR_FILENO);
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  volunteer_for_oom_killer();
  close_on_exec_from(STDERR_FILENO + 1);
  StartFailure failure;
  if (plan.has_cpus() && ::sched_setaffinity(0, sizeof(cpu_set_t), &plan.cpus()) != 0) {
    failure.step = Step::kAffinity;
  } else {
    plan.execute();
  }
  failure.cause = errno;
  [[maybe_unused]] const auto written =
      ::write(pipes.failure.write_end.get(), &failure, sizeof(failure));
  constexpr int kCannotExecute = 127;
  ::_exit(kCannotExecute);
}

/// Keeps the input's pages out of the child: a process's peak memory, as the kernel counts it,
/// begins with what its parent had at the fork.
class NotForked {
 public:
  explicit NotForked(std::span<const std::byte> bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    const auto first = (begin + page - 1) / page * page;
    const auto last = (begin + bytes.size()) / page * page;
    if (last > first) {
      pages_ = const_cast<std::byte*>(bytes.data()) + (first - begin);
      size_ = last - first;
      ::madvise(pages_, size_, MADV_DONTFORK);
    }
  }
  NotForked(const NotForked&) = delete;
  NotForked& operator=(const NotForked&) = delete;
  ~NotForked() {
    if (size_ > 0) {
      ::madvise(pages_, size_, MADV_DOFORK);
    }
  }

 private:
  std::byte* pages_ = nullptr;
  std::size_t size_ = 0;
};

/// Waits for the exec. Nothing when it succeeded.
std::optional<StartFailure> read_failure(int fd) {
  StartFailure failure;
  ssize_t count = 0;
  do {
    count = ::read(fd, &failure, sizeof(failure));
  } while (count < 0 && errno == EINTR);
  return count == sizeof(failure) ? std::optional(failure) : std::nullopt;
}

std::unexpected<Error> failure_of_start(const StartFailure& failure, const SpawnRequest& request) {
  const auto why = text_from_errno(failure.cause);
  if (failure.step == Step::kAffinity) {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot run on processors {}: {}; name some that exist and are allowed",
                            fmt::join(request.cpus, ","), why));
  }
  if (failure.cause == ENOENT) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no program '{}' (nor its interpreter); give its path, or put it on PATH",
                    request.argv[0]));
  }
  return fail(code_from_errno(failure.cause),
              fmt::format("cannot execute '{}': {}", request.argv[0], why));
}

Status check_request(const SpawnRequest& request) {
  if (request.argv.empty() || request.argv[0].empty()) {
    return fail(ErrorCode::kInvalidArgument, "a process needs a program: argv is empty");
  }
  for (const int cpu : request.cpus) {
    if (cpu < 0 || cpu >= CPU_SETSIZE) {
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} is not the number of a processor", cpu));
    }
  }
  return {};
}

Result<ChildPipes> make_pipes() {
  ChildPipes pipes;
  for (Pipe* pipe : {&pipes.in, &pipes.out, &pipes.err, &pipes.failure}) {
    ASSAY_ASSIGN_OR_RETURN(*pipe, Pipe::make());
  }
  return pipes;
}

FileDescriptor not_blocking(FileDescriptor end) {
  ::fcntl(end.get(), F_SETFL, O_NONBLOCK);
  return end;
}

}  // namespace

Result<ChildProcess> start_child(const SpawnRequest& request) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  const ChildPlan plan(request);
  ASSAY_ASSIGN_OR_RETURN(auto pipes, make_pipes());
  const pid_t parent = ::getpid();
  ChildProcess child;
  {
    const NotForked input_stays(request.input);
    child.pid = ::fork();
    if (child.pid == 0) {
      become_child(plan, pipes, parent);
    }
  }
  if (child.pid < 0) {
    return fail(ErrorCode::kExhausted,
                fmt::format("cannot start a process: {}", text_from_errno(errno)));
  }
  pipes.failure.write_end.close();
  if (const auto failure = read_failure(pipes.failure.read_end.get())) {
    ::waitpid(child.pid, nullptr, 0);
    return failure_of_start(*failure, request);
  }
  child.exit_fd = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
  child.stdin_fd = not_blocking(std::move(pipes.in.write_end));
  child.stdout_fd = not_blocking(std::move(pipes.out.read_end));
  child.stderr_fd = not_blocking(std::move(pipes.err.read_end));
  return child;
}

}  // namespace assay
