#include "assay/supervise/companions.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fmt/core.h>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdlib.h>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/file_descriptor.h"
#include "assay/base/fs.h"
#include "assay/base/pipe.h"
#include "assay/base/result.h"
#include "assay/record/axes.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/supervise/child_process.h"
#include "assay/supervise/process_tree.h"
#include "assay/supervise/sandbox.h"
#include "assay/supervise/stderr_tail.h"
#include "assay/wire/frame.h"
#include "assay/wire/messages.h"
#include "assay/wire/sigpipe_guard.h"

namespace assay {
namespace {

constexpr std::int64_t kStartNs = 60'000'000'000;
constexpr int kPollMs = 20;
constexpr std::size_t kPipeBufferBytes = 1 << 16;
constexpr std::size_t kMaxStartBytes = 16 << 20;

/// The agent that runs: on a device its file's name ends in its digest.
std::string agent_program() {
  constexpr const char* kAgent = "assay-agent";
  std::error_code error;
  const auto running = std::filesystem::read_symlink("/proc/self/exe", error);
  return !error && running.filename().string().starts_with(kAgent)
             ? running.string()
             : (executable_folder() / kAgent).string();
}

bool is_steady(const wire::Frame& frame) {
  const auto note = frame.type == wire::MessageType::kStage
                        ? wire::body_of<wire::StageNote>(frame).value_or(wire::StageNote{})
                        : wire::StageNote{};
  return note.stage == Stage::kSteady;
}

}  // namespace

class Companions::Process {
 public:
  static Result<std::unique_ptr<Process>> start(const Companion& companion, std::int64_t work_ns) {
    SpawnRequest request{.argv = companion.argv};
    request.limits.wall_ns = work_ns;
    if (!request.argv.empty() && request.argv[0] == "assay-agent") {
      request.argv[0] = agent_program();
    }
    if (!companion.input_file.empty()) {
      ASSAY_ASSIGN_OR_RETURN(const auto content, read_file(companion.input_file));
      const auto bytes = std::as_bytes(std::span(content));
      request.input.assign(bytes.begin(), bytes.end());
    }
    auto process = std::make_unique<Process>();
    process->name_ = request.argv.empty() ? std::string() : request.argv[0];
    ASSAY_RETURN_IF_ERROR(process->box(companion.sandbox));
    ASSAY_ASSIGN_OR_RETURN(process->child_, start_child(request, process->place()));
    process->input_ = std::move(request.input);
    return process;
  }

  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (child_.pid > 0) {
      ::kill(-child_.pid, SIGKILL);
      while (::waitpid(child_.pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

  Status wait_until_at_work() {
    const auto end_ns = monotonic_ns() + kStartNs;
    while (!std::ranges::any_of(wire::frames_from_bytes(output_).frames, is_steady)) {
      if (has_ended()) {
        return fail(ErrorCode::kUnavailable, failure());
      }
      if (monotonic_ns() >= end_ns) {
        return fail(ErrorCode::kUnavailable,
                    fmt::format("the companion '{}' did not start within a minute: {}", name_,
                                words_.text()));
      }
      exchange(kPollMs);
      if (output_.size() > kMaxStartBytes) {
        return fail(ErrorCode::kUnavailable,
                    fmt::format("the companion '{}' wrote {} MiB to its stdout before it reported "
                                "that it is running",
                                name_, kMaxStartBytes >> 20));
      }
    }
    is_at_work_ = true;
    output_ = {};
    return {};
  }

  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_.pid), &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid == child_.pid;
  }

  std::string failure() {
    exchange(0);
    const std::scoped_lock lock(mutex_);
    const auto words = words_.text();
    return fmt::format("the companion '{}' ended too early{}{}", name_, words.empty() ? "" : ": ",
                       words);
  }

  /// The event that it waits for.
  std::array<pollfd, 3> pollfds() {
    const std::scoped_lock lock(mutex_);
    return {{{.fd = input_.empty() ? -1 : child_.stdin_fd.get(), .events = POLLOUT},
             {.fd = child_.stdout_fd.get(), .events = POLLIN},
             {.fd = child_.stderr_fd.get(), .events = POLLIN}}};
  }

  /// Writes and reads what is possible within the time.
  void exchange(int timeout_ms) {
    auto fds = pollfds();
    if (::poll(fds.data(), fds.size(), timeout_ms) <= 0) {
      return;
    }
    const std::scoped_lock lock(mutex_);
    if (fds[0].revents != 0) {
      const auto written = ::write(child_.stdin_fd.get(), input_.data(), input_.size());
      if (written < 0 && errno != EAGAIN && errno != EINTR) {
        input_.clear();  // It reads no more, which is its right.
      }
      input_.erase(input_.begin(), input_.begin() + std::max<ssize_t>(written, 0));
    }
    if (fds[1].revents != 0) {
      const auto bytes = read_from(child_.stdout_fd);
      if (!is_at_work_) {
        output_.insert(output_.end(), bytes.begin(), bytes.end());
      }
    }
    if (fds[2].revents != 0) {
      const auto bytes = read_from(child_.stderr_fd);
      words_.append({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  }

 private:
  Status box(const SandboxRequest& wanted) {
    if (wanted.mode != SandboxMode::kOff) {
      ASSAY_ASSIGN_OR_RETURN(folder_, TemporaryFolder::make("assay-beside"));
      ASSAY_ASSIGN_OR_RETURN(sandbox_, Sandbox::prepare(wanted, folder_->path().string()));
    }
    return {};
  }

  /// Orphans that it leaves while it runs must not be taken for the launch's.
  [[nodiscard]] ChildPlace place() const {
    ChildPlace place{.adopts_orphans = true};
    if (folder_ && sandbox_) {
      place.folder = folder_->path().string();
      place.sandbox = &*sandbox_;
    }
    return place;
  }

  std::span<const std::byte> read_from(FileDescriptor& fd) {
    buffer_.resize(kPipeBufferBytes);
    const auto count = ::read(fd.get(), buffer_.data(), buffer_.size());
    if (count == 0) {
      fd.close();  // Its end would be ready for ever.
    }
    return std::span(buffer_).first(count > 0 ? static_cast<std::size_t>(count) : 0);
  }

  std::string name_;
  std::optional<TemporaryFolder> folder_;  ///< With the sandbox.
  std::optional<Sandbox> sandbox_;
  ChildProcess child_;
  std::atomic<bool> is_at_work_{false};
  std::mutex mutex_;               ///< Guards the members below and the child's pipes.
  std::vector<std::byte> input_;   ///< Not yet written.
  std::vector<std::byte> output_;  ///< Output of its start; later output is dropped.
  std::vector<std::byte> buffer_;
  StderrTail words_;
};

/// Ends and reaps what companions leave in a process that adopts orphans: the init of a box, and
/// what left its group.
class Companions::Remains {
 public:
  Remains() = default;
  Remains(const Remains&) = delete;
  Remains& operator=(const Remains&) = delete;
  ~Remains() { others_.end(kNone); }

 private:
  static constexpr pid_t kNone = -1;
  LaunchProcesses others_;  ///< Told before the companions start.
};

/// Empties the pipes of companions that are at work, so that one that writes much goes on working.
class Companions::Drain {
 public:
  static Result<std::unique_ptr<Drain>> start(std::vector<Process*> processes) {
    auto drain = std::make_unique<Drain>();
    ASSAY_ASSIGN_OR_RETURN(drain->stop_, Pipe::make());
    drain->processes_ = std::move(processes);
    drain->thread_ = std::thread([raw = drain.get()] { raw->run(); });
    return drain;
  }

  Drain() = default;
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;
  ~Drain() {
    stop_.write_end.close();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 private:
  void run() {
    const wire::SigpipeGuard guard;
    while (true) {
      std::vector<pollfd> fds{{.fd = stop_.read_end.get(), .events = POLLIN, .revents = 0}};
      for (auto* process : processes_) {
        const auto its = process->pollfds();
        fds.insert(fds.end(), its.begin(), its.end());
      }
      if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) {
        return;
      }
      if (fds.front().revents != 0) {
        return;
      }
      for (auto* process : processes_) {
        process->exchange(0);
      }
    }
  }

  Pipe stop_;  ///< Closing its end for writing ends the thread.
  std::vector<Process*> processes_;
  std::thread thread_;
};

Companions::Companions() = default;
Companions::Companions(Companions&&) noexcept = default;
Companions& Companions::operator=(Companions&&) noexcept = default;
Companions::~Companions() = default;

Result<Companions> Companions::start(const std::vector<Companion>& companions,
                                     std::int64_t work_ns) {
  Companions started;
  started.remains_ = std::make_unique<Remains>();
  // Each waits for the others to be at work.
  const auto most_ns = std::min(work_ns, std::numeric_limits<std::int64_t>::max() / 2) +
                       static_cast<std::int64_t>(companions.size()) * kStartNs;
  for (const auto& companion : companions) {
    ASSAY_ASSIGN_OR_RETURN(auto process, Process::start(companion, most_ns));
    started.processes_.push_back(std::move(process));
  }
  for (auto& process : started.processes_) {
    ASSAY_RETURN_IF_ERROR(process->wait_until_at_work());
  }
  std::vector<Process*> processes;
  std::ranges::transform(started.processes_, std::back_inserter(processes),
                         [](const auto& process) { return process.get(); });
  if (!processes.empty()) {
    ASSAY_ASSIGN_OR_RETURN(started.drain_, Drain::start(std::move(processes)));
  }
  return started;
}

std::string Companions::find_failure() {
  for (auto& process : processes_) {
    if (process->has_ended()) {
      return process->failure();
    }
  }
  return {};
}

Status keep_busy(const std::string& kind, int write_fd) {
  constexpr std::size_t kCpuWords = 1 << 9;      // 4 KiB: in the first cache.
  constexpr std::size_t kMemoryWords = 1 << 23;  // 64 MiB: in no cache.
  if (kind != "cpu" && kind != "memory") {
    return fail(ErrorCode::kInvalidArgument,
                fmt::format("cannot keep '{}' busy; it is cpu or memory", kind));
  }
  std::vector<std::uint64_t> words(kind == "cpu" ? kCpuWords : kMemoryWords, 1);
  const auto note = wire::bytes_from_frame(
      wire::frame_of(wire::MessageType::kStage, 0, wire::StageNote{.stage = Stage::kSteady}));
  if (::write(write_fd, note.data(), note.size()) != static_cast<ssize_t>(note.size())) {
    return fail(ErrorCode::kUnavailable, "nobody listens");
  }
  volatile std::uint64_t seen = 0;
  while (true) {
    for (auto& word : words) {
      word = word * 6364136223846793005ULL + 1442695040888963407ULL;
    }
    seen = seen + words.back();
  }
}

}  // namespace assay
