#include "assay/cli/device_flag.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <expected>
#include <fmt/format.h>
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
#include "assay/remote/device_choice.h"
#include "assay/remote/device_gate.h"
#include "assay/remote/inventory.h"
#include "assay/remote/remote_transport.h"
#include "assay/spec/spec.h"

namespace assay::cli {
namespace {

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
  ASSAY_ASSIGN_OR_RETURN(auto opened, open_remote_device(entry));
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
      .not_ready = reasons_of_closed_gate(entry.gate, device->conditions()),
      .meter = entry.meter,
      .lock = [address = entry.address.text()] { return lock_for_launches(address); }};
}

std::vector<std::string> configured_meter() {
  const auto* const value = configuration().find("meter");
  return value == nullptr ? std::vector<std::string>()
                          : value->value.get<std::vector<std::string>>();
}

}  // namespace

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

Result<std::unique_ptr<RemoteDevice>> open_remote_device(const std::string& name) {
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  ASSAY_ASSIGN_OR_RETURN(const auto entry, inventory.get(name));
  return open_remote_device(entry);
}

Result<std::unique_ptr<RemoteDevice>> open_remote_device(const InventoryDevice& device,
                                                         bool asks_anew) {
  if (device.address.reach == Reach::kLocal) {
    return fail(ErrorCode::kInvalidArgument,
                "this machine needs no connection: see assay doctor and assay list engines");
  }
  if (device.address.reach == Reach::kFolder) {
    return fail(ErrorCode::kUnsupported,
                "a device behind a folder has no agent: its worker brings the engines, and jobs "
                "bring their own files");
  }
  return RemoteDevice::open(std::make_unique<RemoteTransport>(RemoteTransport::Options{
                                .address = device.address, .folder = device.folder}),
                            {.home = assay_home(), .asks_anew = asks_anew, .lock_host = [&device] {
                               return lock_for_launches(device.address.text());
                             }});
}

void declare_device_name(CLI::App& app, std::string& name) {
  app.add_option("--device", name,
                 "Device to ask: a name of assay device list, or ssh:HOST, adb:SERIAL "
                 "[default: this machine]");
}

Result<InstalledBuilds> installed_on(const std::string& device) {
  if (device.empty() || device == kLocalDevice) {
    return find_installed_builds(assay_home());
  }
  ASSAY_ASSIGN_OR_RETURN(auto opened, open_campaign_device(device, SandboxMode::kOff));
  return std::move(opened.installed);
}

CampaignDevice local_device(SandboxMode sandbox) {
  return {.environment = read_environment(),
          .installed = find_installed_builds(assay_home(), Descriptions::kKept, sandbox),
          .connect = connect_local_target,
          .meter = configured_meter(),
          .lock = [] { return lock_for_launches(kLocalDevice); }};
}

void DeviceFlag::declare_as(CLI::App& app, const std::string& help) {
  app.add_option("--device", names_, help)->delimiter(',');
}

void DeviceFlag::declare(CLI::App& app) {
  declare_as(app,
             "Device to run on: a name of assay device list, or ssh:HOST, adb:SERIAL "
             "[default: this machine]");
}

void DeviceFlag::declare_several(CLI::App& app) {
  declare_as(app,
             "Devices to run on, one or several: names of assay device list, local, ssh:HOST, "
             "adb:SERIAL, class:CLASS, or all [default: this machine]");
  app.add_option("--exclude-device", excluded_,
                 "Devices to leave out of class:CLASS, all or a spec")
      ->delimiter(',');
}

Result<Spec> DeviceFlag::apply_to(Spec spec) const {
  const auto& asked = names_.empty() ? spec.devices : names_;
  ASSAY_ASSIGN_OR_RETURN(const auto inventory, Inventory::read(Inventory::default_file()));
  ASSAY_ASSIGN_OR_RETURN(auto chosen, choose_devices(asked, excluded_, inventory));
  for (const auto& device : chosen.left_out) {
    log_line(LogLevel::kInfo,
             fmt::format("device '{}' is left out: {}", device.name, device.excluded));
  }
  if (chosen.names != spec.devices) {
    spec.devices = std::move(chosen.names);
    spec.document["devices"] = spec.devices;
  }
  return spec;
}

Result<CampaignDevice> open_campaign_device(const std::string& name, SandboxMode sandbox) {
  return name == kLocalDevice ? Result<CampaignDevice>(local_device(sandbox)) : remote_device(name);
}

Result<std::vector<std::shared_ptr<CampaignDevice>>> DeviceFlag::open(const Spec& spec,
                                                                      SandboxMode sandbox) const {
  std::vector<std::shared_ptr<CampaignDevice>> devices;
  for (const auto& name : spec.devices) {
    auto device = get(name);
    if (device == nullptr) {
      auto opened = open_campaign_device(name, sandbox);
      if (!opened) {
        auto error = std::move(opened).error();
        error.message += spec.devices.size() > 1
                             ? fmt::format("; --exclude-device {} goes on without it", name)
                             : "";
        return std::unexpected(std::move(error));
      }
      device = std::make_shared<CampaignDevice>(*std::move(opened));
      opened_->push_back(device);
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

std::shared_ptr<CampaignDevice> DeviceFlag::get(const std::string& name) const {
  const auto found = std::ranges::find(*opened_, name, [](const auto& one) { return one->name; });
  return found == opened_->end() ? nullptr : *found;
}

std::shared_ptr<CampaignDevice> DeviceFlag::current() const {
  if (!opened_->empty()) {
    return opened_->front();
  }
  return std::make_shared<CampaignDevice>(CampaignDevice{
      .connect = connect_local_target, .lock = [] { return lock_for_launches(kLocalDevice); }});
}

}  // namespace assay::cli
