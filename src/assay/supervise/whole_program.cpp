#include "assay/supervise/whole_program.h"

#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/supervise/process_tree.h"

namespace assay {
namespace {

constexpr int kBySignal = 128;
constexpr int kNotExecuted = 127;

[[noreturn]] void execute_program(std::vector<std::string>& argv, const sigset_t& signals) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (auto& word : argv) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
  fmt::print(stderr, "assay-agent: cannot execute '{}': {}\n", argv[0], std::strerror(errno));
  ::_exit(kNotExecuted);
}

/// The program's exit code, or why it is to end now.
int wait_for_program(pid_t program, const sigset_t& awaited) {
  while (true) {
    const int signal = ::sigwaitinfo(&awaited, nullptr);
    if (signal > 0 && signal != SIGCHLD) {
      return kBySignal + signal;
    }
    int status = 0;
    // One signal may stand for several; orphans end here as well.
    // NOLINTBEGIN(misc-include-cleaner): of sys/wait.h
    for (pid_t ended = 0; (ended = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (ended == program) {
        return WIFSIGNALED(status) ? kBySignal + WTERMSIG(status) : WEXITSTATUS(status);
      }
    }
    // NOLINTEND(misc-include-cleaner)
  }
}

}  // namespace

int run_whole_program(std::vector<std::string> argv) {
  sigset_t awaited;
  sigset_t before;
  ::sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) {
    ::sigaddset(&awaited, signal);
  }
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  // Whoever started this one had it killed at once, and the others would live on.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  adopt_orphans();
  const LaunchProcesses processes;
  const pid_t program = ::fork();
  if (program == 0) {
    execute_program(argv, before);
  }
  if (program < 0) {
    fmt::print(stderr, "assay-agent: cannot start a process: {}\n", std::strerror(errno));
    return kNotExecuted;
  }
  const int code = wait_for_program(program, awaited);
  constexpr pid_t kNone = 0;
  processes.end(kNone);
  return code;
}

}  // namespace assay
