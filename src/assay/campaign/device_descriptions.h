#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"

namespace assay {

/// Descriptions that runners gave of themselves on a device, kept in the home from command to
/// command: to start them again disturbs whoever measures there. One holds for the bytes of a
/// bundle and the environment of a device. A home that cannot be written keeps nothing.
class DeviceDescriptions {
 public:
  DeviceDescriptions(const std::filesystem::path& home, std::string environment_id)
      : folder_(home / "engines" / "on-devices"), environment_id_(std::move(environment_id)) {}

  [[nodiscard]] std::optional<EngineBuild> find(const DeviceBundle& bundle) const;
  void keep(const DeviceBundle& bundle, const EngineBuild& build) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(const DeviceBundle& bundle) const;

  std::filesystem::path folder_;
  std::string environment_id_;
};

}  // namespace assay
