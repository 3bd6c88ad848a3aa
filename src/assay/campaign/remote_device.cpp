#include "assay/campaign/remote_device.h"

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/utsname.h>
#include <unistd.h>

#include "assay/base/clock.h"
#include "assay/base/digest.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/device_engines.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/remote_target.h"
#include "assay/device/transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"
#include "assay/supervise/agent_client.h"

namespace assay {
namespace {

constexpr std::int64_t kHeartbeatNs = 5'000'000'000;
/// An agent whose host is gone notices within four heartbeats.
constexpr std::int64_t kLockWaitNs = 25'000'000'000;
constexpr std::int64_t kReturnWaitNs = 60'000'000'000;
constexpr std::chrono::milliseconds kRetry{500};

std::string host_name() {
  utsname names{};
  return ::uname(&names) == 0 ? names.nodename : "another machine";
}

Status lock_device(AgentClient& agent) {
  const auto holder = fmt::format("process {} on {}", ::getpid(), host_name());
  const auto start_ns = monotonic_ns();
  while (true) {
    const auto locked = agent.lock(holder);
    const bool is_taken = !locked && locked.error().code == ErrorCode::kUnavailable;
    if (!is_taken || monotonic_ns() - start_ns > kLockWaitNs) {
      return locked;
    }
    std::this_thread::sleep_for(kRetry);
  }
}

}  // namespace

Result<std::unique_ptr<RemoteDevice>> RemoteDevice::open(std::unique_ptr<Transport> transport,
                                                         const std::filesystem::path& home) {
  std::unique_ptr<RemoteDevice> device(new RemoteDevice(std::move(transport)));
  ASSAY_ASSIGN_OR_RETURN(auto agent, device->connect_agent());
  device->triple_ = agent.hello().target;
  ASSAY_ASSIGN_OR_RETURN(device->environment_, agent.environment());
  ASSAY_ASSIGN_OR_RETURN(device->conditions_, agent.conditions());
  device->describe_engines(agent, home);
  device->agent_ = std::move(agent);
  return device;
}

Result<AgentClient> RemoteDevice::connect_agent() {
  return AgentClient::connect(*transport_, {.heartbeat_ns = kHeartbeatNs});
}

void RemoteDevice::describe_engines(AgentClient& agent, const std::filesystem::path& home) {
  auto found = find_device_engines(home, triple_);
  installed_.missing = std::move(found.missing);
  for (auto& [label, bundle, known] : found.engines) {
    auto build = known ? Result<EngineBuild>(*std::move(known)) : describe_on_device(agent, bundle);
    if (!build) {
      installed_.missing.push_back({bundle.argv.back(), build.error().message});
      continue;
    }
    if (!label.empty()) {
      build->label = label;
    }
    if (bundles_.emplace(build->reference(), std::move(bundle)).second) {
      installed_.builds.push_back(*std::move(build));
    }
  }
}

Result<AgentClient*> RemoteDevice::agent() {
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
Result<AgentClient> RemoteDevice::take_agent(const std::function<bool()>& keep_waiting) {
  const auto start_ns = monotonic_ns();
  while (true) {
    const auto found = agent();
    if (found) {
      auto taken = std::move(**found);
      agent_.reset();
      return taken;
    }
    if (monotonic_ns() - start_ns > kReturnWaitNs || !keep_waiting()) {
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

Result<std::unique_ptr<LaunchTarget>> RemoteDevice::connect(const RemoteTarget::Options& options) {
  ASSAY_ASSIGN_OR_RETURN(auto agent, take_agent(options.keep_waiting));
  note_boot(agent);
  ASSAY_RETURN_IF_ERROR(lock_device(agent));
  return std::make_unique<RemoteTarget>(std::move(agent), bundles_, options);
}

}  // namespace assay
