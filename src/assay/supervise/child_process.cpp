#include "assay/supervise/child_process.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string>
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
#include "assay/supervise/child_environment.h"

namespace assay {
namespace {

enum class Step : std::uint8_t { kExec, kAffinity, kFolder, kSandbox };

/// Message of a child that gives up; a successful exec closes the pipe instead.
struct StartFailure {
  Step step = Step::kExec;
  int cause = 0;
};

std::map<std::string, std::string> variables_for(const SpawnRequest& request,
                                                 const ChildPlace& place) {
  auto variables = request.env;
  if (!place.folder.empty()) {
    variables.emplace("TMPDIR", place.folder);
  }
  const auto own = child_environment();
  if (place.sandbox != nullptr) {
    // Caches go where it may write; packages of the user are found where they were.
    variables.emplace("HOME", place.folder);
    variables.emplace("XDG_CACHE_HOME", place.folder);
    if (const auto home = own.find("HOME"); home != own.end()) {
      variables.emplace("PYTHONUSERBASE", home->second + "/.local");
    }
  }
  variables.insert(own.begin(), own.end());
  return variables;
}

/// Those that the process may run on.
int allowed_processors(const SpawnRequest& request) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (!request.cpus.empty()) {
    return static_cast<int>(request.cpus.size());
  }
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0
             ? CPU_COUNT(&allowed)
             : static_cast<int>(::sysconf(_SC_NPROCESSORS_CONF));
}

/// All that the child needs, made before the fork: behind it, nothing may allocate.
class ChildPlan {
 public:
  ChildPlan(const SpawnRequest& request, const ChildPlace& place)
      : argv_(request.argv),
        folder_(place.folder),
        sandbox_(place.sandbox),
        adopts_orphans_(place.adopts_orphans) {
    if (argv_[0].find('/') != std::string::npos) {
      argv_[0] = std::filesystem::absolute(argv_[0]).string();  // It starts in another folder.
    }
    for (const auto& [name, value] : variables_for(request, place)) {
      env_.push_back(fmt::format("{}={}", name, value));
    }
    argv_pointers_ = pointers_to(argv_);
    env_pointers_ = pointers_to(env_);
    CPU_ZERO(&cpus_);
    for (const int cpu : request.cpus) {
      CPU_SET(static_cast<std::size_t>(cpu), &cpus_);
    }
    has_cpus_ = !request.cpus.empty();
    processor_seconds_ =
        assay::processor_seconds(request.limits.wall_ns, allowed_processors(request));
  }

  [[nodiscard]] bool has_cpus() const { return has_cpus_; }
  [[nodiscard]] const cpu_set_t& cpus() const { return cpus_; }
  /// Returns false if it fails; errno says why.
  [[nodiscard]] bool enter_folder() const {
    return folder_.empty() || ::chdir(folder_.c_str()) == 0;
  }
  [[nodiscard]] bool adopts_orphans() const { return adopts_orphans_; }
  [[nodiscard]] bool keeps_descriptors() const {
    return sandbox_ != nullptr && sandbox_->keeps_files();
  }
  /// 0, or why not.
  [[nodiscard]] int enter_sandbox() const { return sandbox_ == nullptr ? 0 : sandbox_->enter(); }
  [[nodiscard]] std::uint64_t processor_seconds() const { return processor_seconds_; }
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
  std::string folder_;
  const Sandbox* sandbox_;
  bool adopts_orphans_ = false;
  cpu_set_t cpus_{};
  bool has_cpus_ = false;
  std::uint64_t processor_seconds_ = 0;
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

/// Lowers a limit; one that is lower stays.
void lower_limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) == 0) {
    limit.rlim_max = std::min(limit.rlim_max, value);
    limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
    ::setrlimit(resource, &limit);
  }
}

/// Far above the need of any engine: a bound for one that runs wild.
void set_limits(std::uint64_t processor_seconds) {
  constexpr rlim_t kFileBytes = rlim_t{64} << 30;
  constexpr rlim_t kFiles = 1 << 16;
  constexpr rlim_t kTasksOfUser = 1 << 15;
  lower_limit(RLIMIT_CORE, 0);
  lower_limit(RLIMIT_FSIZE, kFileBytes);
  lower_limit(RLIMIT_NOFILE, kFiles);
  lower_limit(RLIMIT_NPROC, kTasksOfUser);
  if (processor_seconds > 0) {
    lower_limit(RLIMIT_CPU, processor_seconds);
  }
}

/// The step that fails, if one does; only returns then.
Step prepare_and_execute(const ChildPlan& plan) {
  if (plan.has_cpus() && ::sched_setaffinity(0, sizeof(cpu_set_t), &plan.cpus()) != 0) {
    return Step::kAffinity;
  }
  if (!plan.enter_folder()) {
    return Step::kFolder;
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (const int cause = plan.enter_sandbox(); cause != 0) {
    errno = cause;
    return Step::kSandbox;
  }
  plan.execute();
  return Step::kExec;
}

/// Applies the limits of any program, whatever its streams, and executes it. Returns the step that
/// fails.
StartFailure execute_limited(const ChildPlan& plan) {
  reset_signals();
  set_limits(plan.processor_seconds());
  volunteer_for_oom_killer();
  if (!plan.keeps_descriptors()) {
    close_on_exec_from(STDERR_FILENO + 1);
  }
  const auto step = prepare_and_execute(plan);
  return {.step = step, .cause = errno};
}

/// Runs between fork and exec: system calls only.
[[noreturn]] void become_child(const ChildPlan& plan, const ChildPipes& pipes, pid_t parent) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(EXIT_FAILURE);
  }
  if (plan.adopts_orphans()) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  }
  put_stream(pipes.in.read_end.get(), STDIN_FILENO);
  put_stream(pipes.out.write_end.get(), STDOUT_FILENO);
  put_stream(pipes.err.write_end.get(), STDERR_FILENO);
  const auto failure = execute_limited(plan);
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
  if (failure.step == Step::kFolder || failure.step == Step::kSandbox) {
    return fail(
        ErrorCode::kUnavailable,
        fmt::format("cannot enter the {}: {}",
                    failure.step == Step::kFolder ? "private folder of a launch"
                                                  : "sandbox; take --sandbox=off to run without",
                    why));
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

Result<ChildProcess> start_child(const SpawnRequest& request, const ChildPlace& place) {
  ASSAY_RETURN_IF_ERROR(check_request(request));
  const ChildPlan plan(request, place);
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
                fmt::format("cannot start a process: {}; end other processes or containers of this "
                            "machine, or raise their limit (ulimit -u)",
                            text_from_errno(errno)));
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

Error become_program(const SpawnRequest& request, const ChildPlace& place) {
  if (const auto checked = check_request(request); !checked) {
    return checked.error();
  }
  const ChildPlan plan(request, place);
  ::setsid();  // Where it fails, this process leads a session already.
  return failure_of_start(execute_limited(plan), request).error();
}

std::uint64_t processor_seconds(std::int64_t wall_ns, int processors) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  constexpr std::uint64_t kReserve = 2;
  constexpr std::uint64_t kLeast = 10;
  if (wall_ns <= 0) {
    return 0;
  }
  const auto wall_seconds = static_cast<std::uint64_t>(wall_ns / kNsPerSecond) + 1;
  return kReserve * wall_seconds * static_cast<std::uint64_t>(std::max(processors, 1)) + kLeast;
}

}  // namespace assay
