#pragma once

#include "features/fleet/fleet_job.h"
#include "features/fleet/fleet_worker.h"

#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"
#include "assay/campaign/request_from_spec.h"

namespace assay {

/// Devices of a fleet that were asked for, as a campaign is planned for them.
struct ChosenDevices {
  DeviceRequirement requirement;
  PlannedDevice planned;  ///< Name: "class:CLASS" whole, or that of the device.
};

/// Finds the devices that "pi5", "class:CLASS" (or its first parts) and "all" stand for: "all" for
/// each class. With nothing asked, the fleet's only class. Of a class, the builds count that each
/// of its devices which is well has. Errors: kNotFound with what there is; kInvalidArgument for the
/// first parts of several classes; kUnavailable for a fleet without a worker.
Result<std::vector<ChosenDevices>> choose_fleet_devices(std::span<const std::string> asked,
                                                        std::span<const FleetWorker> all);

}  // namespace assay
