#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/launch_target.h"
#include "assay/engine/installed_builds.h"
#include "assay/record/run.h"
#include "assay/record/sandbox.h"
#include "assay/spec/spec.h"

namespace assay::cli {

inline constexpr const char* kLocalDevice = "local";

/// The device that a command measures on.
struct CampaignDevice {
  std::string name = kLocalDevice;
  Environment environment;
  InstalledBuilds installed;
  ConnectTarget connect;
  std::vector<std::string> meter;                       ///< Command that reads its power meter.
  std::function<Result<std::shared_ptr<void>>()> lock;  ///< Against other commands of this machine.
};

/// --device, of the verbs that launch something.
class DeviceFlag {
 public:
  void declare(CLI::App& app);

  /// The spec with the device of the flag, if one was given, in place of its own.
  [[nodiscard]] Spec apply_to(Spec spec) const;

  /// Connects to the device of the spec, once: the same device is returned again. Errors: those of
  /// Inventory::get and of RemoteDevice::open; kUnsupported for several devices.
  Result<std::shared_ptr<CampaignDevice>> open(const Spec& spec, SandboxMode sandbox) const;

  /// The device that was opened, or this machine without its engines.
  [[nodiscard]] std::shared_ptr<CampaignDevice> current() const;

 private:
  std::string name_;
  /// Planning and launching share a connection, and copies of the flag do.
  std::shared_ptr<std::shared_ptr<CampaignDevice>> opened_ =
      std::make_shared<std::shared_ptr<CampaignDevice>>();
};

/// This machine. `sandbox`: for the runners that were added.
CampaignDevice local_device(SandboxMode sandbox);

}  // namespace assay::cli
