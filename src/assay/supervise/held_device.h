#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "assay/base/result.h"
#include "assay/device/device_lock.h"

namespace assay {

/// Who has a device.
struct DeviceHolder {
  std::string text;  ///< "process 214 on laptop (0123456789ab)", as a host calls itself.
  int agent = 0;     ///< Its agent's process there; 0: it is a command of that machine itself.
};

/// The exclusive right to a device, until the object goes or the process dies: among the agents of
/// one folder, and, by the lock that measurements of that machine take, among the agents of all its
/// users and what is measured there without one.
class HeldDevice {
 public:
  using Attempt = std::variant<HeldDevice, DeviceHolder>;

  /// `home`: the agent's folder. `holder`: tells those who want the device who has it. Errors:
  /// kUnavailable where the folder cannot be used for that.
  static Result<Attempt> take(const std::filesystem::path& home, const std::string& holder);

  /// Tells of another holder.
  void name_holder(const std::string& holder) const;

 private:
  HeldDevice(DeviceLock of_folder, std::optional<DeviceLock> of_machine)
      : of_folder_(std::move(of_folder)), of_machine_(std::move(of_machine)) {}

  DeviceLock of_folder_;
  std::optional<DeviceLock> of_machine_;  ///< Absent where no folder there is for all users.
};

}  // namespace assay
