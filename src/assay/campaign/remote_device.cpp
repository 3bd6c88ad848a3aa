#include "assay/campaign/remote_device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "assay/base/clock.h"
#include "assay/base/digest.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/base/text.h"
#include "assay/base/units.h"
#include "assay/campaign/device_descriptions.h"
#include "assay/campaign/device_engines.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/left_agent.h"
#include "assay/campaign/remote_target.h"
#include "assay/device/process_space.h"
#include "assay/device/transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"
#include "assay/remote/device_policy.h"
#include "assay/supervise/agent_client.h"
#include "assay/wire/agent_messages.h"

namespace assay {
namespace {

constexpr std::int64_t kHeartbeatNs = 2'000'000'000;
constexpr int kMostMissed = 7;
/// An agent whose host is gone notices within this time.
constexpr std::int64_t kLockWaitNs = 25'000'000'000;
constexpr std::int64_t kKillNs = 10'000'000'000;
constexpr std::chrono::milliseconds kRetry{500};

/// Codes of AgentClient where the agent is gone.
bool is_loss(ErrorCode code) { return code == ErrorCode::kCrashed || code == ErrorCode::kTimeout; }

/// Ends an agent that keeps the device for a process that has ended. Its lock ends with it. Whoever
/// holds the lock writes that number there, and in a container it is another process's: nothing
/// but an agent is ended.
void end_agent(AgentClient& agent, int process) {
  log_line(LogLevel::kWarning, fmt::format("device '{}' was still locked for a connection that is "
                                           "lost; its agent {} there is ended, too",
                                           agent.device(), process));
  constexpr const char* kEnd =
      R"(case $(tr '\0' ' ' <"/proc/$1/cmdline") in *assay-agent*) kill -9 "$1";; esac)";
  // A failure shows when the lock is asked for again.
  [[maybe_unused]] const auto ended =
      agent.spawn({.argv = {"/bin/sh", "-c", kEnd, "sh", fmt::to_string(process)},
                   .limits = {.wall_ns = kKillNs}});
}

/// Tells a connection of this process from its others.
std::string holder_of_connection() {
  static std::atomic<int> connections = 0;
  return fmt::format("{}, connection {}", process_identity(), ++connections);
}

/// This command has the device under another address, or somebody else has it.
std::unexpected<Error> refusal_of_lock(const AgentClient& agent, const wire::LockReply& reply) {
  if (reply.held_by.starts_with(process_identity())) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("device '{}' is in use by this command itself: is it one of its "
                            "other devices under another address? Leave one of the two out",
                            agent.device()));
  }
  return fail(
      ErrorCode::kUnavailable,
      fmt::format(
          "device '{}' is in use by {}; wait until it ends, or end it{}", agent.device(),
          printable(reply.held_by),
          reply.agent == 0 ? "" : fmt::format(" (its agent there is process {})", reply.agent)));
}

/// `holder`: of this connection, for whose former agent nobody else can be.
Status lock_device(AgentClient& agent, const std::string& holder) {
  const auto start_ns = monotonic_ns();
  while (true) {
    ASSAY_ASSIGN_OR_RETURN(const auto reply, agent.lock(holder));
    if (!reply.restored.empty()) {
      log_line(LogLevel::kWarning, fmt::format("device '{}': {}", agent.device(), reply.restored));
    }
    if (reply.held_by.empty()) {
      return {};
    }
    if (monotonic_ns() - start_ns > kLockWaitNs) {
      return refusal_of_lock(agent, reply);
    }
    if (reply.agent > 0 && (reply.held_by == holder || is_holder_gone(reply.held_by))) {
      end_agent(agent, reply.agent);
    }
    std::this_thread::sleep_for(kRetry);
  }
}

}  // namespace

RemoteDevice::RemoteDevice(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), holder_(holder_of_connection()) {}

Result<std::unique_ptr<RemoteDevice>> RemoteDevice::open(std::unique_ptr<Transport> transport,
                                                         const Opening& opening) {
  std::unique_ptr<RemoteDevice> device(new RemoteDevice(std::move(transport)));
  ASSAY_ASSIGN_OR_RETURN(auto agent, device->connect_agent());
  device->triple_ = agent.hello().target;
  ASSAY_ASSIGN_OR_RETURN(device->environment_, agent.environment());
  ASSAY_ASSIGN_OR_RETURN(device->conditions_, agent.conditions());
  ASSAY_RETURN_IF_ERROR(device->describe_engines(std::move(agent), opening));
  return device;
}

Result<AgentClient> RemoteDevice::connect_agent() {
  const auto warn = [device = transport_->describe()] {
    log_line(LogLevel::kWarning,
             fmt::format("no sign of life from device '{}'; it is waited for, and after {} s the "
                         "connection counts as lost",
                         device, kMostMissed * kHeartbeatNs / 1'000'000'000));
  };
  return AgentClient::connect(
      *transport_, {.heartbeat_ns = kHeartbeatNs, .most_missed = kMostMissed, .on_silence = warn});
}

Status RemoteDevice::describe_engines(AgentClient agent, const Opening& opening) {
  const DeviceDescriptions descriptions(opening.home, environment_.id);
  auto found = find_device_engines(opening.home, triple_);
  installed_.missing = std::move(found.missing);
  for (auto& engine : found.engines) {
    if (!engine.build && !opening.asks_anew) {
      engine.build = descriptions.find(engine.bundle);
    }
  }
  const auto is_known = [](const DeviceEngine& engine) { return engine.build.has_value(); };
  const bool knows_all = std::ranges::all_of(found.engines, is_known);
  if (!knows_all) {
    ASSAY_RETURN_IF_ERROR(ask_engines(agent, opening, descriptions, found.engines));
  }
  for (auto& [name, label, bundle, build] : found.engines) {
    if (!build) {
      continue;
    }
    if (!label.empty()) {
      build->label = label;
    }
    if (bundles_.emplace(build->reference(), std::move(bundle)).second) {
      installed_.builds.push_back(*std::move(build));
    }
  }
  if (knows_all) {  // Otherwise it has locked the device.
    agent_ = std::move(agent);
  }
  return {};
}

/// Does not start a runner, which would disturb whoever measures there.
Status RemoteDevice::ask_engines(AgentClient& agent, const Opening& opening,
                                 const DeviceDescriptions& descriptions,
                                 std::vector<DeviceEngine>& engines) {
  std::shared_ptr<void> of_host;
  if (opening.lock_host) {
    ASSAY_ASSIGN_OR_RETURN(of_host, opening.lock_host());
    if (!agent.conditions()) {  // It does not wait for as long.
      ASSAY_ASSIGN_OR_RETURN(agent, connect_agent());
    }
  }
  ASSAY_RETURN_IF_ERROR(lock_device(agent, holder_));
  for (auto& engine : engines) {
    if (engine.build) {
      continue;
    }
    auto build = describe_on_device(agent, engine.bundle);
    if (!build && is_loss(build.error().code)) {
      return std::unexpected(build.error());
    }
    if (build) {
      descriptions.keep(engine.bundle, *build);
      engine.build = *std::move(build);
    } else {
      installed_.missing.push_back(
          {engine.label.empty() ? engine.name : fmt::format("{}@{}", engine.name, engine.label),
           build.error().message});
    }
  }
  return {};
}

/// A kept agent may have ended since it was last asked: it waits ten minutes for a request, and
/// building programs or waiting for another run may take longer.
Result<AgentClient*> RemoteDevice::agent() {
  if (agent_ && !agent_->conditions()) {
    agent_.reset();
  }
  if (!agent_) {
    ASSAY_ASSIGN_OR_RETURN(agent_, connect_agent());
  }
  return &*agent_;
}

Status RemoteDevice::bring_engines() {
  ASSAY_ASSIGN_OR_RETURN(auto* const agent, this->agent());
  for (const auto& [reference, bundle] : bundles_) {
    ASSAY_ASSIGN_OR_RETURN(const auto runner, push_runner(*agent, bundle));
  }
  return {};
}

Result<std::vector<std::string>> RemoteDevice::bring_runner(const std::string& engine) {
  ASSAY_ASSIGN_OR_RETURN(const auto build, get_build(installed_, engine));
  ASSAY_ASSIGN_OR_RETURN(auto* const agent, this->agent());
  ASSAY_ASSIGN_OR_RETURN(auto runner, push_runner(*agent, bundles_.at(build.reference())));
  return std::move(runner.argv);
}

Result<std::string> RemoteDevice::bring_files(const std::vector<std::filesystem::path>& files) {
  std::vector<TreeSource> sources;
  for (const auto& file : files) {
    ASSAY_ASSIGN_OR_RETURN(auto digest, sha256_hex_of_file(file));
    sources.push_back(
        {.path = file.filename().string(), .file = file, .sha256 = std::move(digest)});
  }
  ASSAY_ASSIGN_OR_RETURN(auto* const agent, this->agent());
  return agent->push_tree(sources);
}

/// A device that starts anew refuses connections for a while.
Result<AgentClient> RemoteDevice::take_agent(const RemoteTarget::Options& options) {
  const auto start_ns = monotonic_ns();
  while (true) {
    const auto found = agent();
    if (found) {
      auto taken = std::move(**found);
      agent_.reset();
      return taken;
    }
    if (monotonic_ns() - start_ns > options.policy.return_wait_ns || !options.keep_waiting()) {
      return std::unexpected(found.error());
    }
    std::this_thread::sleep_for(kRetry);
  }
}

void RemoteDevice::note_boot(const AgentClient& agent) {
  const auto& boot_id = agent.hello().boot_id;
  if (!boot_id_.empty() && boot_id != boot_id_) {
    log_line(LogLevel::kWarning, fmt::format("device '{}' has started anew", agent.device()));
  }
  boot_id_ = boot_id;
}

Result<AgentClient> RemoteDevice::take_device(const RemoteTarget::Options& options) {
  ASSAY_ASSIGN_OR_RETURN(auto agent, take_agent(options));
  note_boot(agent);
  ASSAY_RETURN_IF_ERROR(lock_device(agent, holder_));
  return agent;
}

Result<AgentClient> RemoteDevice::begin_run(AgentClient agent,
                                            const RemoteTarget::Options& options) {
  const auto& policy = options.policy;
  const bool reboots =
      policy.reboot.before_run && agent.hello().uptime_ns >= policy.reboot.at_most_every_ns;
  if (policy.wipe != Wipe::kBeforeRun && !reboots) {
    return agent;
  }
  if (policy.wipe == Wipe::kBeforeRun) {
    {
      const auto ended = std::move(agent);  // Who empties the folder takes the device itself.
    }
    ASSAY_RETURN_IF_ERROR(transport_->clear());
    ASSAY_ASSIGN_OR_RETURN(agent, take_device(options));
  }
  return reboots ? start_anew(std::move(agent), options) : std::move(agent);
}

/// The agent keeps the device until it starts anew: whoever waits for it would have begun a run.
Result<AgentClient> RemoteDevice::start_anew(AgentClient agent,
                                             const RemoteTarget::Options& options) {
  log_line(LogLevel::kInfo, fmt::format("device '{}' starts anew", transport_->describe()));
  ASSAY_RETURN_IF_ERROR(transport_->reboot());
  ASSAY_RETURN_IF_ERROR(wait_for_start(options));
  {
    const auto ended = std::move(agent);
  }
  return take_device(options);
}

Status RemoteDevice::wait_for_start(const RemoteTarget::Options& options) {
  const auto wait_ns = options.policy.reboot.wait_ns;
  const auto start_ns = monotonic_ns();
  while (monotonic_ns() - start_ns < wait_ns) {
    if (!options.keep_waiting()) {
      return fail(ErrorCode::kTimeout, "stopped while the device started anew");
    }
    std::this_thread::sleep_for(kRetry);
    auto agent = connect_agent();
    if (agent && agent->hello().boot_id != boot_id_) {
      boot_id_ = agent->hello().boot_id;
      agent_ = *std::move(agent);
      return {};
    }
  }
  return fail(
      ErrorCode::kUnavailable,
      fmt::format("device '{}' did not come back within {} after its reboot; look at it, or "
                  "give it longer (\"wait\" of the policy's \"reboot\")",
                  transport_->describe(), text_from_duration_ns(static_cast<double>(wait_ns))));
}

Status RemoteDevice::put_in_force(AgentClient& agent, const DevicePolicy& policy) {
  const wire::Policy asked{.frequency = policy.frequency, .keep_awake = policy.keeps_awake};
  if (asked.frequency == wire::Policy().frequency && !asked.keep_awake) {
    return {};
  }
  const auto reply = agent.apply_policy(asked);
  if (!reply) {
    return fail(reply.error().code,
                fmt::format("device '{}': {}", agent.device(), reply.error().message));
  }
  if (!has_begun_ && !reply->clocks.empty()) {
    log_line(LogLevel::kInfo,
             fmt::format("device '{}': {}", agent.device(), fmt::join(reply->clocks, "; ")));
  }
  if (!has_begun_ && asked.keep_awake && reply->awake.empty()) {
    log_line(LogLevel::kWarning,
             fmt::format("device '{}': nothing keeps it awake; it has neither Android's svc nor a "
                         "systemd-inhibit that its user may use",
                         agent.device()));
  }
  return {};
}

RemoteDevice::~RemoteDevice() {
  if (wipes_at_end_) {
    agent_.reset();
    if (const auto cleared = transport_->clear(); !cleared) {
      log_line(LogLevel::kWarning, "its folder was not emptied: " + cleared.error().message);
    }
  }
}

Result<std::unique_ptr<LaunchTarget>> RemoteDevice::connect(const RemoteTarget::Options& options) {
  ASSAY_ASSIGN_OR_RETURN(auto agent, take_device(options));
  if (!has_begun_) {
    ASSAY_ASSIGN_OR_RETURN(agent, begin_run(std::move(agent), options));
  }
  wipes_at_end_ = options.policy.wipe == Wipe::kAfterRun;
  ASSAY_RETURN_IF_ERROR(put_in_force(agent, options.policy));
  has_begun_ = true;
  return std::make_unique<RemoteTarget>(std::move(agent), bundles_, options);
}

}  // namespace assay
