#include "assay/base/subprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <expected>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <stdlib.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/limits.h"
#include "assay/base/output.h"
#include "assay/base/pipe.h"
#include "assay/base/result.h"

namespace assay {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

/// The child's ends.
struct ChildEnds {
  int in;
  int out;
  int err;  ///< -1: the parent's.
  int report;
};

/// How the child differs from its parent. False, with errno: it cannot.
bool enter_place(const Subprocess::Options& options) {
  if (options.leads_group && ::setpgid(0, 0) != 0) {
    return false;
  }
  if (options.niceness != 0) {
    ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + options.niceness);
  }
  for (const int file : options.kept) {
    ::fcntl(file, F_SETFD, 0);
  }
  return options.folder.empty() || ::chdir(options.folder.c_str()) == 0;
}

/// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void execute_child(char* const* argv, char* const* env, const ChildEnds& ends,
                                const Subprocess::Options& options, int parent) {
  // Its parent is the thread that forks: one that ends before the process does starts only what it
  // waits for. Each of the others starts its children in the thread that lives as long as they do.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {  // It died before the signal was asked for.
    ::_exit(127);
  }
  ::signal(SIGPIPE, SIG_DFL);  // An ignored signal stays ignored across exec.
  ::signal(SIGXFSZ, SIG_DFL);
  put_stream(ends.in, STDIN_FILENO);
  put_stream(ends.out, STDOUT_FILENO);
  if (ends.err >= 0) {
    put_stream(ends.err, STDERR_FILENO);
  }
  if (enter_place(options)) {
    ::execvpe(argv[0], argv, env);
  }
  const int cause = errno;
  [[maybe_unused]] const auto told = ::write(ends.report, &cause, sizeof cause);
  ::_exit(127);
}

std::vector<std::string> merged_environment(const Subprocess::Options& options) {
  const auto& added = options.env;
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr && !options.has_only_env; ++entry) {
    const std::string_view text(*entry);
    if (!added.contains(std::string(text.substr(0, text.find('='))))) {
      merged.emplace_back(text);
    }
  }
  for (const auto& [name, value] : added) {
    merged.push_back(fmt::format("{}={}", name, value));
  }
  return merged;
}

FileDescriptor open_output(const std::string& file) {
  return FileDescriptor(
      file.empty() ? -1 : ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
}

/// Closed where the file's name is empty: stdin is the pipe then.
Result<FileDescriptor> open_input(const std::string& file) {
  FileDescriptor input(file.empty() ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.empty() && !input.is_open()) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot read '{}': {}", file, text_from_errno(errno)));
  }
  return input;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::unexpected<Error> fail_to_run(std::string_view program, int cause) {
  const auto code = code_from_errno(cause);
  return fail(code == ErrorCode::kExhausted ? code : ErrorCode::kNotFound,
              fmt::format("cannot run '{}': {}", program, text_from_errno(cause)));
}

}  // namespace

Result<Subprocess> Subprocess::start(const Options& options) {
  ignore_signals_of_writes();
  ASSAY_ASSIGN_OR_RETURN(Pipe in, Pipe::make());
  ASSAY_ASSIGN_OR_RETURN(Pipe out, Pipe::make());
  ASSAY_ASSIGN_OR_RETURN(Pipe report, Pipe::make());
  ASSAY_ASSIGN_OR_RETURN(const auto in_file, open_input(options.stdin_file));
  const auto err = open_output(options.stderr_file);
  const auto out_file = open_output(options.stdout_file);
  auto argv_texts = options.argv;
  auto env_texts = merged_environment(options);
  const auto argv = pointers_to(argv_texts);
  const auto env = pointers_to(env_texts);

  Subprocess process;
  process.leads_group_ = options.leads_group;
  const pid_t parent = ::getpid();  // NOLINT(misc-include-cleaner)
  process.pid_ = ::fork();
  if (process.pid_ == 0) {
    execute_child(argv.data(), env.data(),
                  {.in = in_file.is_open() ? in_file.get() : in.read_end.get(),
                   .out = out_file.is_open() ? out_file.get() : out.write_end.get(),
                   .err = err.get(),
                   .report = report.write_end.get()},
                  options, parent);
  }
  if (process.pid_ < 0) {
    return fail_to_run(options.argv.front(), errno);
  }
  report.write_end.close();
  int cause = 0;
  if (::read(report.read_end.get(), &cause, sizeof cause) == sizeof cause) {
    return fail_to_run(options.argv.front(), cause);
  }
  process.stdin_ = std::move(in.write_end);
  process.stdout_ = std::move(out.read_end);
  process.ended_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  return process;
}

Subprocess::Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(leads_group_, other.leads_group_);
  std::swap(signal_, other.signal_);
  std::swap(stdin_, other.stdin_);
  std::swap(stdout_, other.stdout_);
  std::swap(ended_, other.ended_);
  std::swap(is_at_end_, other.is_at_end_);
  std::swap(buffer_, other.buffer_);
  std::swap(searched_, other.searched_);
  return *this;
}

Subprocess::~Subprocess() {
  stdin_.close();
  stdout_.close();
  if (pid_ > 0) {
    kill(SIGKILL);
    kill_group(SIGKILL);
    wait();
  }
}

Status Subprocess::write(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(stdin_.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return fail(ErrorCode::kCrashed, "the process no longer reads its input");
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return {};
}

void Subprocess::close_stdin() { stdin_.close(); }

Subprocess::Readiness Subprocess::wait_for_output(std::chrono::milliseconds timeout) const {
  std::array<pollfd, 2> files = {pollfd{.fd = stdout_.get(), .events = POLLIN, .revents = 0},
                                 pollfd{.fd = ended_.get(), .events = POLLIN, .revents = 0}};
  int ready = ::poll(files.data(), files.size(), static_cast<int>(timeout.count()));
  if (ready > 0 && files.front().revents == 0) {
    // It has ended since stdout was looked at, perhaps with a last word.
    ready = ::poll(files.data(), 1, 0);
    return ready > 0 ? Readiness::kOutput : Readiness::kEnd;
  }
  if (ready < 0 && errno != EINTR) {
    return Readiness::kError;
  }
  // After a signal, the caller looks at what it asks for.
  return ready > 0 ? Readiness::kOutput : Readiness::kNothing;
}

/// The last line may lack its end.
std::optional<std::string> Subprocess::finish() {
  is_at_end_ = true;
  searched_ = 0;
  return buffer_.empty() ? std::nullopt : std::optional(std::exchange(buffer_, {}));
}

Result<std::optional<std::string>> Subprocess::read_line(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (const auto end = buffer_.find('\n', searched_); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = buffer_.size();
    if (searched_ > kMaxLineBytes) {
      return fail(ErrorCode::kCorrupt,
                  "the process prints a line that does not end; at most 64 MiB "
                  "are read");
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    const auto ready = wait_for_output(std::max(left, std::chrono::milliseconds(0)));
    if (ready == Readiness::kNothing) {
      return std::nullopt;
    }
    if (ready == Readiness::kError) {
      return fail(ErrorCode::kInternal, fmt::format("poll: {}", std::strerror(errno)));
    }
    if (ready == Readiness::kEnd) {
      return finish();
    }
    std::array<char, 1 << 16> piece{};
    const auto size = ::read(stdout_.get(), piece.data(), piece.size());
    if (size == 0) {
      return finish();
    }
    buffer_.append(piece.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  }
}

void Subprocess::kill(int signal) {
  if (pid_ > 0) {
    ::kill(pid_, signal);
  }
}

void Subprocess::kill_group(int signal) {
  if (pid_ > 0 && leads_group_) {
    ::kill(-pid_, signal);
  }
}

bool Subprocess::has_ended(std::chrono::milliseconds timeout) const {
  using Clock = std::chrono::steady_clock;
  // Without a descriptor of the process, as under valgrind, its end is asked for again and again.
  const auto step = ended_.is_open() ? timeout : std::min(timeout, std::chrono::milliseconds(5));
  const auto until = Clock::now() + timeout;
  while (true) {
    pollfd file{.fd = ended_.get(), .events = POLLIN, .revents = 0};
    ::poll(&file, 1, static_cast<int>(step.count()));
    siginfo_t ended{};
    constexpr int kLook = WEXITED | WNOHANG | WNOWAIT;
    if (::waitid(P_PID, static_cast<id_t>(pid_), &ended, kLook) == 0 && ended.si_pid != 0) {
      return true;
    }
    if (Clock::now() >= until) {
      return false;
    }
  }
}

int Subprocess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  signal_ = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return signal_ == 0 ? WEXITSTATUS(status) : 128 + signal_;
}

Result<CommandOutput> run_command(const Subprocess::Options& options,
                                  std::chrono::milliseconds timeout) {
  ASSAY_ASSIGN_OR_RETURN(auto process, Subprocess::start(options));
  process.close_stdin();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const auto time_left = [deadline] {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return std::max(left, std::chrono::milliseconds(0));
  };
  const auto fail_late = [&options, timeout] {
    return fail(ErrorCode::kTimeout,
                fmt::format("'{}' took longer than {} s", fmt::join(options.argv, " "),
                            std::chrono::duration<double>(timeout).count()));
  };
  CommandOutput result;
  while (!process.is_at_end()) {
    const auto left = time_left();
    if (left.count() == 0) {
      return fail_late();
    }
    ASSAY_ASSIGN_OR_RETURN(const auto line, process.read_line(left));
    if (line) {
      result.output.append(*line).push_back('\n');
    }
    if (result.output.size() > kMaxLineBytes) {
      return fail(ErrorCode::kCorrupt, fmt::format("'{}' prints more than the 64 MiB that are read",
                                                   fmt::join(options.argv, " ")));
    }
  }
  // It may have closed its output long before it ends.
  while (!process.has_ended(time_left())) {
    if (time_left().count() == 0) {
      return fail_late();
    }
  }
  result.exit_code = process.wait();
  result.signal = process.signal();
  return result;
}

}  // namespace assay
