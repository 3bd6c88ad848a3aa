#include "assay/supervise/spawn.h"

#include <array>
#include <fmt/core.h>
#include <optional>
#include <utility>

#include <poll.h>

#include "assay/base/clock.h"
#include "assay/base/fs.h"
#include "assay/base/result.h"
#include "assay/device/conditions.h"
#include "assay/device/page_cache.h"
#include "assay/record/sandbox.h"
#include "assay/record/spawn.h"
#include "assay/supervise/child_process.h"
#include "assay/supervise/companions.h"
#include "assay/supervise/process_tree.h"
#include "assay/supervise/sandbox.h"
#include "assay/supervise/supervisor.h"
#include "assay/supervise/trace_sampler.h"
#include "assay/wire/sigpipe_guard.h"

namespace assay {
namespace {

constexpr int kCoolPollMs = 500;

/// False: cancelled.
bool sleep_or_cancel(const SpawnCancel& cancel, int timeout_ms) {
  std::array<pollfd, 2> fds{
      {{.fd = cancel.hang_up_fd, .events = 0}, {.fd = cancel.readable_fd, .events = POLLIN}}};
  return ::poll(fds.data(), fds.size(), timeout_ms) == 0;
}

Status wait_until_cool(const Surroundings& wanted, const SpawnCancel& cancel) {
  const auto end_ns = monotonic_ns() + wanted.cool_timeout_ns;
  while (wanted.cool_below_celsius > 0) {
    const auto celsius = read_conditions().temperature_celsius;
    if (!celsius) {
      return fail(ErrorCode::kUnsupported,
                  "cannot wait until the device is cool: it has no temperature sensor that "
                  "/sys/class/thermal tells; leave \"cool_below\" out");
    }
    if (*celsius < wanted.cool_below_celsius) {
      return {};
    }
    if (monotonic_ns() >= end_ns) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("the device is at {:.1f} C and does not get below {:.1f} C; cool it, "
                              "or allow more with \"cool_below\"",
                              *celsius, wanted.cool_below_celsius));
    }
    if (!sleep_or_cancel(cancel, kCoolPollMs)) {
      return fail(ErrorCode::kUnavailable, "cancelled while the device cooled down");
    }
  }
  return {};
}

Status prepare_page_cache(const Surroundings& wanted) {
  if (wanted.page_cache == "cold") {
    return drop_from_page_cache(wanted.files);
  }
  return wanted.page_cache == "warm" ? read_into_page_cache(wanted.files) : Status();
}

Result<std::optional<Sandbox>> prepare_sandbox(const SandboxRequest& request,
                                               const TemporaryFolder& folder) {
  if (request.mode == SandboxMode::kOff) {
    return std::nullopt;
  }
  ASSAY_ASSIGN_OR_RETURN(auto sandbox, Sandbox::prepare(request, folder.path().string()));
  return std::optional(std::move(sandbox));
}

}  // namespace

Result<SpawnResult> spawn_and_wait(const SpawnRequest& request, const SpawnCancel& cancel) {
  const wire::SigpipeGuard guard;
  const auto& surroundings = request.surroundings;
  ASSAY_RETURN_IF_ERROR(wait_until_cool(surroundings, cancel));
  // A companion may load the program that is measured: the page cache is prepared behind it.
  ASSAY_ASSIGN_OR_RETURN(auto companions,
                         Companions::start(surroundings.companions, request.limits.wall_ns));
  ASSAY_RETURN_IF_ERROR(prepare_page_cache(surroundings));
  const auto cached_ratio = cached_ratio_of(surroundings.files);
  ASSAY_ASSIGN_OR_RETURN(const auto folder, TemporaryFolder::make("assay-launch"));
  ASSAY_ASSIGN_OR_RETURN(const auto sandbox, prepare_sandbox(request.sandbox, folder));
  auto before = read_conditions();
  TraceSampler sampler(request.trace_period_ns);
  const auto start_ns = monotonic_ns();
  LaunchProcesses processes;
  ASSAY_ASSIGN_OR_RETURN(auto child,
                         start_child(request, {.folder = folder.path().string(),
                                               .sandbox = sandbox ? &*sandbox : nullptr}));
  Supervisor supervisor(std::move(child), request, cancel, start_ns, std::move(processes));
  ASSAY_RETURN_IF_ERROR(supervisor.run());
  auto result = supervisor.take_result();
  if (request.trace_period_ns > 0) {
    result.traces = sampler.stop();
  }
  result.before = std::move(before);
  result.before.cached_ratio = cached_ratio;
  result.after = read_conditions();
  result.companion_failure = companions.find_failure();
  if (sandbox) {
    result.end.sandbox = sandbox->report();
    result.end.left_processes += sandbox->left_processes();
  }
  return result;
}

}  // namespace assay
