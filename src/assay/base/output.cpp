#include "assay/base/output.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {
namespace {

/// The errno of the first write that failed, by stream; 0 while all is well.
std::atomic<int>& refusal_of(int fd) {
  static std::atomic<int> out{0};
  static std::atomic<int> err{0};
  return fd == STDOUT_FILENO ? out : err;
}

/// Waits for a reader that is slow, where somebody else made the stream non-blocking.
void wait_until_writable(int fd) {
  pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
  ::poll(&waiting, 1, -1);
}

void write_stream(int fd, std::string_view text) {
  while (!text.empty() && refusal_of(fd) == 0) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      wait_until_writable(fd);
    } else if (errno != EINTR) {
      refusal_of(fd) = errno;
    }
  }
}

}  // namespace

void ignore_signals_of_writes() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

void write_stdout(std::string_view text) { write_stream(STDOUT_FILENO, text); }
void write_stderr(std::string_view text) { write_stream(STDERR_FILENO, text); }

std::string text_from_json(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void print_json(const Json& document, int indent) {
  write_stdout(text_from_json(document, indent) + "\n");
}

Status check_stdout() {
  const int cause = refusal_of(STDOUT_FILENO);
  if (cause == 0 || cause == EPIPE) {
    return {};
  }
  return fail(cause == ENOSPC ? ErrorCode::kExhausted : ErrorCode::kUnavailable,
              fmt::format("cannot write to stdout: {}{}", std::strerror(cause),
                          cause == ENOSPC ? "; free some space" : ""));
}

}  // namespace assay
