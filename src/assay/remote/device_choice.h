#pragma once

#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/remote/inventory.h"

namespace assay {

/// Name of this machine among devices.
inline constexpr const char* kLocalDevice = "local";

/// Devices that were asked for.
struct DeviceChoice {
  std::vector<std::string> names;         ///< In the order of asking, then of the inventory.
  std::vector<InventoryDevice> left_out;  ///< Excluded ones that a selection would have had.
};

/// The devices of names, "all" and "class:CLASS" without `excluded`. "all" stands for every device
/// of the inventory, this machine is none of them; CLASS for one whole device class, or for its
/// first parts ("linux-aarch64"). A device that several selections have is there once; one that is
/// named twice is there twice. Errors: kNotFound, with what there is: nothing is left, no device
/// has the class, or a name to exclude is unknown.
Result<DeviceChoice> choose_devices(std::span<const std::string> asked,
                                    std::span<const std::string> excluded,
                                    const Inventory& inventory);

}  // namespace assay
