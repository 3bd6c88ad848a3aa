#include "assay/base/subprocess.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
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
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/result.h"

namespace assay {
namespace {

struct Pipe {
  int read_fd = -1;
  int write_fd = -1;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::kExhausted, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  return Pipe{fds[0], fds[1]};
}

/// Runs in the child between fork and exec: only async-signal-safe calls.
[[noreturn]] void execute_child(char* const* argv, char* const* env, int in, int out, int err,
                                int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  if (err >= 0) {
    ::dup2(err, STDERR_FILENO);
  }
  ::execvpe(argv[0], argv, env);
  const int cause = errno;
  [[maybe_unused]] const auto told = ::write(report, &cause, sizeof cause);
  ::_exit(127);
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
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

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (auto& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

void close_fd(int& fd) {
  if (fd >= 0) {
    ::close(fd);
    fd = -1;
  }
}

}  // namespace

Result<Subprocess> Subprocess::start(const Options& options) {
  ::signal(SIGPIPE, SIG_IGN);
  ASSAY_ASSIGN_OR_RETURN(Pipe in, make_pipe());
  ASSAY_ASSIGN_OR_RETURN(Pipe out, make_pipe());
  ASSAY_ASSIGN_OR_RETURN(Pipe report, make_pipe());
  int err = options.stderr_file.empty() ? -1
                                        : ::open(options.stderr_file.c_str(),
                                                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  auto argv_texts = options.argv;
  auto env_texts = merged_environment(options.env);
  const auto argv = pointers_to(argv_texts);
  const auto env = pointers_to(env_texts);

  Subprocess process;
  process.pid_ = ::fork();
  if (process.pid_ == 0) {
    execute_child(argv.data(), env.data(), in.read_fd, out.write_fd, err, report.write_fd);
  }
  close_fd(in.read_fd);
  close_fd(out.write_fd);
  close_fd(report.write_fd);
  close_fd(err);
  process.stdin_fd_ = in.write_fd;
  process.stdout_fd_ = out.read_fd;
  int cause = 0;
  const bool is_failed = ::read(report.read_fd, &cause, sizeof cause) == sizeof cause;
  close_fd(report.read_fd);
  if (process.pid_ < 0 || is_failed) {
    return fail(ErrorCode::kNotFound, fmt::format("cannot run '{}': {}", options.argv.front(),
                                                  std::strerror(is_failed ? cause : errno)));
  }
  return process;
}

Subprocess::Subprocess(Subprocess&& other) noexcept { *this = std::move(other); }

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(stdin_fd_, other.stdin_fd_);
  std::swap(stdout_fd_, other.stdout_fd_);
  std::swap(is_at_end_, other.is_at_end_);
  std::swap(buffer_, other.buffer_);
  return *this;
}

Subprocess::~Subprocess() {
  close_fd(stdin_fd_);
  close_fd(stdout_fd_);
  if (pid_ > 0) {
    kill(SIGKILL);
    wait();
  }
}

Status Subprocess::write(std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(stdin_fd_, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return fail(ErrorCode::kCrashed, "the process no longer reads its input");
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
  return {};
}

void Subprocess::close_stdin() { close_fd(stdin_fd_); }

Result<std::optional<std::string>> Subprocess::read_line(std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd waiting{.fd = stdout_fd_, .events = POLLIN, .revents = 0};
    const int ready =
        ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    if (ready == 0) {
      return std::nullopt;
    }
    if (ready < 0) {
      if (errno == EINTR) {
        return std::nullopt;  // A signal: let the caller look at what it asks for.
      }
      return fail(ErrorCode::kInternal, fmt::format("poll: {}", std::strerror(errno)));
    }
    std::array<char, 1 << 16> piece{};
    const auto size = ::read(stdout_fd_, piece.data(), piece.size());
    if (size == 0) {
      is_at_end_ = true;
      // The last line may lack its end.
      return buffer_.empty() ? std::nullopt : std::optional(std::exchange(buffer_, {}));
    }
    buffer_.append(piece.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
  }
}

void Subprocess::kill(int signal) {
  if (pid_ > 0) {
    ::kill(pid_, signal);
  }
}

int Subprocess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Result<CommandOutput> run_command(const Subprocess::Options& options,
                                  std::chrono::milliseconds timeout) {
  ASSAY_ASSIGN_OR_RETURN(auto process, Subprocess::start(options));
  process.close_stdin();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  CommandOutput result;
  while (!process.is_at_end()) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("'{}' took longer than {} s", fmt::join(options.argv, " "),
                              std::chrono::duration<double>(timeout).count()));
    }
    ASSAY_ASSIGN_OR_RETURN(
        const auto line,
        process.read_line(std::chrono::duration_cast<std::chrono::milliseconds>(left)));
    if (line) {
      result.output.append(*line).push_back('\n');
    }
  }
  result.exit_code = process.wait();
  return result;
}

}  // namespace assay
