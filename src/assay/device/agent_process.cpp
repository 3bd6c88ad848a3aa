#include "assay/device/agent_process.h"

#include <chrono>
#include <cstring>
#include <fmt/format.h>
#include <stdlib.h>
#include <string.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/limits.h"
#include "assay/base/pipe.h"
#include "assay/base/result.h"

namespace assay {
namespace {

constexpr std::chrono::seconds kGrace{2};

/// Attributes for posix_spawn: the pipes as stdin and stdout, nothing else inherited but stderr, a
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
    pointers.reserve(argv.size() + 1);
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
  ASSAY_ASSIGN_OR_RETURN(auto to_child, Pipe::make());
  ASSAY_ASSIGN_OR_RETURN(auto from_child, Pipe::make());
  AgentProcess process;
  const int cause =
      SpawnPlan(to_child.read_end.get(), from_child.write_end.get()).spawn(argv, process.pid_);
  if (cause != 0) {
    process.pid_ = -1;
    return fail(code_from_errno(cause) == ErrorCode::kExhausted ? ErrorCode::kExhausted
                                                                : ErrorCode::kUnavailable,
                fmt::format("cannot start '{}': {}", argv[0], text_from_errno(cause)));
  }
  process.write_end_ = std::move(to_child.write_end);
  process.read_end_ = std::move(from_child.read_end);
  return process;
}

std::string AgentProcess::close() {
  write_end_.close();
  read_end_.close();
  if (pid_ > 0) {
    end_ = text_of_end(reap(std::exchange(pid_, -1)));
  }
  return end_;
}

}  // namespace assay
