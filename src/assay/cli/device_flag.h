#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/launch_target.h"
#include "assay/campaign/remote_device.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/remote/device_choice.h"
#include "assay/remote/inventory.h"
#include "assay/spec/spec.h"

namespace assay::cli {

/// The device that a command measures on.
struct CampaignDevice {
  std::string name = kLocalDevice;
  Environment environment;
  InstalledBuilds installed;
  ConnectTarget connect;
  std::vector<std::string> not_ready = {};  ///< Why its gate was shut when it opened.
  std::vector<std::string> meter;           ///< Command that reads its power meter.
  std::function<Result<std::shared_ptr<void>>()>
      lock;  ///< Locks the device against other commands of this machine.
};

/// --device and --exclude-device, of the verbs that launch something.
class DeviceFlag {
 public:
  /// Declares the flag of a verb that works on one device.
  void declare(CLI::App& app);
  /// Declares the flag of a verb that works on several devices at once.
  void declare_several(CLI::App& app);

  /// The flag's value; empty: the flag was not given.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  /// The spec with the devices of the flag, if it was given, in place of its own, each by its name:
  /// "all" and "class:C" become those devices of the inventory, without the excluded ones, which
  /// are told. Errors: those of choose_devices() and of Inventory::read().
  [[nodiscard]] Result<Spec> apply_to(Spec spec) const;

  /// Connects to the devices of the spec in its order, to each once: the same device is returned
  /// again. Errors: those of Inventory::get and of RemoteDevice::open.
  Result<std::vector<std::shared_ptr<CampaignDevice>>> open(const Spec& spec,
                                                            SandboxMode sandbox) const;

  /// The first device that was opened, or this machine without its engines.
  [[nodiscard]] std::shared_ptr<CampaignDevice> current() const;
  /// A device that was opened.
  [[nodiscard]] std::shared_ptr<CampaignDevice> get(const std::string& name) const;

 private:
  void declare_as(CLI::App& app, const std::string& help);

  std::vector<std::string> names_;
  std::vector<std::string> excluded_;
  using Devices = std::vector<std::shared_ptr<CampaignDevice>>;
  /// Planning and launching share connections, and copies of the flag do.
  std::shared_ptr<Devices> opened_ = std::make_shared<Devices>();
};

/// Takes a device from other commands of this machine, and waits for them; kTimeout where the user
/// interrupts that.
Result<std::shared_ptr<void>> lock_for_launches(const std::string& address);

/// Connects to one device, which is no selection of several. Errors: as DeviceFlag::open().
Result<CampaignDevice> open_campaign_device(const std::string& name, SandboxMode sandbox);

/// Connects to a device that is not this machine. Errors: those of Inventory::get and of
/// RemoteDevice::open.
Result<std::unique_ptr<RemoteDevice>> open_remote_device(const std::string& name);

/// Connects to an entry of the inventory. Errors: also kInvalidArgument for this machine;
/// kUnsupported for a device without an agent. `asks_anew`: RemoteDevice::Opening.
Result<std::unique_ptr<RemoteDevice>> open_remote_device(const InventoryDevice& device,
                                                         bool asks_anew = false);

/// --device of a verb that reads what a device has.
void declare_device_name(CLI::App& app, std::string& name);

/// The builds on that device; empty or "local": on this machine. Errors: of open_remote_device().
Result<InstalledBuilds> installed_on(const std::string& device);

/// This machine. `sandbox`: for the runners that were added.
CampaignDevice local_device(SandboxMode sandbox);

}  // namespace assay::cli
