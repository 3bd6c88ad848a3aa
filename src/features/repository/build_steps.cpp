#include "features/repository/build_steps.h"

#include "features/repository/build_key.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/statvfs.h>

#include "assay/base/file_descriptor.h"
#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/pipe.h"
#include "assay/base/relative_path.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/base/units.h"
#include "assay/device/device_lock.h"
#include "assay/device/oom_kills.h"
#include "assay/record/boxed_command.h"
#include "assay/record/sandbox.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{50};
/// After a stop signal, before the device is given away: processes that run stop at the next tick.
constexpr std::chrono::milliseconds kUntilStopped{20};
/// Wait for the last process of a step after it was asked to end.
constexpr std::chrono::milliseconds kUntilGone{2000};
constexpr int kNiceness = 10;
constexpr std::uintmax_t kMostLogBytes = std::uintmax_t{256} << 20;

Error interrupted() {
  return {.code = ErrorCode::kTimeout, .message = "the build was interrupted"};
}

/// `env -i` gives the command its variables and nothing else, whoever starts it.
std::vector<std::string> command_of(const BuildSteps& steps, const std::vector<std::string>& argv) {
  std::vector<std::string> words{"env", "-i"};
  for (const auto& [name, value] : steps.env) {
    words.push_back(fmt::format("{}={}", name, value));
  }
  words.insert(words.end(), argv.begin(), argv.end());
  const auto agent = executable_folder() / "assay-agent";
  if (!std::filesystem::exists(agent)) {
    return words;
  }
  words.insert(words.begin(), {agent.string(), "--whole", "--"});
  const SandboxRequest box{.mode = steps.has_network ? SandboxMode::kOff : SandboxMode::kOn,
                           .keeps_files = true};
  return boxed_command(box, steps.folder.string(), std::move(words));
}

/// Seconds that a build has used, without its pauses.
class ActiveTime {
 public:
  void pause() { used_ += Clock::now() - since_; }
  void go_on() { since_ = Clock::now(); }
  [[nodiscard]] Clock::duration used() const { return used_ + (Clock::now() - since_); }

 private:
  Clock::duration used_{};
  Clock::time_point since_ = Clock::now();
};

Status wait_for_share(const BuildSteps& steps, DeviceShare& share, ActiveTime& time) {
  time.pause();
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_ours, share.try_take());
    if (is_ours) {
      time.go_on();
      return {};
    }
    if (steps.keep_going && !steps.keep_going()) {
      return std::unexpected(interrupted());
    }
    std::this_thread::sleep_for(kPoll);
  }
}

/// Stops the group, lets the timing have the device, and goes on after it.
Status give_way(const BuildSteps& steps, Subprocess& process, DeviceShare& share,
                ActiveTime& time) {
  process.kill_group(SIGSTOP);
  std::this_thread::sleep_for(kUntilStopped);
  share.release();
  ASSAY_RETURN_IF_ERROR(wait_for_share(steps, share, time));
  process.kill_group(SIGCONT);
  return {};
}

bool is_over(const BuildSteps& steps, const ActiveTime& time) {
  return time.used() > std::chrono::nanoseconds(steps.timeout_ns);
}

/// Why a running step has to end; empty: it may go on.
std::string reason_to_end(const BuildSteps& steps, const ActiveTime& time) {
  if (is_over(steps, time)) {
    return fmt::format("took longer than {}",
                       text_from_duration_ns(static_cast<double>(steps.timeout_ns)));
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(steps.log, error);
  return !error && bytes > kMostLogBytes ? "printed more than 256 MiB" : "";
}

constexpr int kBySignal = 128;

std::string text_of_exit(int code) {
  return code > kBySignal ? fmt::format("died of signal {}", code - kBySignal)
                          : fmt::format("ended with exit code {}", code);
}

/// A compiler that crashes does so again; these come from outside.
bool is_killed(int code) {
  constexpr auto kFromOutside = std::to_array({SIGKILL, SIGTERM, SIGHUP, SIGINT});
  return std::ranges::find(kFromOutside, code - kBySignal) != kFromOutside.end();
}

/// Waits for a step while the device is free; returns why it has to end, or nothing where it has
/// ended by itself.
Result<std::string> watch_step(const BuildSteps& steps, Subprocess& process, DeviceShare& share,
                               ActiveTime& time) {
  std::string reason;
  while (reason.empty() && !process.has_ended(kPoll)) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_wanted, share.is_wanted());
    if (is_wanted) {
      ASSAY_RETURN_IF_ERROR(give_way(steps, process, share, time));
    }
    if (steps.keep_going && !steps.keep_going()) {
      return std::unexpected(interrupted());
    }
    reason = reason_to_end(steps, time);
  }
  return reason;
}

/// Ends a step with all that it started: the agent around it does so when it is asked, and only the
/// agent finds what has left the group. `alive` is closed by the last of them.
void end_step(Subprocess& process, const FileDescriptor& alive) {
  process.kill_group(SIGCONT);
  process.kill(SIGTERM);
  static_cast<void>(process.has_ended(kUntilGone));
  process.kill_group(SIGKILL);
  pollfd left{.fd = alive.get(), .events = POLLIN, .revents = 0};
  if (::poll(&left, 1, static_cast<int>(kUntilGone.count())) == 0) {
    log_line(LogLevel::kWarning,
             "a build has left processes running that could not be ended; they may change the "
             "files of the next one");
  }
}

/// The outcome of a step.
struct StepEnd {
  std::string fault;  ///< Empty: none.
  bool was_killed = false;
  bool is_late = false;
};

/// A program that the source or an earlier step was to make is the revision's own. Errors:
/// kUnavailable.
Status check_installed(const std::string& program, const std::filesystem::path& place) {
  std::error_code ignored;
  const std::filesystem::path path(program);
  if (path.is_absolute() && !path_below(path, place) && !std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("a build step needs '{}', which is not there: install it", program));
  }
  ASSAY_RETURN_IF_ERROR(find_program(program));
  return {};
}

Result<StepEnd> run_step(const BuildSteps& steps, const std::vector<std::string>& argv,
                         DeviceShare& share, ActiveTime& time) {
  ASSAY_RETURN_IF_ERROR(check_installed(argv.front(), steps.folder.parent_path()));
  ASSAY_RETURN_IF_ERROR(wait_for_share(steps, share, time));
  ASSAY_ASSIGN_OR_RETURN(auto alive, Pipe::make());
  auto kept = steps.kept;
  kept.insert(kept.end(), {share.descriptor(), alive.write_end.get()});
  const auto oom_kills = count_oom_kills();
  ASSAY_ASSIGN_OR_RETURN(auto process, Subprocess::start({.argv = command_of(steps, argv),
                                                          .env = {},
                                                          .stderr_file = steps.log.string(),
                                                          .stdout_file = steps.log.string(),
                                                          .folder = steps.folder.string(),
                                                          .leads_group = true,
                                                          .niceness = kNiceness,
                                                          .kept = std::move(kept)}));
  process.close_stdin();
  alive.write_end.close();
  const auto reason = watch_step(steps, process, share, time);
  const bool is_late = is_over(steps, time);
  end_step(process, alive.read_end);
  ASSAY_RETURN_IF_ERROR(reason);
  const int code = process.wait();
  if (!reason->empty() || code == 0) {
    return StepEnd{.fault = *reason, .is_late = is_late && !reason->empty()};
  }
  return StepEnd{.fault = text_of_exit(code),
                 .was_killed = is_killed(code) || count_oom_kills().count > oom_kills.count};
}

/// True where a failure may be the disk's, which says nothing about the revision.
bool is_disk_full(const std::filesystem::path& folder) {
  constexpr std::uint64_t kLeastBytes = std::uint64_t{16} << 20;
  struct statvfs space{};
  return ::statvfs(folder.c_str(), &space) == 0 &&
         std::uint64_t{space.f_bavail} * space.f_frsize < kLeastBytes;
}

}  // namespace

Result<StepsEnd> run_build_steps(const BuildSteps& steps, DeviceShare& share) {
  ActiveTime time;
  StepsEnd end;
  for (std::size_t i = 0; i < steps.commands.size() && end.failure.empty(); ++i) {
    auto result = run_step(steps, steps.commands[i], share, time);
    share.release();
    if (!result) {
      return std::unexpected(std::move(result).error());
    }
    if (!result->fault.empty()) {
      end.failure = fmt::format("step {} ({}) {}", i + 1, steps.commands[i].front(), result->fault);
      end.was_killed = result->was_killed;
      end.is_late = result->is_late;
    }
  }
  end.seconds = std::chrono::duration<double>(time.used()).count();
  if (!end.failure.empty() && is_disk_full(steps.folder)) {
    return fail(ErrorCode::kExhausted,
                fmt::format("the disk of '{}' is full, and a build failed: free some space",
                            steps.folder.string()));
  }
  return end;
}

}  // namespace assay
