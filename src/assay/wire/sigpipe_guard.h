#pragma once

#include <ctime>

#include <signal.h>

namespace assay::wire {

/// While it lives, writing into a pipe without a reader gives EPIPE in this thread and no SIGPIPE,
/// whatever the process does with that signal elsewhere. Leaves no trace: a SIGPIPE that arose
/// meanwhile is taken back.
class SigpipeGuard {
 public:
  SigpipeGuard() {
    sigset_t pending;
    ::sigemptyset(&pipe_signal_);
    ::sigaddset(&pipe_signal_, SIGPIPE);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_signal_, &before_);
  }
  SigpipeGuard(const SigpipeGuard&) = delete;
  SigpipeGuard& operator=(const SigpipeGuard&) = delete;
  ~SigpipeGuard() {
    const timespec no_wait{};
    while (!was_pending_ && ::sigtimedwait(&pipe_signal_, nullptr, &no_wait) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_signal_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace assay::wire
