#include "assay/device/agent_process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace assay {
namespace {

constexpr std::chrono::seconds kGrace{2};

/// What posix_spawn is told: the pipes as stdin and stdout, nothing else inherited but stderr, a
/// process group of its own, signals as at login.
class SpawnPlan {
 public:
  SpawnPlan(int stdin_fd, int stdout_fd) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, stdin_fd, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, stdout_fd, STDOUT_FILENO);
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// 0 or an errno.
  int spawn(const std::vector<std::string>& argv, pid_t& pid) const {
    std::vector<char*> pointers;
    for (const auto& argument : argv) {
      pointers.push_back(const_cast<char*>(argument.c_str()));
    }
    pointers.push_back(nullptr);
    return ::posix_spawnp(&pid, pointers[0], &actions_, &attributes_, pointers.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

void close_fd(int& fd) {
  if (fd >= 0) {
    ::close(fd);
  }
  fd = -1;
}

std::string text_of_end(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("exited with {}", WEXITSTATUS(status));
}

/// Waits for the end, and kills when the grace is over.
int reap(pid_t pid) {
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  int status = 0;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status;
}

}  // namespace

Result<AgentProcess> AgentProcess::start(const std::vector<std::string>& argv) {
  if (argv.empty()) {
    return fail(ErrorCode::kInvalidArgument, "an agent needs a program to start");
  }
  std::array<int, 2> to_child{-1, -1};
  std::array<int, 2> from_child{-1, -1};
  AgentProcess process;
  if (::pipe2(to_child.data(), O_CLOEXEC) != 0 || ::pipe2(from_child.data(), O_CLOEXEC) != 0) {
    close_fd(to_child[0]);
    close_fd(to_child[1]);
    return fail(ErrorCode::kExhausted, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  process.write_fd_ = to_child[1];
  process.read_fd_ = from_child[0];
  const int cause = SpawnPlan(to_child[0], from_child[1]).spawn(argv, process.pid_);
  close_fd(to_child[0]);
  close_fd(from_child[1]);
  if (cause != 0) {
    process.pid_ = -1;
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot start '{}': {}", argv[0], std::strerror(cause)));
  }
  return process;
}

std::string AgentProcess::close() {
  close_fd(write_fd_);
  close_fd(read_fd_);
  if (pid_ > 0) {
    end_ = text_of_end(reap(std::exchange(pid_, -1)));
  }
  return end_;
}

}  // namespace assay
