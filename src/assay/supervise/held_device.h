#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "assay/base/result.h"
#include "assay/device/device_lock.h"

namespace assay {

/// The exclusive right to a device among the agents of one folder, until the object goes or the
/// process dies. Beside the lock lies the text that tells who holds it: the process there is an
/// agent, which says nothing about its host.
class HeldDevice {
 public:
  /// Errors: kUnavailable with the holder's text when another agent holds the device.
  static Result<HeldDevice> take(const std::filesystem::path& folder);

  /// Tells those who want the device who has it.
  void name_holder(const std::string& holder) const;

 private:
  HeldDevice(DeviceLock lock, std::filesystem::path holder_file)
      : lock_(std::move(lock)), holder_file_(std::move(holder_file)) {}

  DeviceLock lock_;
  std::filesystem::path holder_file_;
};

}  // namespace assay
