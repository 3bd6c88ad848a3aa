#pragma once

#include "features/fleet/choose_group.h"
#include "features/fleet/executor.h"
#include "features/fleet/fleet_campaigns.h"
#include "features/fleet/fleet_job.h"
#include "features/fleet/open_executor.h"

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <vector>

#include "assay/base/result.h"

namespace assay::cli {

/// Adds --executor.
void declare_executor(CLI::App& app, std::string& executor);

/// Opens an executor of devices.json. `python`: as --python. Errors: those of Inventory::read(),
/// Inventory::get_executor() and open_executor().
Result<ConfiguredExecutor> open_executor_named(const std::string& name, const std::string& python);

/// Devices of the executor that the requirement names, in place of one device here. `python`: as
/// --python. Errors: those of open_artifact_store().
Result<FleetCampaigns> campaigns_of(const ConfiguredExecutor& executor, DeviceRequirement device,
                                    const std::string& python);

/// The devices of the fleet that were asked for, as choose_fleet_devices(), which can execute the
/// engine builds from commits of this machine, too, if they are like it: jobs bring them. Errors:
/// those of Executor::workers() and choose_fleet_devices().
Result<std::vector<ChosenDevices>> choose_devices_of(Executor& executor,
                                                     std::span<const std::string> asked);

}  // namespace assay::cli
