#include "assay/cli/device_flag.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/base/fs.h"
#include "assay/base/log.h"
#include "assay/base/result.h"
#include "assay/campaign/agent_target.h"
#include "assay/campaign/job_device.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/remote_device.h"
#include "assay/cli/configured.h"
#include "assay/cli/interrupt.h"
#include "assay/device/device_lock.h"
#include "assay/device/environment.h"
#include "assay/device/local_transport.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/remote/address.h"
#include "assay/remote/inventory.h"
#include "assay/remote/remote_transport.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

Result<std::shared_ptr<void>> lock_for_launches(const std::string& address) {
  bool is_told = false;
  const auto keep_waiting = [&is_told](const std::string& holder) {
    if (!std::exchange(is_told, true)) {
      log_line(LogLevel::kInfo, "waiting for the device: " + holder);
    }
    return !is_interrupted();
  };
  ASSAY_ASSIGN_OR_RETURN(auto lock, DeviceLock::acquire(address, {.keep_waiting = keep_waiting}));
  return std::make_shared<DeviceLock>(std::move(lock));
}

Result<std::unique_ptr<LaunchTarget>> connect_local_target() {
  LocalTransport transport;
  return connect_agent_target(transport);
}

Result<CampaignDevice> job_device(const std::string& name, const DeviceAddress& address) {
  ASSAY_ASSIGN_OR_RETURN(auto opened, JobDevice::open(address.folder));
  const std::shared_ptr<JobDevice> device = std::move(opened);
  return CampaignDevice{
      .name = name,
      .environment = device->environment(),
      .installed = device->installed(),
      .connect = [device] { return device->connect([] { return !is_interrupted(); }); },
      .lock = [address = address.text()] { return lock_for_launches(address); }};
}

Result<CampaignDevice> remote_device(const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  ASSAY_ASSIGN_OR_RETURN(const auto entry, inventory.get(name));
  if (entry.address.reach == Reach::kFolder) {
    return job_device(name, entry.address);
  }
  auto transport = std::make_unique<RemoteTransport>(
      RemoteTransport::Options{.address = entry.address, .folder = entry.folder});
  ASSAY_ASSIGN_OR_RETURN(auto opened, RemoteDevice::open(std::move(transport), assay_home()));
  const std::shared_ptr<RemoteDevice> device = std::move(opened);
  auto environment = device->environment();
  describe_settings(entry, environment);
  return CampaignDevice{
      .name = name,
      .environment = std::move(environment),
      .installed = device->installed(),
      .connect =
          [device, gate = entry.gate, policy = entry.policy] {
            return device->connect(
                {.gate = gate, .policy = policy, .keep_waiting = [] { return !is_interrupted(); }});
          },
      .meter = entry.meter,
      .lock = [address = entry.address.text()] { return lock_for_launches(address); }};
}

std::vector<std::string> configured_meter() {
  const auto* const value = configuration().find("meter");
  return value == nullptr ? std::vector<std::string>()
                          : value->value.get<std::vector<std::string>>();
}

}  // namespace

CampaignDevice local_device(SandboxMode sandbox) {
  return {.environment = read_environment(),
          .installed = find_installed_builds(assay_home(), Descriptions::kKept, sandbox),
          .connect = connect_local_target,
          .meter = configured_meter(),
          .lock = [] { return lock_for_launches(kLocalDevice); }};
}

void DeviceFlag::declare(CLI::App& app) {
  app.add_option("--device", name_,
                 "Device to run on: a name of assay device list, or ssh:HOST, adb:SERIAL "
                 "[default: this machine]");
}

Spec DeviceFlag::apply_to(Spec spec) const {
  if (!name_.empty()) {
    spec.devices = {name_};
    spec.document["devices"] = spec.devices;
  }
  return spec;
}

Result<std::shared_ptr<CampaignDevice>> DeviceFlag::open(const Spec& spec,
                                                         SandboxMode sandbox) const {
  const auto& name = spec.devices.front();
  // One that is named twice is told by the expansion.
  if (std::ranges::count(spec.devices, name) < std::ssize(spec.devices)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} names {} devices; run it for one at a time (--device NAME)",
                            spec.origin, spec.devices.size()));
  }
  auto& opened = *opened_;
  if (opened == nullptr || opened->name != name) {
    if (name == kLocalDevice) {
      opened = std::make_shared<CampaignDevice>(local_device(sandbox));
    } else {
      ASSAY_ASSIGN_OR_RETURN(auto device, remote_device(name));
      opened = std::make_shared<CampaignDevice>(std::move(device));
    }
  }
  return opened;
}

std::shared_ptr<CampaignDevice> DeviceFlag::current() const {
  if (*opened_ != nullptr) {
    return *opened_;
  }
  return std::make_shared<CampaignDevice>(CampaignDevice{
      .connect = connect_local_target, .lock = [] { return lock_for_launches(kLocalDevice); }});
}

}  // namespace assay::cli
