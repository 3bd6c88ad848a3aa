#include "assay/repository/build_steps.h"

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

#include <signal.h>
#include <sys/statvfs.h>

#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/base/subprocess.h"
#include "assay/base/units.h"
#include "assay/device/device_lock.h"
#include "assay/record/boxed_command.h"
#include "assay/record/sandbox.h"
#include "assay/repository/build_key.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{50};
/// After a stop signal, before the device is given away: processes that run stop at the next tick.
constexpr std::chrono::milliseconds kUntilStopped{20};
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
  const bool has_box = std::filesystem::exists(executable_folder() / "assay-agent");
  const SandboxRequest box{
      .mode = steps.has_network || !has_box ? SandboxMode::kOff : SandboxMode::kOn,
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

/// Why a running step has to end; empty: it may go on.
std::string reason_to_end(const BuildSteps& steps, const ActiveTime& time) {
  if (time.used() > std::chrono::nanoseconds(steps.timeout_ns)) {
    return fmt::format("took longer than {}",
                       text_from_duration_ns(static_cast<double>(steps.timeout_ns)));
  }
  std::error_code error;
  const auto bytes = std::filesystem::file_size(steps.log, error);
  return !error && bytes > kMostLogBytes ? "printed more than 256 MiB" : "";
}

std::string text_of_exit(int code) {
  constexpr int kBySignal = 128;
  return code > kBySignal ? fmt::format("died of signal {}", code - kBySignal)
                          : fmt::format("ended with exit code {}", code);
}

/// Returns the fault of the step; empty: it has none.
Result<std::string> run_step(const BuildSteps& steps, const std::vector<std::string>& argv,
                             DeviceShare& share, ActiveTime& time) {
  ASSAY_RETURN_IF_ERROR(find_program(argv.front()));
  ASSAY_RETURN_IF_ERROR(wait_for_share(steps, share, time));
  auto kept = steps.kept;
  kept.push_back(share.descriptor());
  ASSAY_ASSIGN_OR_RETURN(auto process, Subprocess::start({.argv = command_of(steps, argv),
                                                          .env = {},
                                                          .stderr_file = steps.log.string(),
                                                          .stdout_file = steps.log.string(),
                                                          .folder = steps.folder.string(),
                                                          .leads_group = true,
                                                          .niceness = kNiceness,
                                                          .kept = std::move(kept)}));
  process.close_stdin();
  std::string reason;
  while (reason.empty() && !process.has_ended(kPoll)) {
    ASSAY_ASSIGN_OR_RETURN(const bool is_wanted, share.is_wanted());
    if (is_wanted) {
      ASSAY_RETURN_IF_ERROR(give_way(steps, process, share, time));
    }
    if (steps.keep_going && !steps.keep_going()) {
      return std::unexpected(interrupted());  // The process ends with its object.
    }
    reason = reason_to_end(steps, time);
  }
  process.kill_group(SIGKILL);  // Ends what it left running, and the step itself past its limits.
  const int code = process.wait();
  return reason.empty() && code != 0 ? text_of_exit(code) : reason;
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
    if (!result->empty()) {
      end.failure = fmt::format("step {} ({}) {}", i + 1, steps.commands[i].front(), *result);
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
