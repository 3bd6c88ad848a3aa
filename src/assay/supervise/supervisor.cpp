#include "assay/supervise/supervisor.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdlib.h>
#include <string_view>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/file_descriptor.h"
#include "assay/base/result.h"
#include "assay/device/oom_kills.h"
#include "assay/device/physical_memory.h"
#include "assay/device/timeval.h"
#include "assay/record/spawn.h"
#include "assay/supervise/child_process.h"
#include "assay/supervise/process_tree.h"
#include "assay/supervise/signal_name.h"
#include "assay/supervise/spawn.h"

namespace assay {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kMemoryPollMs = 20;
constexpr std::int64_t kScanPollMs = 200;       // Where all processes are looked at.
constexpr std::int64_t kExitPollMs = 5;         // Without a pidfd.
constexpr std::int64_t kDrainNs = 200'000'000;  // For descendants that left the group.
constexpr std::size_t kBufferBytes = 1 << 18;

bool is_try_again(int cause) { return cause == EAGAIN || cause == EINTR; }

/// One read; empty when there is nothing now. Closes the descriptor at its end.
std::span<const std::byte> read_available(FileDescriptor& fd, std::span<std::byte> buffer) {
  const auto count = ::read(fd.get(), buffer.data(), buffer.size());
  if (count == 0 || (count < 0 && !is_try_again(errno))) {
    fd.close();
  }
  return buffer.first(count > 0 ? static_cast<std::size_t>(count) : 0);
}

}  // namespace

Supervisor::Supervisor(ChildProcess child, const SpawnRequest& request, const SpawnCancel& cancel,
                       std::int64_t start_ns, LaunchProcesses processes)
    : child_(std::move(child)),
      request_(request),
      cancel_(cancel),
      input_left_(request.input),
      start_ns_(start_ns),
      oom_kills_before_(count_oom_kills()),
      processes_(std::move(processes)),
      buffer_(kBufferBytes) {}

Status Supervisor::run() {
  while (!has_exited_) {
    step(timeout_ms());
    keep_limits();
  }
  end_remains();
  reap();
  drain();
  result_.end.last_words = words_.text();
  if (is_cancelled_) {
    return fail(ErrorCode::kUnavailable, "cancelled: the requesting process has ended");
  }
  return {};
}

SpawnResult Supervisor::take_result() { return std::move(result_); }

/// Until the next limit can be reached; -1: until something happens.
int Supervisor::timeout_ms() const {
  if (is_killed_) {
    return static_cast<int>(kExitPollMs);
  }
  const std::int64_t left_ns = request_.limits.wall_ns - (monotonic_ns() - start_ns_);
  std::int64_t timeout = std::clamp<std::int64_t>(left_ns / kNsPerMs + 1, 0, 60'000);
  if (request_.limits.memory_bytes > 0) {
    timeout = std::min(timeout, lists_children() ? kMemoryPollMs : kScanPollMs);
  }
  return static_cast<int>(child_.exit_fd.is_open() ? timeout : std::min(timeout, kExitPollMs));
}

void Supervisor::step(int timeout_ms) {
  if (input_left_.empty()) {
    child_.stdin_fd.close();
  }
  std::array<pollfd, 6> fds{{{.fd = child_.exit_fd.get(), .events = POLLIN},
                             {.fd = child_.stdin_fd.get(), .events = POLLOUT},
                             {.fd = child_.stdout_fd.get(), .events = POLLIN},
                             {.fd = child_.stderr_fd.get(), .events = POLLIN},
                             {.fd = is_killed_ ? -1 : cancel_.hang_up_fd, .events = 0},
                             {.fd = is_killed_ ? -1 : cancel_.readable_fd, .events = POLLIN}}};
  if (::poll(fds.data(), fds.size(), timeout_ms) > 0) {
    if (fds[1].revents != 0) {
      write_input();
    }
    if (fds[2].revents != 0) {
      read_output();
    }
    if (fds[3].revents != 0) {
      read_errors();
    }
    if (fds[4].revents != 0 || fds[5].revents != 0) {
      is_cancelled_ = true;
      kill_group();
    }
  }
  look_for_exit();
}

void Supervisor::write_input() {
  const auto written = ::write(child_.stdin_fd.get(), input_left_.data(), input_left_.size());
  if (written >= 0) {
    input_left_ = input_left_.subspan(static_cast<std::size_t>(written));
  } else if (!is_try_again(errno)) {
    input_left_ = {};  // It reads no more, which is its right.
  }
}

void Supervisor::read_output() {
  const auto bytes = read_available(child_.stdout_fd, buffer_);
  auto& output = result_.output;
  const auto limit =
      static_cast<std::size_t>(std::max<std::int64_t>(request_.limits.output_bytes, 0));
  const auto room = limit - std::min(limit, output.size());
  const auto kept = bytes.first(std::min(bytes.size(), room));
  output.insert(output.end(), kept.begin(), kept.end());
  if (kept.size() < bytes.size()) {
    result_.end.is_output_exceeded = true;
    child_.stdout_fd.close();
    kill_group();
  }
}

void Supervisor::read_errors() {
  const auto bytes = read_available(child_.stderr_fd, buffer_);
  words_.append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void Supervisor::keep_limits() {
  if (has_exited_ || is_killed_) {
    return;
  }
  const auto& limits = request_.limits;
  if (monotonic_ns() - start_ns_ >= limits.wall_ns) {
    result_.end.is_timed_out = true;
    kill_group();
  } else if (limits.memory_bytes > 0 &&
             usage_.exceeds(processes_.roots(child_.pid), limits.memory_bytes)) {
    result_.end.is_out_of_memory = true;
    kill_group();
  }
}

/// Leaves it unreaped, so that its number names nobody else while the group is killed.
void Supervisor::look_for_exit() {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == child_.pid) {
    has_exited_ = true;
    result_.end.wall_ns = monotonic_ns() - start_ns_;
  }
}

/// Notes first what they use: not all of them will be waited for.
void Supervisor::kill_group() {
  if (!is_killed_ && !has_exited_) {
    usage_.look(processes_.roots(child_.pid));
  }
  is_killed_ = true;
  if (!is_reaped_) {  // Else the number may name somebody else.
    ::kill(-child_.pid, SIGKILL);
  }
}

/// Counts processes that run on, in its process group or out of it, where the process ended by
/// itself.
void Supervisor::end_remains() {
  const bool was_killed = is_killed_;
  result_.end.left_processes = processes_.count_running(child_.pid, was_killed);
  kill_group();
  processes_.end(child_.pid);
}

void Supervisor::reap() {
  const bool was_killed_by_us = result_.end.is_timed_out || result_.end.is_out_of_memory ||
                                result_.end.is_output_exceeded || is_cancelled_;
  int status = 0;
  rusage usage{};
  while (::wait4(child_.pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  is_reaped_ = true;
  auto& end = result_.end;
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.signal_name = signal_name(end.signal);
  end.user_ns = ns_from_timeval(usage.ru_utime);
  end.system_ns = ns_from_timeval(usage.ru_stime);
  end.peak_rss_bytes = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  if (end.signal == SIGKILL || was_killed_by_us) {
    end.user_ns = std::max(end.user_ns, usage_.user_ns());
    end.system_ns = std::max(end.system_ns, usage_.system_ns());
    end.peak_rss_bytes = std::max(end.peak_rss_bytes, usage_.peak_bytes());
  }
  if (end.signal == SIGKILL && !was_killed_by_us) {
    end.is_out_of_memory = is_oom_kill(oom_kills_before_, count_oom_kills(), end.peak_rss_bytes,
                                       physical_memory_bytes());
  }
}

/// Reads what is left in the pipes. Descendants in sessions of their own may hold them open.
void Supervisor::drain() {
  child_.stdin_fd.close();
  const std::int64_t end_ns = monotonic_ns() + kDrainNs;
  while (child_.stdout_fd.is_open() || child_.stderr_fd.is_open()) {
    const std::int64_t left_ns = end_ns - monotonic_ns();
    std::array<pollfd, 2> fds{{{.fd = child_.stdout_fd.get(), .events = POLLIN},
                               {.fd = child_.stderr_fd.get(), .events = POLLIN}}};
    if (left_ns <= 0 ||
        ::poll(fds.data(), fds.size(), static_cast<int>(left_ns / kNsPerMs + 1)) <= 0) {
      return;
    }
    if (fds[0].revents != 0) {
      read_output();
    }
    if (fds[1].revents != 0) {
      read_errors();
    }
  }
}

}  // namespace assay
