#include "assay/cli/interrupt.h"

#include <atomic>
#include <csignal>

#include <signal.h>
#include <unistd.h>

namespace assay::cli {
namespace {

std::atomic<bool> is_asked_to_stop{false};

void on_signal(int signal) {
  if (is_asked_to_stop.exchange(true)) {
    ::_exit(128 + signal);
  }
}

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler =
      on_signal;  // No SA_RESTART: a waiting read returns, and the flag is looked at.
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction hangup{};
  ::sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) {  // nohup ignores it, and is to be heeded.
    ::sigaction(SIGHUP, &action, nullptr);
  }
}

bool is_interrupted() { return is_asked_to_stop; }

}  // namespace assay::cli
