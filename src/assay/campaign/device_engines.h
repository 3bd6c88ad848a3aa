#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "assay/engine/installed_builds.h"
#include "assay/record/subject.h"
#include "assay/remote/device_bundle.h"

namespace assay {

/// An engine build that can be brought to a device.
struct DeviceEngine {
  std::string name;   ///< "executorch"
  std::string label;  ///< Empty: the version that its runner tells.
  DeviceBundle bundle;
  std::optional<EngineBuild> build;  ///< Its description; absent: the device has to be asked.
};

struct DeviceEngines {
  std::vector<DeviceEngine> engines;
  std::vector<MissingEngine> missing;  ///< The others that Assay knows, and why.
};

/// The engines for a device of the triple: bundles that were added (`assay engine add
/// --device-bundle`) or built for it next to the running executable, and, on our own processor, the
/// runners of this machine with the libraries that they load. Those in Python stay at home.
/// Digests of their files are kept in the home: libraries are large, and rarely change.
DeviceEngines find_device_engines(const std::filesystem::path& home, const std::string& triple);

}  // namespace assay
